// SPDX-License-Identifier: Apache-2.0
// What the kernels for all devices share.
#ifndef TENSORFLOW_CUSTOM_OPS_CORE_NORMALIZATION_KERNEL_H_
#define TENSORFLOW_CUSTOM_OPS_CORE_NORMALIZATION_KERNEL_H_

#include <cstdint>

#include "absl/status/status.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow_custom_ops/core/normalization/norm.h"
#include "tensorflow_custom_ops/core/type.h"

namespace tensorflow_custom_ops {
namespace normalization {

// The kernel of an op, or of its gradient.
class Kernel : public tensorflow::OpKernel {
 public:
  Kernel(tensorflow::OpKernelConstruction* context, Norm norm);

  void Compute(tensorflow::OpKernelContext* context) final;

 protected:
  // Both are called also where there are no rows.
  virtual absl::Status Run(tensorflow::OpKernelContext* context,
                           const Forward& args) = 0;
  // `sums` has NumSums elements.
  virtual absl::Status Run(tensorflow::OpKernelContext* context,
                           const Backward& args, void* sums) = 0;
  virtual int64_t NumSums(Norm norm, int64_t rows, int64_t n) const = 0;

  Type type() const { return type_; }
  // The type of the sums.
  tensorflow::DataType sum_type() const;

 private:
  absl::Status ComputeForward(tensorflow::OpKernelContext* context);
  absl::Status ComputeBackward(tensorflow::OpKernelContext* context);

  Norm norm_;
  bool is_gradient_;
  Type type_;
  float epsilon_;
};

}  // namespace normalization
}  // namespace tensorflow_custom_ops

#endif  // TENSORFLOW_CUSTOM_OPS_CORE_NORMALIZATION_KERNEL_H_
