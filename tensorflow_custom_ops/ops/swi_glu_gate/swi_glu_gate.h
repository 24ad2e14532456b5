// SPDX-License-Identifier: Apache-2.0
#ifndef TENSORFLOW_CUSTOM_OPS_OPS_SWI_GLU_GATE_SWI_GLU_GATE_H_
#define TENSORFLOW_CUSTOM_OPS_OPS_SWI_GLU_GATE_SWI_GLU_GATE_H_

#include "tensorflow_custom_ops/core/elementwise/functor.h"

namespace tensorflow_custom_ops {

// Shazeer, "GLU Variants Improve Transformer", 2020: SwiGLU without its matrix
// products.
struct SwiGluGate : Elementwise</*inputs=*/2> {
  template <typename A, typename B>
  static FN_INLINE auto Apply(const A& a, const B& b) {
    return a * fn::sigmoid(a) * b;
  }
};

}  // namespace tensorflow_custom_ops

#endif  // TENSORFLOW_CUSTOM_OPS_OPS_SWI_GLU_GATE_SWI_GLU_GATE_H_
