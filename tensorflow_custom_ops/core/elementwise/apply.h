// SPDX-License-Identifier: Apache-2.0
// Functors and their gradients on arrays of values, whatever their kind.
#ifndef TENSORFLOW_CUSTOM_OPS_CORE_ELEMENTWISE_APPLY_H_
#define TENSORFLOW_CUSTOM_OPS_CORE_ELEMENTWISE_APPLY_H_

#include <cstddef>
#include <utility>

#include "tensorflow_custom_ops/core/elementwise/dual.h"
#include "tensorflow_custom_ops/core/elementwise/operators.h"
#include "tensorflow_custom_ops/core/elementwise/signature.h"
#include "tensorflow_custom_ops/core/elementwise/value.h"

namespace tensorflow_custom_ops {
namespace elementwise {

template <typename F, size_t... kAttribute, typename... Inputs>
FN_INLINE auto Call(const double* attributes,
                    std::index_sequence<kAttribute...>,
                    const Inputs&... inputs) {
  return F::Apply(inputs..., fn::Constant{attributes[kAttribute]}...);
}

// Computes functor F of one element each, or packet, of the inputs.
template <typename F>
struct Value {
  static constexpr int kInputs = F::kInputs;
  static constexpr int kOutputs = 1;
  static constexpr int kAttributes = F::kAttributes;

  template <typename V>
  static FN_INLINE void Apply(const V* inputs, const double* attributes,
                              V* outputs) {
    Apply(inputs, attributes, outputs, std::make_index_sequence<F::kInputs>());
  }

 private:
  template <typename V, size_t... kInput>
  static FN_INLINE void Apply(const V* inputs, const double* attributes,
                              V* outputs, std::index_sequence<kInput...>) {
    const auto value =
        Call<F>(attributes, std::make_index_sequence<F::kAttributes>(),
                inputs[kInput]...);
    outputs[0] = fn::Promote<V>(value, inputs[0]);
  }
};

// The unit vector in direction kInput.
template <int kInput>
FN_INLINE fn::Tangents<> Unit(const fn::Tangents<>&) {
  return {};
}
template <int kInput, typename... T>
FN_INLINE auto Unit(const fn::Tangents<T...>& zeros) {
  if constexpr (kInput == 0) {
    return fn::Prepend(fn::Constant{1}, zeros.rest);
  } else {
    return fn::Prepend(fn::Zero{}, Unit<kInput - 1>(zeros.rest));
  }
}

template <size_t kInput>
struct ZeroFor {
  using Type = fn::Zero;
};

// Input `kInput` as a variable: its derivative is 1 by itself, and 0 by others.
template <int kInput, typename V, size_t... kOther>
FN_INLINE auto Variable(const V& input, std::index_sequence<kOther...>) {
  const fn::Tangents<typename ZeroFor<kOther>::Type...> zeros{};
  return fn::MakeDual(input, Unit<kInput>(zeros));
}

// Once more a variable, for one more derivative.
template <int kTimes, typename V>
FN_INLINE auto Differentiable(const V& value) {
  if constexpr (kTimes == 0) {
    return value;
  } else {
    return Differentiable<kTimes - 1>(
        fn::MakeDual(value, fn::Tangents<fn::Constant>{{1}, {}}));
  }
}

// The outer derivatives of a result of depth kTop, down to depth 1.
template <int kTop, typename R>
FN_INLINE auto OuterDerivative(const R& result) {
  if constexpr (kTop == 1) {
    return result;
  } else if constexpr (fn::kDepth<R> == kTop) {
    return OuterDerivative<kTop - 1>(result.tangents.first);
  } else {
    return fn::Zero{};
  }
}

// Stores weight * t for each tangent t of a result.
template <typename V>
FN_INLINE void Store(const V&, const fn::Tangents<>&, V*) {}
template <typename V, typename First, typename... Rest>
FN_INLINE void Store(const V& weight,
                     const fn::Tangents<First, Rest...>& tangents, V* outputs) {
  outputs[0] = fn::Promote<V>(weight * tangents.first, weight);
  Store(weight, tangents.rest, outputs + 1);
}

// Computes the derivatives by each input of a derivative of functor F; see
// NumDerivatives. They are multiplied by one more input, the last.
template <typename F, int kDerivative>
struct Gradient {
  static constexpr int kInputs = F::kInputs + 1;
  static constexpr int kOutputs = F::kInputs;
  static constexpr int kAttributes = F::kAttributes;

  template <typename V>
  static FN_INLINE void Apply(const V* inputs, const double* attributes,
                              V* outputs) {
    Apply(inputs, attributes, outputs, std::make_index_sequence<F::kInputs>());
  }

 private:
  // How often a derivative by `input` has been taken.
  static constexpr int Order(int input) {
    if (F::kInputs == 1) return kDerivative;
    return kDerivative == input + 1 ? 1 : 0;
  }

  template <typename V, size_t... kInput>
  static FN_INLINE void Apply(const V* inputs, const double* attributes,
                              V* outputs, std::index_sequence<kInput...> all) {
    const auto result =
        Call<F>(attributes, std::make_index_sequence<F::kAttributes>(),
                Differentiable<Order(kInput)>(
                    Variable<kInput>(inputs[kInput], all))...);
    constexpr int kTop = 1 + (Order(kInput) + ...);
    const auto derivative = OuterDerivative<kTop>(result);
    const V& weight = inputs[F::kInputs];
    Store(weight, fn::TangentsAt<1>(derivative, Variable<0>(inputs[0], all)),
          outputs);
  }
};

}  // namespace elementwise
}  // namespace tensorflow_custom_ops

#endif  // TENSORFLOW_CUSTOM_OPS_CORE_ELEMENTWISE_APPLY_H_
