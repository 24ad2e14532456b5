// SPDX-License-Identifier: Apache-2.0
// Each function of functors as a functor of its own, and so as an op.
#ifndef TENSORFLOW_CUSTOM_OPS_TESTS_ELEMENTWISE_FUNCTIONS_H_
#define TENSORFLOW_CUSTOM_OPS_TESTS_ELEMENTWISE_FUNCTIONS_H_

#include "tensorflow_custom_ops/core/elementwise/functor.h"

namespace tensorflow_custom_ops {

#define FN_TEST_UNARY(Name, expression)       \
  struct Name : Elementwise<1> {              \
    template <typename V>                     \
    static FN_INLINE auto Apply(const V& x) { \
      return expression;                      \
    }                                         \
  };
#define FN_TEST_BINARY(Name, expression)                  \
  struct Name : Elementwise<2> {                          \
    template <typename A, typename B>                     \
    static FN_INLINE auto Apply(const A& a, const B& b) { \
      return expression;                                  \
    }                                                     \
  };

FN_TEST_UNARY(FnNegate, -x)
FN_TEST_UNARY(FnAbs, fn::abs(x))
FN_TEST_UNARY(FnSign, fn::sign(x))
FN_TEST_UNARY(FnFloor, fn::floor(x))
FN_TEST_UNARY(FnRound, fn::round(x))
FN_TEST_UNARY(FnRelu, fn::relu(x))
FN_TEST_UNARY(FnExp, fn::exp(x))
FN_TEST_UNARY(FnExpm1, fn::expm1(x))
FN_TEST_UNARY(FnLog, fn::log(x))
FN_TEST_UNARY(FnLog1p, fn::log1p(x))
FN_TEST_UNARY(FnSqrt, fn::sqrt(x))
FN_TEST_UNARY(FnRsqrt, fn::rsqrt(x))
FN_TEST_UNARY(FnTanh, fn::tanh(x))
FN_TEST_UNARY(FnSigmoid, fn::sigmoid(x))
FN_TEST_UNARY(FnSoftplus, fn::softplus(x))
FN_TEST_UNARY(FnSin, fn::sin(x))
FN_TEST_UNARY(FnCos, fn::cos(x))
FN_TEST_UNARY(FnErf, fn::erf(x))
FN_TEST_UNARY(FnErfc, fn::erfc(x))
FN_TEST_UNARY(FnReciprocal, 1_c / x)

FN_TEST_BINARY(FnAdd, a + b)
FN_TEST_BINARY(FnSubtract, a - b)
FN_TEST_BINARY(FnMultiply, a* b)
FN_TEST_BINARY(FnDivide, a / b)
FN_TEST_BINARY(FnMax, fn::max(a, b))
FN_TEST_BINARY(FnMin, fn::min(a, b))
FN_TEST_BINARY(FnLess, fn::select(a < b, 1_c, 0_c))
FN_TEST_BINARY(FnLessEqual, fn::select(a <= b, 1_c, 0_c))
FN_TEST_BINARY(FnGreater, fn::select(a > b, 1_c, 0_c))
FN_TEST_BINARY(FnGreaterEqual, fn::select(a >= b, 1_c, 0_c))
FN_TEST_BINARY(FnEqual, fn::select(a == b, 1_c, 0_c))
FN_TEST_BINARY(FnSelect, fn::select(a < b, a* a, a* b))

struct FnPow : Elementwise<1, 1> {
  template <typename V>
  static FN_INLINE auto Apply(const V& x, fn::Constant exponent) {
    return fn::pow(x, exponent);
  }
};

struct FnClamp : Elementwise<1, 2> {
  template <typename V>
  static FN_INLINE auto Apply(const V& x, fn::Constant low, fn::Constant high) {
    return fn::clamp(x, low, high);
  }
};

}  // namespace tensorflow_custom_ops

// clang-format has no stable layout for these.
// clang-format off
#define FOR_EACH_UNARY(X)                                                    \
  X(FnNegate) X(FnAbs) X(FnSign) X(FnFloor) X(FnRound) X(FnRelu) X(FnExp)    \
  X(FnExpm1) X(FnLog) X(FnLog1p) X(FnSqrt) X(FnRsqrt) X(FnTanh) X(FnSigmoid) \
  X(FnSoftplus) X(FnSin) X(FnCos) X(FnErf) X(FnErfc) X(FnReciprocal)
#define FOR_EACH_BINARY(X)                                              \
  X(FnAdd) X(FnSubtract) X(FnMultiply) X(FnDivide) X(FnMax) X(FnMin)    \
  X(FnLess) X(FnLessEqual) X(FnGreater) X(FnGreaterEqual) X(FnEqual)    \
  X(FnSelect)
#define FOR_EACH_FUNCTION(X) \
  FOR_EACH_UNARY(X) FOR_EACH_BINARY(X) X(FnPow) X(FnClamp)
// clang-format on

#endif  // TENSORFLOW_CUSTOM_OPS_TESTS_ELEMENTWISE_FUNCTIONS_H_
