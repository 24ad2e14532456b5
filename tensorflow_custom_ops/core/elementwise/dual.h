// SPDX-License-Identifier: Apache-2.0
// Forward-mode automatic differentiation: values that carry derivatives.
// Griewank and Walther, "Evaluating Derivatives", 2nd edition, chapter 3.
//
// A derivative that is zero or the same for all elements is so by its type
// (Zero, Constant). So no term is computed that a formula written by hand would
// not have, and no NaN arises from a zero times an infinity.
#ifndef TENSORFLOW_CUSTOM_OPS_CORE_ELEMENTWISE_DUAL_H_
#define TENSORFLOW_CUSTOM_OPS_CORE_ELEMENTWISE_DUAL_H_

#include "tensorflow_custom_ops/core/elementwise/value.h"

namespace tensorflow_custom_ops {
namespace fn {

// The derivatives in several directions. Each is a value, a Constant or Zero.
template <typename... T>
struct Tangents;
template <>
struct Tangents<> {};
template <typename First, typename... Rest>
struct Tangents<First, Rest...> {
  First first;
  Tangents<Rest...> rest;
};

template <typename V, typename... T>
struct Dual {
  V value;
  Tangents<T...> tangents;
};

template <typename V, typename... T>
FN_INLINE Dual<V, T...> MakeDual(const V& value,
                                 const Tangents<T...>& tangents) {
  return {value, tangents};
}

template <typename First, typename... Rest>
FN_INLINE Tangents<First, Rest...> Prepend(const First& first,
                                           const Tangents<Rest...>& rest) {
  return {first, rest};
}

// rule(t) for each tangent, and rule(t, u) for the tangents of two values.
template <typename Rule>
FN_INLINE Tangents<> Map(const Rule&, const Tangents<>&) {
  return {};
}
template <typename Rule, typename First, typename... Rest>
FN_INLINE auto Map(const Rule& rule, const Tangents<First, Rest...>& t) {
  return Prepend(rule(t.first), Map(rule, t.rest));
}
template <typename Rule>
FN_INLINE Tangents<> Map(const Rule&, const Tangents<>&, const Tangents<>&) {
  return {};
}
template <typename Rule, typename First, typename... Rest, typename First2,
          typename... Rest2>
FN_INLINE auto Map(const Rule& rule, const Tangents<First, Rest...>& t,
                   const Tangents<First2, Rest2...>& u) {
  return Prepend(rule(t.first, u.first), Map(rule, t.rest, u.rest));
}

struct ZeroRule {
  template <typename T>
  FN_INLINE Zero operator()(const T&) const {
    return {};
  }
};

// The value and the tangents of a at the level of the deepest of several
// values. What is shallower is a constant there.
template <int kTop, typename A>
FN_INLINE const auto& ValueAt(const A& a) {
  if constexpr (kDepth<A> == kTop) {
    return a.value;
  } else {
    return a;
  }
}
template <int kTop, typename A, typename B>
FN_INLINE auto TangentsAt(const A& a, const B& b) {
  if constexpr (kDepth<A> == kTop) {
    return a.tangents;
  } else {
    return Map(ZeroRule{}, b.tangents);
  }
}

// A value without its derivatives.
template <typename A>
FN_INLINE const auto& Primal(const A& a) {
  if constexpr (kDepth<A> > 0) {
    return Primal(a.value);
  } else {
    return a;
  }
}

}  // namespace fn
}  // namespace tensorflow_custom_ops

#endif  // TENSORFLOW_CUSTOM_OPS_CORE_ELEMENTWISE_DUAL_H_
