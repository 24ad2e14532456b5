// SPDX-License-Identifier: Apache-2.0
// + - * / and comparisons of values, duals and constants, and select.
#ifndef TENSORFLOW_CUSTOM_OPS_CORE_ELEMENTWISE_OPERATORS_H_
#define TENSORFLOW_CUSTOM_OPS_CORE_ELEMENTWISE_OPERATORS_H_

#include "tensorflow_custom_ops/core/elementwise/dual.h"
#include "tensorflow_custom_ops/core/elementwise/value.h"

namespace tensorflow_custom_ops {
namespace fn {

template <typename A, typename B>
constexpr int kLevel = kDepth<A> > kDepth<B> ? kDepth<A> : kDepth<B>;

// The one of a and b that is no constant.
template <typename A, typename B>
FN_INLINE const auto& Like(const A& a, const B& b) {
  if constexpr (kDepth<A> >= 0) {
    return a;
  } else {
    return b;
  }
}

// What the operators have in common. Op has
//   Constants(double, double): the result for constants,
//   Values(V, V): the result for values,
//   Derivative(a, b, quotient, t, u): the derivative of the result, from the
//     operands, the result, and the derivatives of the operands.
template <typename Op, typename A, typename B, typename R>
struct BinaryRule {
  const A& a;
  const B& b;
  const R& result;
  template <typename T, typename U>
  FN_INLINE auto operator()(const T& t, const U& u) const {
    return Op::Derivative(a, b, result, t, u);
  }
};

template <typename Op, typename A, typename B, typename R>
FN_INLINE BinaryRule<Op, A, B, R> MakeBinaryRule(const A& a, const B& b,
                                                 const R& result) {
  return {a, b, result};
}

template <typename Op, typename A, typename B>
FN_INLINE auto Binary(const A& a, const B& b) {
  constexpr int kTop = kLevel<A, B>;
  if constexpr (kTop < 0) {
    return Constant{Op::Constants(a.value, b.value)};
  } else if constexpr (kTop == 0) {
    using V = Kind<A, B>;
    const auto& like = Like(a, b);
    return Op::template Values<V>(Promote<V>(a, like), Promote<V>(b, like));
  } else {
    const auto& x = ValueAt<kTop>(a);
    const auto& y = ValueAt<kTop>(b);
    const auto result = Binary<Op>(x, y);
    return MakeDual(
        result, Map(MakeBinaryRule<Op>(x, y, result), TangentsAt<kTop>(a, b),
                    TangentsAt<kTop>(b, a)));
  }
}

struct NegateRule {
  template <typename T>
  FN_INLINE auto operator()(const T& t) const {
    return -t;
  }
};

template <typename A, IfValues<A> = 0>
FN_INLINE auto operator-(const A& a) {
  if constexpr (kIsZero<A>) {
    return Zero{};
  } else if constexpr (kIsConstant<A>) {
    return Constant{-a.value};
  } else if constexpr (kDepth<A> == 0) {
    return Math<A>::Negate(a);
  } else {
    return MakeDual(-a.value, Map(NegateRule{}, a.tangents));
  }
}

template <typename A, typename B, IfValues<A, B> = 0>
FN_INLINE auto operator+(const A& a, const B& b);
template <typename A, typename B, IfValues<A, B> = 0>
FN_INLINE auto operator-(const A& a, const B& b);
template <typename A, typename B, IfValues<A, B> = 0>
FN_INLINE auto operator*(const A& a, const B& b);
template <typename A, typename B, IfValues<A, B> = 0>
FN_INLINE auto operator/(const A& a, const B& b);

struct AddOp {
  static constexpr double Constants(double a, double b) { return a + b; }
  template <typename V>
  static FN_INLINE V Values(const V& a, const V& b) {
    return Math<V>::Add(a, b);
  }
  template <typename A, typename B, typename R, typename T, typename U>
  static FN_INLINE auto Derivative(const A&, const B&, const R&, const T& t,
                                   const U& u) {
    return t + u;
  }
};

struct SubtractOp {
  static constexpr double Constants(double a, double b) { return a - b; }
  template <typename V>
  static FN_INLINE V Values(const V& a, const V& b) {
    return Math<V>::Subtract(a, b);
  }
  template <typename A, typename B, typename R, typename T, typename U>
  static FN_INLINE auto Derivative(const A&, const B&, const R&, const T& t,
                                   const U& u) {
    return t - u;
  }
};

struct MultiplyOp {
  static constexpr double Constants(double a, double b) { return a * b; }
  template <typename V>
  static FN_INLINE V Values(const V& a, const V& b) {
    return Math<V>::Multiply(a, b);
  }
  template <typename A, typename B, typename R, typename T, typename U>
  static FN_INLINE auto Derivative(const A& a, const B& b, const R&, const T& t,
                                   const U& u) {
    return t * b + a * u;
  }
};

struct DivideOp {
  static constexpr double Constants(double a, double b) { return a / b; }
  template <typename V>
  static FN_INLINE V Values(const V& a, const V& b) {
    return Math<V>::Divide(a, b);
  }
  template <typename A, typename B, typename R, typename T, typename U>
  static FN_INLINE auto Derivative(const A&, const B& b, const R& quotient,
                                   const T& t, const U& u) {
    return (t - quotient * u) / b;
  }
};

template <typename A, typename B, IfValues<A, B>>
FN_INLINE auto operator+(const A& a, const B& b) {
  if constexpr (kIsZero<A>) {
    return b;
  } else if constexpr (kIsZero<B>) {
    return a;
  } else {
    return Binary<AddOp>(a, b);
  }
}

template <typename A, typename B, IfValues<A, B>>
FN_INLINE auto operator-(const A& a, const B& b) {
  if constexpr (kIsZero<A>) {
    return -b;
  } else if constexpr (kIsZero<B>) {
    return a;
  } else {
    return Binary<SubtractOp>(a, b);
  }
}

template <typename A, typename B, IfValues<A, B>>
FN_INLINE auto operator*(const A& a, const B& b) {
  if constexpr (kIsZero<A> || kIsZero<B>) {
    return Zero{};
  } else {
    return Binary<MultiplyOp>(a, b);
  }
}

template <typename A, typename B, IfValues<A, B>>
FN_INLINE auto operator/(const A& a, const B& b) {
  if constexpr (kIsZero<A>) {
    return Zero{};
  } else {
    return Binary<DivideOp>(a, b);
  }
}

// Comparisons are of the values alone, and are false where one is NaN.
#define FN_COMPARISON(op, Name)                                       \
  template <typename A, typename B, IfValues<A, B> = 0>               \
  FN_INLINE Mask<Kind<A, B>> operator op(const A& a, const B& b) {    \
    const auto& x = Primal(a);                                        \
    const auto& y = Primal(b);                                        \
    const auto& like = Like(x, y);                                    \
    using V = Kind<A, B>;                                             \
    return {Math<V>::Name(Promote<V>(x, like), Promote<V>(y, like))}; \
  }
FN_COMPARISON(<, Less)
FN_COMPARISON(<=, LessEqual)
FN_COMPARISON(==, Equal)
#undef FN_COMPARISON
template <typename A, typename B, IfValues<A, B> = 0>
FN_INLINE auto operator>(const A& a, const B& b) {
  return b < a;
}
template <typename A, typename B, IfValues<A, B> = 0>
FN_INLINE auto operator>=(const A& a, const B& b) {
  return b <= a;
}

template <typename V>
struct SelectRule {
  const Mask<V>& mask;
  template <typename T, typename U>
  FN_INLINE auto operator()(const T& t, const U& u) const {
    return select(mask, t, u);
  }
};

// Where `mask` is true a, else b; the derivatives likewise. What is computed in
// the one that is not taken, NaN included, is without effect on either.
template <typename V, typename A, typename B, IfValues<A, B> = 0>
FN_INLINE auto select(const Mask<V>& mask, const A& a, const B& b) {
  constexpr int kTop = kLevel<A, B>;
  if constexpr (kIsZero<A> && kIsZero<B>) {
    return Zero{};
  } else if constexpr (kTop <= 0) {
    return Math<V>::Select(mask.bits, Promote<V>(a, mask.bits),
                           Promote<V>(b, mask.bits));
  } else {
    return MakeDual(select(mask, ValueAt<kTop>(a), ValueAt<kTop>(b)),
                    Map(SelectRule<V>{mask}, TangentsAt<kTop>(a, b),
                        TangentsAt<kTop>(b, a)));
  }
}

}  // namespace fn
}  // namespace tensorflow_custom_ops

#endif  // TENSORFLOW_CUSTOM_OPS_CORE_ELEMENTWISE_OPERATORS_H_
