// SPDX-License-Identifier: Apache-2.0
// What a functor computes with: values of one of several kinds (a number, a
// SIMD packet, a node of a graph), constants, and the operators between them.
// Functors see no kind: they are templates, written once.
#ifndef TENSORFLOW_CUSTOM_OPS_CORE_ELEMENTWISE_VALUE_H_
#define TENSORFLOW_CUSTOM_OPS_CORE_ELEMENTWISE_VALUE_H_

#include <type_traits>

// Of every function that a functor calls, and of the functor's own. They must
// be inlined: a call would spill a packet, and in the emulator's coroutines and
// on a GPU it would cost more than the function.
#ifdef __CUDACC__
#define FN_INLINE __host__ __device__ __forceinline__
#else
#define FN_INLINE __attribute__((always_inline)) inline
#endif

namespace tensorflow_custom_ops {
namespace fn {

// A number that is the same for all elements: a literal or an attribute. It
// gets a type where it meets a value.
struct Constant {
  double value;
};

// Literals for functors: 0.5_c, 2_c.
constexpr Constant operator""_c(long double value) {
  return {static_cast<double>(value)};
}
constexpr Constant operator""_c(unsigned long long value) {
  return {static_cast<double>(value)};
}

// The derivative of what does not depend on the variable. It is a type, so that
// no 0 * infinity is ever computed.
struct Zero {};

// The operations of a kind of values, for each kind a specialisation:
// scalar.h, packet.h, traced.h.
template <typename V>
struct Math;

// The result of a comparison of values of kind V.
template <typename V>
struct Mask {
  typename Math<V>::MaskBits bits;
};

// A value with its derivatives in some directions; see dual.h.
template <typename V, typename... T>
struct Dual;

// How many duals are nested in a type: 0 for a kind's own values, -1 for
// constants, and -2 for what is no value.
template <typename V, typename = void>
constexpr int kDepth = -2;
template <>
inline constexpr int kDepth<Zero> = -1;
template <>
inline constexpr int kDepth<Constant> = -1;
template <typename V>
constexpr int
    kDepth<V, std::enable_if_t<(sizeof(typename Math<V>::MaskBits) > 0)>> = 0;
template <typename V, typename... T>
constexpr int kDepth<Dual<V, T...>> = 1 + (kDepth<V> < 0 ? 0 : kDepth<V>);

template <typename V>
constexpr bool kIsZero = std::is_same_v<V, Zero>;
template <typename V>
constexpr bool kIsConstant = std::is_same_v<V, Constant>;
template <typename V>
constexpr bool kIsValue = kDepth<V> > -2;

// The kind of values that is inside a dual, or in one of several types.
template <typename... V>
struct KindOf;
template <typename V>
struct KindOf<V> {
  using Type = V;
};
template <typename V, typename... T>
struct KindOf<Dual<V, T...>> {
  using Type = typename KindOf<V>::Type;
};
template <typename V, typename W>
struct KindOf<V, W> {
  using Type =
      typename KindOf<std::conditional_t<(kDepth<V> >= 0), V, W>>::Type;
};
template <typename... V>
using Kind = typename KindOf<V...>::Type;

// A value or constant as a value of kind V. `like` is a value or a mask of that
// kind.
template <typename V, typename A, typename Like>
FN_INLINE V Promote(const A& a, const Like& like) {
  if constexpr (kIsZero<A>) {
    return Math<V>::Constant(like, 0);
  } else if constexpr (kIsConstant<A>) {
    return Math<V>::Constant(like, a.value);
  } else {
    return a;
  }
}

template <typename... V>
using IfValues = std::enable_if_t<(kIsValue<V> && ...), int>;

}  // namespace fn
}  // namespace tensorflow_custom_ops

#endif  // TENSORFLOW_CUSTOM_OPS_CORE_ELEMENTWISE_VALUE_H_
