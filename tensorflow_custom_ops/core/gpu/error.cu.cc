// SPDX-License-Identifier: Apache-2.0
#include "tensorflow_custom_ops/core/gpu/device.h"
#include "tensorflow_custom_ops/core/gpu/launch.h"

namespace tensorflow_custom_ops {
namespace gpu {

const char* ErrorName(Error error) {
  return cudaGetErrorName(static_cast<cudaError_t>(error));
}

const char* ErrorDescription(Error error) {
  return cudaGetErrorString(static_cast<cudaError_t>(error));
}

}  // namespace gpu
}  // namespace tensorflow_custom_ops
