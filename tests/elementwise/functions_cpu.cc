// SPDX-License-Identifier: Apache-2.0
// All functions for one instruction set.
#include "tensorflow_custom_ops/core/elementwise/cpu_functions.h"
#include "tests/elementwise/functions.h"

namespace tensorflow_custom_ops {

#define DEFINE_FUNCTIONS(F)               \
  extern const shared::CpuFunctions k##F; \
  const shared::CpuFunctions k##F = elementwise::CpuFunctionsOf<F>();
FOR_EACH_FUNCTION(DEFINE_FUNCTIONS)

}  // namespace tensorflow_custom_ops
