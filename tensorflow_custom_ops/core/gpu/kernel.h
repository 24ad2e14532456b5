// SPDX-License-Identifier: Apache-2.0
// What a GPU kernel's OpKernel needs of TensorFlow, beside op_kernel.h. There
// are two implementations: for a GPU, and for the emulator, whose OpKernels are
// registered on the CPU.
#ifndef TENSORFLOW_CUSTOM_OPS_CORE_GPU_KERNEL_H_
#define TENSORFLOW_CUSTOM_OPS_CORE_GPU_KERNEL_H_

#include <cstdint>

#include "Eigen/Core"
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

// The Type of a C++ type, where it has one.
template <typename T>
constexpr Type kTypeOf = T::HasNoType;
template <>
inline constexpr Type kTypeOf<Eigen::half> = Type::kHalf;
template <>
inline constexpr Type kTypeOf<Eigen::bfloat16> = Type::kBFloat16;
template <>
inline constexpr Type kTypeOf<float> = Type::kFloat;
template <>
inline constexpr Type kTypeOf<double> = Type::kDouble;
template <>
inline constexpr Type kTypeOf<int64_t> = Type::kInt64;

// What a launch returned, as an error that names the op.
absl::Status LaunchStatus(absl::string_view op, Error error);

}  // namespace gpu
}  // namespace tensorflow_custom_ops

#endif  // TENSORFLOW_CUSTOM_OPS_CORE_GPU_KERNEL_H_
