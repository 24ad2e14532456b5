// SPDX-License-Identifier: Apache-2.0
// The TraceFunction of a functor.
#ifndef TENSORFLOW_CUSTOM_OPS_CORE_ELEMENTWISE_TRACE_FUNCTOR_H_
#define TENSORFLOW_CUSTOM_OPS_CORE_ELEMENTWISE_TRACE_FUNCTOR_H_

#include "tensorflow_custom_ops/core/elementwise/apply.h"
#include "tensorflow_custom_ops/core/elementwise/trace.h"
#include "tensorflow_custom_ops/core/elementwise/traced.h"

namespace tensorflow_custom_ops {
namespace elementwise {

// Traces Step, which is a Value or a Gradient.
template <typename Step>
void TraceStep(fn::Tracer* tracer, const fn::Node* inputs,
               const double* attributes, fn::Node* outputs) {
  fn::Traced x[Step::kInputs];
  fn::Traced y[Step::kOutputs];
  for (int i = 0; i < Step::kInputs; ++i) x[i] = {tracer, inputs[i]};
  Step::Apply(x, attributes, y);
  for (int i = 0; i < Step::kOutputs; ++i) outputs[i] = y[i].node;
}

template <typename F, int kDerivative = 0>
void TraceGradient(int derivative, fn::Tracer* tracer, const fn::Node* inputs,
                   const double* attributes, fn::Node* outputs) {
  if constexpr (kDerivative < NumDerivatives(F::kInputs, F::kOrder)) {
    if (derivative == kDerivative) {
      TraceStep<Gradient<F, kDerivative>>(tracer, inputs, attributes, outputs);
    } else {
      TraceGradient<F, kDerivative + 1>(derivative, tracer, inputs, attributes,
                                        outputs);
    }
  }
}

template <typename F>
void TraceFunctor(int derivative, fn::Tracer* tracer, const fn::Node* inputs,
                  const double* attributes, fn::Node* outputs) {
  if (derivative == kValue) {
    TraceStep<Value<F>>(tracer, inputs, attributes, outputs);
  } else {
    TraceGradient<F>(derivative, tracer, inputs, attributes, outputs);
  }
}

}  // namespace elementwise
}  // namespace tensorflow_custom_ops

#endif  // TENSORFLOW_CUSTOM_OPS_CORE_ELEMENTWISE_TRACE_FUNCTOR_H_
