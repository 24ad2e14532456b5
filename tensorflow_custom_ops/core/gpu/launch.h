// SPDX-License-Identifier: Apache-2.0
// What a GPU kernel and the code that launches it share, without a header of
// TensorFlow or of CUDA: nvcc cannot compile the one, and g++ need not find the
// other.
#ifndef TENSORFLOW_CUSTOM_OPS_CORE_GPU_LAUNCH_H_
#define TENSORFLOW_CUSTOM_OPS_CORE_GPU_LAUNCH_H_

#include "tensorflow_custom_ops/core/type.h"

// cudaStream_t is a pointer to it.
struct CUstream_st;

namespace tensorflow_custom_ops {
namespace gpu {

using Stream = CUstream_st*;

// The value of a cudaError_t: 0 is success.
using Error = int;

// CUDA's name and description of an error.
const char* ErrorName(Error error);
const char* ErrorDescription(Error error);

using tensorflow_custom_ops::kTypeOf;
using tensorflow_custom_ops::Type;

}  // namespace gpu
}  // namespace tensorflow_custom_ops

#endif  // TENSORFLOW_CUSTOM_OPS_CORE_GPU_LAUNCH_H_
