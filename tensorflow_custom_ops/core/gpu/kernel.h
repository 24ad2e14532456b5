// SPDX-License-Identifier: Apache-2.0
// What a GPU kernel's OpKernel needs of TensorFlow, beside op_kernel.h. There
// are two implementations: for a GPU, and for the emulator, whose OpKernels are
// registered on the CPU.
#ifndef TENSORFLOW_CUSTOM_OPS_CORE_GPU_KERNEL_H_
#define TENSORFLOW_CUSTOM_OPS_CORE_GPU_KERNEL_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow_custom_ops/core/gpu/launch.h"

namespace tensorflow_custom_ops {
namespace gpu {

// The device to register GPU kernels on.
extern const char kDevice[];

// The stream to launch kernels on.
Stream StreamOf(tensorflow::OpKernelContext* context);

// What a launch returned, as an error that names the op.
absl::Status LaunchStatus(absl::string_view op, Error error);

}  // namespace gpu
}  // namespace tensorflow_custom_ops

#endif  // TENSORFLOW_CUSTOM_OPS_CORE_GPU_KERNEL_H_
