// SPDX-License-Identifier: Apache-2.0
// The matrix product of the device's library: cuBLAS, by TensorFlow's handle
// and on the op's stream. In emulation it is Eigen's.
#ifndef TENSORFLOW_CUSTOM_OPS_CORE_GPU_MATMUL_H_
#define TENSORFLOW_CUSTOM_OPS_CORE_GPU_MATMUL_H_

#include <cstdint>

#include "absl/status/status.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow_custom_ops/core/gpu/launch.h"

namespace tensorflow_custom_ops {
namespace gpu {

// output = a @ b, where a is [m, k], b is [k, n] and output is [m, n], all
// row-major and not empty. a and b have the type given. The output is double
// for double, and float for all others: sums of half types are not rounded.
// For float it uses TensorFloat-32 where TensorFlow's own product would.
absl::Status MatMul(tensorflow::OpKernelContext* context, Type type, int64_t m,
                    int64_t n, int64_t k, const void* a, const void* b,
                    void* output);

}  // namespace gpu
}  // namespace tensorflow_custom_ops

#endif  // TENSORFLOW_CUSTOM_OPS_CORE_GPU_MATMUL_H_
