// SPDX-License-Identifier: Apache-2.0
// For gpu_test.cc: functors with one to four inputs. They are the same kernel,
// which is compiled with sanitizers, for a long time: each for no more types
// and derivatives than it is tested with.
#ifndef TENSORFLOW_CUSTOM_OPS_CORE_ELEMENTWISE_GPU_TEST_FUNCTORS_H_
#define TENSORFLOW_CUSTOM_OPS_CORE_ELEMENTWISE_GPU_TEST_FUNCTORS_H_

#include "tensorflow_custom_ops/core/elementwise/functor.h"
#include "tensorflow_custom_ops/core/elementwise/gpu.h"

namespace tensorflow_custom_ops {

constexpr elementwise::TypeSet OnlyOf(Type type) {
  return elementwise::TypeSet{1} << static_cast<int>(type);
}

// With two attributes, and with derivatives that all differ.
struct TestPolynomial : Elementwise</*inputs=*/1, /*attributes=*/2> {
  static constexpr elementwise::TypeSet kTypes =
      OnlyOf(Type::kHalf) | OnlyOf(Type::kDouble);
  template <typename V>
  static FN_INLINE auto Apply(const V& x, fn::Constant a, fn::Constant b) {
    const auto square = x * x;
    return a * (square * square) + b * square;
  }
};

struct TestProduct : Elementwise</*inputs=*/2> {
  template <typename A, typename B>
  static FN_INLINE auto Apply(const A& a, const B& b) {
    return a * b - a;
  }
};

// The same of integers and complex numbers, which have no derivatives.
struct TestOtherProduct : TestProduct {
  static constexpr elementwise::TypeSet kTypes =
      elementwise::kNumberTypes & ~elementwise::kFloatingTypes;
  static constexpr int kOrder = 0;
};

struct TestLarger : Elementwise</*inputs=*/3> {
  static constexpr elementwise::TypeSet kTypes = OnlyOf(Type::kFloat);
  static constexpr int kOrder = 1;
  template <typename A, typename B, typename C>
  static FN_INLINE auto Apply(const A& a, const B& b, const C& c) {
    return fn::select(a < b, b * c, a);
  }
};

struct TestSum : Elementwise</*inputs=*/4> {
  static constexpr elementwise::TypeSet kTypes =
      OnlyOf(Type::kHalf) | OnlyOf(Type::kFloat) | OnlyOf(Type::kDouble);
  static constexpr int kOrder = 0;
  template <typename A, typename B, typename C, typename D>
  static FN_INLINE auto Apply(const A& a, const B& b, const C& c, const D& d) {
    return a + 2_c * b + 4_c * c + 8_c * d;
  }
};

namespace elementwise {

gpu::Error LaunchTestPolynomial(const GpuArgs& args);
gpu::Error LaunchTestProduct(const GpuArgs& args);
gpu::Error LaunchTestOtherProduct(const GpuArgs& args);
gpu::Error LaunchTestLarger(const GpuArgs& args);
gpu::Error LaunchTestSum(const GpuArgs& args);

}  // namespace elementwise
}  // namespace tensorflow_custom_ops

#endif  // TENSORFLOW_CUSTOM_OPS_CORE_ELEMENTWISE_GPU_TEST_FUNCTORS_H_
