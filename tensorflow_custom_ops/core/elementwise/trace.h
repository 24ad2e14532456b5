// SPDX-License-Identifier: Apache-2.0
// An op's functor and its gradients, written down operation by operation.
#ifndef TENSORFLOW_CUSTOM_OPS_CORE_ELEMENTWISE_TRACE_H_
#define TENSORFLOW_CUSTOM_OPS_CORE_ELEMENTWISE_TRACE_H_

#include "tensorflow_custom_ops/core/elementwise/traced.h"

namespace tensorflow_custom_ops {
namespace elementwise {

// Tells a tracer what an op computes: the function if `derivative` is kValue,
// else the gradient of the derivative of that number. Inputs and outputs are
// those of the op, or of its gradient.
inline constexpr int kValue = -1;
using TraceFunction = void (*)(int derivative, fn::Tracer* tracer,
                               const fn::Node* inputs, const double* attributes,
                               fn::Node* outputs);

}  // namespace elementwise
}  // namespace tensorflow_custom_ops

#endif  // TENSORFLOW_CUSTOM_OPS_CORE_ELEMENTWISE_TRACE_H_
