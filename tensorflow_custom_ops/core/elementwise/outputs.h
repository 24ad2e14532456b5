// SPDX-License-Identifier: Apache-2.0
// The outputs of a kernel of an elementwise op.
#ifndef TENSORFLOW_CUSTOM_OPS_CORE_ELEMENTWISE_OUTPUTS_H_
#define TENSORFLOW_CUSTOM_OPS_CORE_ELEMENTWISE_OUTPUTS_H_

#include "absl/status/status.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/tensor_shape.h"

namespace tensorflow_custom_ops {
namespace elementwise {

// Allocates all outputs, of one shape: in the memory of inputs that nobody else
// needs, where there are such.
absl::Status AllocateOutputs(tensorflow::OpKernelContext* context,
                             const tensorflow::TensorShape& shape,
                             void** outputs);

}  // namespace elementwise
}  // namespace tensorflow_custom_ops

#endif  // TENSORFLOW_CUSTOM_OPS_CORE_ELEMENTWISE_OUTPUTS_H_
