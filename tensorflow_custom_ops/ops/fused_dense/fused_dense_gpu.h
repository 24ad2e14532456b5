// SPDX-License-Identifier: Apache-2.0
#ifndef TENSORFLOW_CUSTOM_OPS_OPS_FUSED_DENSE_FUSED_DENSE_GPU_H_
#define TENSORFLOW_CUSTOM_OPS_OPS_FUSED_DENSE_FUSED_DENSE_GPU_H_

#include <cstdint>

#include "tensorflow_custom_ops/core/gpu/launch.h"
#include "tensorflow_custom_ops/ops/fused_dense/fused_dense_problem.h"

namespace tensorflow_custom_ops {
namespace fused_dense {

// output = activation(product + bias), where output and product are
// [rows, units] and bias is [units]. The product is double where the others
// are, and float where they are another type; nullptr stands for zeros. It may
// be the output.
gpu::Error LaunchBiasAndActivation(gpu::Stream stream, gpu::Type type,
                                   Activation activation, int64_t rows,
                                   int64_t units, const void* product,
                                   const void* bias, void* output);

}  // namespace fused_dense
}  // namespace tensorflow_custom_ops

#endif  // TENSORFLOW_CUSTOM_OPS_OPS_FUSED_DENSE_FUSED_DENSE_GPU_H_
