// SPDX-License-Identifier: Apache-2.0
// Functors on nodes of a graph. What takes the operations of a functor one by
// one, be it to write a program for XLA (xla.cc) or to count them (cost.h),
// derives from Tracer. So an op's own code needs no header of XLA.
#ifndef TENSORFLOW_CUSTOM_OPS_CORE_ELEMENTWISE_TRACED_H_
#define TENSORFLOW_CUSTOM_OPS_CORE_ELEMENTWISE_TRACED_H_

#include "tensorflow_custom_ops/core/elementwise/value.h"

namespace tensorflow_custom_ops {
namespace fn {

enum class Operation {
  kNegate,
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kLess,
  kLessEqual,
  kEqual,
  kSelect,
  kMax,
  kMin,
  kAbs,
  kSign,
  kFloor,
  kRound,
  kExp,
  kExpm1,
  kLog,
  kLog1p,
  kSqrt,
  kRsqrt,
  kPow,
  kTanh,
  kSigmoid,
  kSin,
  kCos,
  kErf,
  kErfc,
};

// A node, by its number.
using Node = int;

class Tracer {
 public:
  virtual ~Tracer() = default;
  virtual Node Constant(double value) = 0;
  // Select has the mask first; others have two operands or one.
  virtual Node Apply(Operation operation, const Node* operands) = 0;
};

struct Traced {
  Tracer* tracer;
  Node node;
};

template <>
struct Math<Traced> {
  using V = Traced;
  using MaskBits = Traced;

  template <typename... Operands>
  static V Apply(Operation operation, V first, Operands... others) {
    const Node nodes[] = {first.node, others.node...};
    return {first.tracer, first.tracer->Apply(operation, nodes)};
  }

  static V Constant(V like, double value) {
    return {like.tracer, like.tracer->Constant(value)};
  }
  static V Negate(V x) { return Apply(Operation::kNegate, x); }
  static V Add(V a, V b) { return Apply(Operation::kAdd, a, b); }
  static V Subtract(V a, V b) { return Apply(Operation::kSubtract, a, b); }
  static V Multiply(V a, V b) { return Apply(Operation::kMultiply, a, b); }
  static V Divide(V a, V b) { return Apply(Operation::kDivide, a, b); }

  static V Less(V a, V b) { return Apply(Operation::kLess, a, b); }
  static V LessEqual(V a, V b) { return Apply(Operation::kLessEqual, a, b); }
  static V Equal(V a, V b) { return Apply(Operation::kEqual, a, b); }
  static V Select(V mask, V a, V b) {
    return Apply(Operation::kSelect, mask, a, b);
  }

  static V Max(V a, V b) { return Apply(Operation::kMax, a, b); }
  static V Min(V a, V b) { return Apply(Operation::kMin, a, b); }
  static V Abs(V x) { return Apply(Operation::kAbs, x); }
  static V Sign(V x) { return Apply(Operation::kSign, x); }
  static V Floor(V x) { return Apply(Operation::kFloor, x); }
  static V Round(V x) { return Apply(Operation::kRound, x); }

  static V Exp(V x) { return Apply(Operation::kExp, x); }
  static V Expm1(V x) { return Apply(Operation::kExpm1, x); }
  static V Log(V x) { return Apply(Operation::kLog, x); }
  static V Log1p(V x) { return Apply(Operation::kLog1p, x); }
  static V Sqrt(V x) { return Apply(Operation::kSqrt, x); }
  static V Rsqrt(V x) { return Apply(Operation::kRsqrt, x); }
  static V Pow(V x, double exponent) {
    return Apply(Operation::kPow, x, Constant(x, exponent));
  }
  static V Tanh(V x) { return Apply(Operation::kTanh, x); }
  static V Sigmoid(V x) { return Apply(Operation::kSigmoid, x); }
  static V Sin(V x) { return Apply(Operation::kSin, x); }
  static V Cos(V x) { return Apply(Operation::kCos, x); }
  static V Erf(V x) { return Apply(Operation::kErf, x); }
  static V Erfc(V x) { return Apply(Operation::kErfc, x); }
};

}  // namespace fn
}  // namespace tensorflow_custom_ops

#endif  // TENSORFLOW_CUSTOM_OPS_CORE_ELEMENTWISE_TRACED_H_
