// SPDX-License-Identifier: Apache-2.0
// What the CPU kernels of one op are made of. ELEMENTWISE_OP is its functor
// and ELEMENTWISE_NAME its name, and ELEMENTWISE_HEADER declares it; see
// elementwise_op.bzl.
#ifndef TENSORFLOW_CUSTOM_OPS_CORE_ELEMENTWISE_CPU_OP_H_
#define TENSORFLOW_CUSTOM_OPS_CORE_ELEMENTWISE_CPU_OP_H_

#include "tensorflow_custom_ops/core/elementwise/cpu.h"
#include "tensorflow_custom_ops/core/elementwise/cpu_kernel.h"
#include "tensorflow_custom_ops/core/elementwise/signature_of.h"
#include "tensorflow_custom_ops/core/elementwise/trace_functor.h"
#include "tensorflow_custom_ops/core/isa_namespace.h"
#include ELEMENTWISE_HEADER

// Where cpu_functions.cc has put them.
#define FUNCTIONS ISA_NAME(ELEMENTWISE_OP, functions)
#define DECLARE_FUNCTIONS(isa)                                               \
  namespace tensorflow_custom_ops_##isa {                                    \
    extern const tensorflow_custom_ops::elementwise::CpuFunctions FUNCTIONS; \
  }
DECLARE_FUNCTIONS(baseline)
#ifdef __x86_64__
DECLARE_FUNCTIONS(avx2)
DECLARE_FUNCTIONS(avx512)
#endif
#undef DECLARE_FUNCTIONS

namespace tensorflow_custom_ops {
namespace elementwise {

template <typename F>
constexpr CpuOp kCpuOp = {SignatureOf<F>(ELEMENTWISE_NAME),
                          {
                              &tensorflow_custom_ops_baseline::FUNCTIONS,
#ifdef __x86_64__
                              &tensorflow_custom_ops_avx2::FUNCTIONS,
                              &tensorflow_custom_ops_avx512::FUNCTIONS,
#endif
                          },
                          TraceFunctor<F>};

}  // namespace elementwise
}  // namespace tensorflow_custom_ops

#undef FUNCTIONS

#endif  // TENSORFLOW_CUSTOM_OPS_CORE_ELEMENTWISE_CPU_OP_H_
