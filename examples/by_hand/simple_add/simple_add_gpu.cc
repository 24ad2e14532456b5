// SPDX-License-Identifier: Apache-2.0
#define EIGEN_USE_THREADS  // SimpleAddKernel uses Eigen's thread pool device.

#include "examples/by_hand/simple_add/simple_add_gpu.h"

#include <complex>
#include <cstdint>

#include "examples/by_hand/simple_add/simple_add_kernel.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/register_types.h"
#include "tensorflow_custom_ops/core/gpu/kernel.h"

namespace tensorflow_custom_ops {
namespace {

using tensorflow::OpKernel;
using tensorflow::OpKernelContext;
using tensorflow::Tensor;

// What an element of type T is made of: a complex number is added as two reals.
template <typename T>
struct Parts {
  using Type = T;
  static constexpr int64_t kCount = 1;
};
template <typename T>
struct Parts<std::complex<T>> {
  using Type = T;
  static constexpr int64_t kCount = 2;
};

template <typename T>
class SimpleAddGpuKernel : public OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* context) override {
    const Tensor& a = context->input(0);
    const Tensor& b = context->input(1);
    OP_REQUIRES_OK(context, CheckSimpleAddShapes(a.shape(), b.shape()));
    Tensor* output = nullptr;
    OP_REQUIRES_OK(context, context->forward_input_or_allocate_output(
                                {0, 1}, 0, a.shape(), &output));
    const gpu::Error error = LaunchSimpleAdd(
        gpu::StreamOf(context), gpu::kTypeOf<typename Parts<T>::Type>,
        a.NumElements() * Parts<T>::kCount, a.data(), b.data(), output->data());
    OP_REQUIRES_OK(context, gpu::LaunchStatus(type_string(), error));
  }
};

#define REGISTER_SIMPLE_ADD(T)                                       \
  REGISTER_KERNEL_BUILDER(                                           \
      Name("SimpleAdd").Device(gpu::kDevice).TypeConstraint<T>("T"), \
      SimpleAddGpuKernel<T>);
TF_CALL_half(REGISTER_SIMPLE_ADD);
TF_CALL_bfloat16(REGISTER_SIMPLE_ADD);
TF_CALL_float(REGISTER_SIMPLE_ADD);
TF_CALL_double(REGISTER_SIMPLE_ADD);
TF_CALL_int64(REGISTER_SIMPLE_ADD);
TF_CALL_complex64(REGISTER_SIMPLE_ADD);
TF_CALL_complex128(REGISTER_SIMPLE_ADD);
#undef REGISTER_SIMPLE_ADD

// On a GPU device too, TensorFlow keeps int32 in host memory: it is the type of
// shapes and indices.
REGISTER_KERNEL_BUILDER(Name("SimpleAdd")
                            .Device(gpu::kDevice)
                            .TypeConstraint<int32_t>("T")
                            .HostMemory("a")
                            .HostMemory("b")
                            .HostMemory("output"),
                        SimpleAddKernel<int32_t>);

}  // namespace
}  // namespace tensorflow_custom_ops
