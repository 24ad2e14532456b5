// SPDX-License-Identifier: Apache-2.0
// The functions that functors call: fn::exp(x) and so on. docs/elementwise.md
// has their accuracy.
//
// Each has the values of the TensorFlow op of the same name for NaN, infinities
// and zeros, and its derivative, also where the function has a kink: those are
// named below. Otherwise the derivative is the usual one.
#ifndef TENSORFLOW_CUSTOM_OPS_CORE_ELEMENTWISE_FUNCTIONS_H_
#define TENSORFLOW_CUSTOM_OPS_CORE_ELEMENTWISE_FUNCTIONS_H_

#include "tensorflow_custom_ops/core/elementwise/dual.h"
#include "tensorflow_custom_ops/core/elementwise/operators.h"
#include "tensorflow_custom_ops/core/elementwise/value.h"

namespace tensorflow_custom_ops {
namespace fn {

template <typename Factor>
struct ScaleRule {
  const Factor& factor;
  template <typename T>
  FN_INLINE auto operator()(const T& t) const {
    return t * factor;
  }
};

// y = f(x) with the derivatives of x, where slope = f'(x).
template <typename Y, typename Slope, typename... T>
FN_INLINE auto Chain(const Y& y, const Slope& slope,
                     const Tangents<T...>& tangents) {
  return MakeDual(y, Map(ScaleRule<Slope>{slope}, tangents));
}

// e^x.
template <typename A, IfValues<A> = 0>
FN_INLINE auto exp(const A& x) {
  if constexpr (kDepth<A> == 0) {
    return Math<A>::Exp(x);
  } else {
    const auto y = exp(x.value);
    return Chain(y, y, x.tangents);
  }
}

// e^x - 1, also where that is near 0.
template <typename A, IfValues<A> = 0>
FN_INLINE auto expm1(const A& x) {
  if constexpr (kDepth<A> == 0) {
    return Math<A>::Expm1(x);
  } else {
    return Chain(expm1(x.value), exp(x.value), x.tangents);
  }
}

// The natural logarithm: NaN for x < 0, -infinity for 0.
template <typename A, IfValues<A> = 0>
FN_INLINE auto log(const A& x) {
  if constexpr (kDepth<A> == 0) {
    return Math<A>::Log(x);
  } else {
    return Chain(log(x.value), 1_c / x.value, x.tangents);
  }
}

// log(1 + x), also where x is near 0: NaN for x < -1, -infinity for -1.
template <typename A, IfValues<A> = 0>
FN_INLINE auto log1p(const A& x) {
  if constexpr (kDepth<A> == 0) {
    return Math<A>::Log1p(x);
  } else {
    return Chain(log1p(x.value), 1_c / (1_c + x.value), x.tangents);
  }
}

// NaN for x < 0. The derivative at 0 is infinity.
template <typename A, IfValues<A> = 0>
FN_INLINE auto sqrt(const A& x) {
  if constexpr (kDepth<A> == 0) {
    return Math<A>::Sqrt(x);
  } else {
    const auto y = sqrt(x.value);
    return Chain(y, 0.5_c / y, x.tangents);
  }
}

// 1 / sqrt(x): NaN for x < 0, infinity for 0.
template <typename A, IfValues<A> = 0>
FN_INLINE auto rsqrt(const A& x) {
  if constexpr (kDepth<A> == 0) {
    return Math<A>::Rsqrt(x);
  } else {
    const auto y = rsqrt(x.value);
    return Chain(y, -0.5_c * y * (y * y), x.tangents);
  }
}

// x to a power that is the same for all elements: NaN for x < 0, unless the
// exponent is an integer. x^0 is 1, with the derivative 0.
template <typename A, IfValues<A> = 0>
FN_INLINE auto pow(const A& x, const Constant& exponent) {
  if constexpr (kDepth<A> == 0) {
    return Math<A>::Pow(x, exponent.value);
  } else {
    const Constant lower{exponent.value == 0 ? 0 : exponent.value - 1};
    return Chain(pow(x.value, exponent), exponent * pow(x.value, lower),
                 x.tangents);
  }
}

// The hyperbolic tangent.
template <typename A, IfValues<A> = 0>
FN_INLINE auto tanh(const A& x) {
  if constexpr (kDepth<A> == 0) {
    return Math<A>::Tanh(x);
  } else {
    const auto y = tanh(x.value);
    return Chain(y, 1_c - y * y, x.tangents);
  }
}

// The logistic function 1 / (1 + e^-x).
template <typename A, IfValues<A> = 0>
FN_INLINE auto sigmoid(const A& x) {
  if constexpr (kDepth<A> == 0) {
    return Math<A>::Sigmoid(x);
  } else {
    const auto y = sigmoid(x.value);
    return Chain(y, y * (1_c - y), x.tangents);
  }
}

template <typename A, IfValues<A> = 0>
FN_INLINE auto cos(const A& x);

// The sine of an angle in radians: NaN for infinities.
template <typename A, IfValues<A> = 0>
FN_INLINE auto sin(const A& x) {
  if constexpr (kDepth<A> == 0) {
    return Math<A>::Sin(x);
  } else {
    return Chain(sin(x.value), cos(x.value), x.tangents);
  }
}

// The cosine of an angle in radians: NaN for infinities.
template <typename A, IfValues<A>>
FN_INLINE auto cos(const A& x) {
  if constexpr (kDepth<A> == 0) {
    return Math<A>::Cos(x);
  } else {
    return Chain(cos(x.value), -sin(x.value), x.tangents);
  }
}

// The error function 2/sqrt(pi) * (the integral of e^-t^2 from 0 to x).
template <typename A, IfValues<A> = 0>
FN_INLINE auto erf(const A& x) {
  if constexpr (kDepth<A> == 0) {
    return Math<A>::Erf(x);
  } else {
    // 2 / sqrt(pi)
    const auto slope = 1.12837916709551257390_c * exp(-(x.value * x.value));
    return Chain(erf(x.value), slope, x.tangents);
  }
}

// 1 - erf(x), also where that is near 0.
template <typename A, IfValues<A> = 0>
FN_INLINE auto erfc(const A& x) {
  if constexpr (kDepth<A> == 0) {
    return Math<A>::Erfc(x);
  } else {
    // -2 / sqrt(pi)
    const auto slope = -1.12837916709551257390_c * exp(-(x.value * x.value));
    return Chain(erfc(x.value), slope, x.tangents);
  }
}

// -1, 0 or 1. Its derivative is 0.
template <typename A, IfValues<A> = 0>
FN_INLINE auto sign(const A& x) {
  const auto& value = Primal(x);
  return Math<Kind<A>>::Sign(value);
}

// The largest integer that is not above x. Its derivative is 0.
template <typename A, IfValues<A> = 0>
FN_INLINE auto floor(const A& x) {
  const auto& value = Primal(x);
  return Math<Kind<A>>::Floor(value);
}

// The nearest integer, and of two the even one. Its derivative is 0.
template <typename A, IfValues<A> = 0>
FN_INLINE auto round(const A& x) {
  const auto& value = Primal(x);
  return Math<Kind<A>>::Round(value);
}

// |x|. The derivative at 0 is 0.
template <typename A, IfValues<A> = 0>
FN_INLINE auto abs(const A& x) {
  if constexpr (kDepth<A> == 0) {
    return Math<A>::Abs(x);
  } else {
    return Chain(abs(x.value), sign(x), x.tangents);
  }
}

struct MaxOp {
  static constexpr double Constants(double a, double b) {
    return a >= b ? a : b;
  }
  template <typename V>
  static FN_INLINE V Values(const V& a, const V& b) {
    return Math<V>::Max(a, b);
  }
  template <typename A, typename B, typename R, typename T, typename U>
  static FN_INLINE auto Derivative(const A& a, const B& b, const R&, const T& t,
                                   const U& u) {
    return select(a >= b, t, u);
  }
};

struct MinOp {
  static constexpr double Constants(double a, double b) {
    return a <= b ? a : b;
  }
  template <typename V>
  static FN_INLINE V Values(const V& a, const V& b) {
    return Math<V>::Min(a, b);
  }
  template <typename A, typename B, typename R, typename T, typename U>
  static FN_INLINE auto Derivative(const A& a, const B& b, const R&, const T& t,
                                   const U& u) {
    return select(a <= b, t, u);
  }
};

// The larger one; NaN where one is NaN, which under XLA the CPU may ignore.
// Where both are the same, the derivative is that of a.
template <typename A, typename B, IfValues<A, B> = 0>
FN_INLINE auto max(const A& a, const B& b) {
  return Binary<MaxOp>(a, b);
}

// The smaller one; NaN where one is NaN, which under XLA the CPU may ignore.
// Where both are the same, the derivative is that of a.
template <typename A, typename B, IfValues<A, B> = 0>
FN_INLINE auto min(const A& a, const B& b) {
  return Binary<MinOp>(a, b);
}

template <typename V>
struct ClampRule {
  const Mask<V> from_low;
  const Mask<V> to_high;
  template <typename T>
  FN_INLINE auto operator()(const T& t) const {
    return select(from_low, select(to_high, t, Zero{}), Zero{});
  }
};
template <typename V>
FN_INLINE ClampRule<V> MakeClampRule(const Mask<V>& from_low,
                                     const Mask<V>& to_high) {
  return {from_low, to_high};
}

// x, but at least `low` and at most `high`. The derivative is 1 from `low` to
// `high`, both included, and 0 elsewhere.
template <typename A, IfValues<A> = 0>
FN_INLINE auto clamp(const A& x, const Constant& low, const Constant& high) {
  if constexpr (kDepth<A> == 0) {
    return Math<A>::Min(Math<A>::Max(x, Promote<A>(low, x)),
                        Promote<A>(high, x));
  } else {
    const auto& value = Primal(x);
    return MakeDual(
        clamp(x.value, low, high),
        Map(MakeClampRule(value >= low, value <= high), x.tangents));
  }
}

// max(x, 0). The derivative at 0 is 0.
template <typename A, IfValues<A> = 0>
FN_INLINE auto relu(const A& x) {
  if constexpr (kDepth<A> == 0) {
    return Math<A>::Max(x, Promote<A>(0_c, x));
  } else {
    return MakeDual(relu(x.value), Map(SelectRule<Kind<A>>{x > 0_c}, x.tangents,
                                       Map(ZeroRule{}, x.tangents)));
  }
}

// log(1 + e^x), also where e^x is infinite.
template <typename A, IfValues<A> = 0>
FN_INLINE auto softplus(const A& x) {
  if constexpr (kDepth<A> == 0) {
    return relu(x) + log1p(exp(-abs(x)));
  } else {
    return Chain(softplus(x.value), sigmoid(x.value), x.tangents);
  }
}

}  // namespace fn
}  // namespace tensorflow_custom_ops

#endif  // TENSORFLOW_CUSTOM_OPS_CORE_ELEMENTWISE_FUNCTIONS_H_
