// SPDX-License-Identifier: Apache-2.0
// The definition of an elementwise op and its kernels for CPU and XLA, for the
// instruction set ELEMENTWISE_ISA alone. ELEMENTWISE_OP is the op's functor and
// ELEMENTWISE_NAME its name; ELEMENTWISE_HEADER declares it, and
// ELEMENTWISE_DEFINITION defines the op. See _functor.py.
#include "tensorflow_custom_ops/core/elementwise/cpu.h"
#include "tensorflow_custom_ops/core/elementwise/cpu_kernel.h"
#include "tensorflow_custom_ops/core/elementwise/op.h"
#include "tensorflow_custom_ops/core/elementwise/signature_of.h"
#include "tensorflow_custom_ops/core/elementwise/trace_functor.h"
#include "tensorflow_custom_ops/core/isa_namespace.h"
#ifdef ELEMENTWISE_XLA
#include "tensorflow_custom_ops/core/elementwise/xla.h"
#endif
#include ELEMENTWISE_HEADER

namespace shared = tensorflow_custom_ops::elementwise;

// Where cpu_functions.cc has put them.
#define FUNCTIONS ISA_NAME(ELEMENTWISE_OP, functions)
#define FUNCTIONS_NAMESPACE ISA_NAME(tensorflow_custom_ops, ELEMENTWISE_ISA)

namespace FUNCTIONS_NAMESPACE {
extern const shared::CpuFunctions FUNCTIONS;
}

namespace tensorflow_custom_ops {
namespace elementwise {
namespace {

// Whichever the kernel chooses, there is one.
constexpr const CpuFunctions* kFunctions = &FUNCTIONS_NAMESPACE::FUNCTIONS;
constexpr CpuOp kOp = {SignatureOf<ELEMENTWISE_OP>(ELEMENTWISE_NAME),
                       {
                           kFunctions,
#ifdef __x86_64__
                           kFunctions,
                           kFunctions,
#endif
                       },
                       TraceFunctor<ELEMENTWISE_OP>};

const CpuKernelRegistrar kCpuRegistrar(kOp);
#ifdef ELEMENTWISE_XLA
const XlaRegistrar kXlaRegistrar(kOp.signature, kOp.trace);
#endif

}  // namespace
}  // namespace elementwise
}  // namespace tensorflow_custom_ops

#include ELEMENTWISE_DEFINITION
