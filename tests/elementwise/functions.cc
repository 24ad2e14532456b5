// SPDX-License-Identifier: Apache-2.0
// The ops, and their CPU kernels.
#include "tests/elementwise/functions.h"

#include "tensorflow_custom_ops/core/elementwise/cpu.h"
#include "tensorflow_custom_ops/core/elementwise/cpu_kernel.h"
#include "tensorflow_custom_ops/core/elementwise/op.h"
#include "tensorflow_custom_ops/core/elementwise/signature_of.h"
#include "tensorflow_custom_ops/core/elementwise/trace_functor.h"

#define DECLARE_FUNCTIONS(F) \
  extern const tensorflow_custom_ops::elementwise::CpuFunctions k##F;
namespace tensorflow_custom_ops_baseline {
FOR_EACH_FUNCTION(DECLARE_FUNCTIONS)
}
#ifdef __x86_64__
namespace tensorflow_custom_ops_avx2 {
FOR_EACH_FUNCTION(DECLARE_FUNCTIONS)
}
namespace tensorflow_custom_ops_avx512 {
FOR_EACH_FUNCTION(DECLARE_FUNCTIONS)
}
#define FUNCTIONS(F)                                                         \
  {&tensorflow_custom_ops_baseline::k##F, &tensorflow_custom_ops_avx2::k##F, \
   &tensorflow_custom_ops_avx512::k##F}
#else
#define FUNCTIONS(F) {&tensorflow_custom_ops_baseline::k##F}
#endif

namespace tensorflow_custom_ops {
namespace {

#define REGISTER_UNARY(F) REGISTER_ELEMENTWISE_OP(F).Input("x");
FOR_EACH_UNARY(REGISTER_UNARY)
#define REGISTER_BINARY(F) REGISTER_ELEMENTWISE_OP(F).Input("a").Input("b");
FOR_EACH_BINARY(REGISTER_BINARY)
REGISTER_ELEMENTWISE_OP(FnPow).Input("x").Attribute("exponent: float = 1.0");
REGISTER_ELEMENTWISE_OP(FnClamp)
    .Input("x")
    .Attribute("low: float = 0.0")
    .Attribute("high: float = 1.0");

#define REGISTER_CPU(F)                                                    \
  constexpr elementwise::CpuOp kCpu##F = {elementwise::SignatureOf<F>(#F), \
                                          FUNCTIONS(F),                    \
                                          elementwise::TraceFunctor<F>};   \
  const elementwise::CpuKernelRegistrar kCpuRegistrar##F(kCpu##F);
FOR_EACH_FUNCTION(REGISTER_CPU)

}  // namespace
}  // namespace tensorflow_custom_ops
