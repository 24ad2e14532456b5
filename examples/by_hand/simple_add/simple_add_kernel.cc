// SPDX-License-Identifier: Apache-2.0
#define EIGEN_USE_THREADS  // SimpleAddKernel uses Eigen's thread pool device.

#include "examples/by_hand/simple_add/simple_add_kernel.h"

#include "tensorflow/core/framework/register_types.h"

namespace tensorflow_custom_ops {
namespace {

#define REGISTER_SIMPLE_ADD(T)                                                 \
  REGISTER_KERNEL_BUILDER(                                                     \
      Name("SimpleAdd").Device(tensorflow::DEVICE_CPU).TypeConstraint<T>("T"), \
      SimpleAddKernel<T>);
TF_CALL_half(REGISTER_SIMPLE_ADD);
TF_CALL_bfloat16(REGISTER_SIMPLE_ADD);
TF_CALL_float(REGISTER_SIMPLE_ADD);
TF_CALL_double(REGISTER_SIMPLE_ADD);
TF_CALL_int32(REGISTER_SIMPLE_ADD);
TF_CALL_int64(REGISTER_SIMPLE_ADD);
TF_CALL_complex64(REGISTER_SIMPLE_ADD);
TF_CALL_complex128(REGISTER_SIMPLE_ADD);
#undef REGISTER_SIMPLE_ADD

}  // namespace
}  // namespace tensorflow_custom_ops
