// SPDX-License-Identifier: Apache-2.0
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow_custom_ops/core/gpu/kernel.h"

namespace tensorflow_custom_ops {
namespace gpu {

const char kDevice[] = "CPU";

// The emulator runs a kernel while it is launched, and has no streams.
Stream StreamOf(tensorflow::OpKernelContext*) { return nullptr; }

}  // namespace gpu
}  // namespace tensorflow_custom_ops
