// SPDX-License-Identifier: Apache-2.0
// The functions of one op for one instruction set. ELEMENTWISE_OP is the op's
// functor, ELEMENTWISE_HEADER declares it; see elementwise_op.bzl.
#include "tensorflow_custom_ops/core/elementwise/cpu_functions.h"
#include ELEMENTWISE_HEADER

namespace tensorflow_custom_ops {

extern const shared::CpuFunctions ISA_NAME(ELEMENTWISE_OP, functions);
const shared::CpuFunctions ISA_NAME(ELEMENTWISE_OP, functions) =
    elementwise::CpuFunctionsOf<ELEMENTWISE_OP>();

}  // namespace tensorflow_custom_ops
