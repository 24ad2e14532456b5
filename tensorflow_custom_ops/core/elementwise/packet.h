// SPDX-License-Identifier: Apache-2.0
// Functors on SIMD packets of Eigen. Included only where Eigen's namespace is
// the instruction set's own: see cpu_functions.cc.
#ifndef TENSORFLOW_CUSTOM_OPS_CORE_ELEMENTWISE_PACKET_H_
#define TENSORFLOW_CUSTOM_OPS_CORE_ELEMENTWISE_PACKET_H_

#include <cmath>
#include <type_traits>

#include "Eigen/Core"
#include "tensorflow_custom_ops/core/elementwise/value.h"
#include "unsupported/Eigen/SpecialFunctions"

namespace tensorflow_custom_ops {
namespace fn {

// As many elements of type T as the instruction set's registers have. Of a type
// that it has no packets of, one.
template <typename T>
struct Packet {
  using Bits = typename Eigen::internal::packet_traits<T>::type;
  static constexpr int kSize = Eigen::internal::unpacket_traits<Bits>::size;
  Bits bits;
};

// What Math takes from here, where it has something better than Eigen for an
// instruction set and type.
template <typename T>
struct PacketMath {
  using Bits = typename Packet<T>::Bits;
  using Mask = Bits;
  static FN_INLINE Mask Less(const Bits& a, const Bits& b) {
    return Eigen::internal::pcmp_lt(a, b);
  }
  static FN_INLINE Mask LessEqual(const Bits& a, const Bits& b) {
    return Eigen::internal::pcmp_le(a, b);
  }
  static FN_INLINE Mask Equal(const Bits& a, const Bits& b) {
    return Eigen::internal::pcmp_eq(a, b);
  }
  static FN_INLINE Bits Select(const Mask& mask, const Bits& a, const Bits& b) {
    return Eigen::internal::pselect(mask, a, b);
  }
  static FN_INLINE Bits Sqrt(const Bits& x) {
    return Eigen::internal::psqrt(x);
  }
  static FN_INLINE Bits Exp(const Bits& x) { return Eigen::internal::pexp(x); }
  static FN_INLINE Bits Log(const Bits& x) { return Eigen::internal::plog(x); }
  static FN_INLINE Bits Log1p(const Bits& x) {
    return Eigen::internal::plog1p(x);
  }
  static FN_INLINE Bits Sigmoid(const Bits& x) {
    const Bits one = Eigen::internal::pset1<Bits>(T(1));
    return Eigen::internal::pdiv(
        one, Eigen::internal::padd(one, Exp(Eigen::internal::pnegate(x))));
  }
};

// The polynomial c[0] + c[1] z + ... of n coefficients.
template <typename Bits, int n>
FN_INLINE Bits Polynomial(const Bits& z, const double (&c)[n]) {
  Bits y = Eigen::internal::pset1<Bits>(c[n - 1]);
#pragma GCC unroll 16
  for (int i = n - 2; i >= 0; --i) {
    y = Eigen::internal::pmadd(y, z, Eigen::internal::pset1<Bits>(c[i]));
  }
  return y;
}

// sin(x + quarters * pi/2) of doubles. Eigen's is wrong by hundreds of ulps
// near multiples of pi, and depends on the other elements of the packet.
template <typename Bits>
FN_INLINE Bits Sine(const Bits& x, int quarters) {
  using namespace Eigen::internal;
  const auto constant = [](double value) { return pset1<Bits>(value); };
  // x = n * pi/2 + r + rest. The first two parts of pi/2 have 33 bits: for
  // |x| < 1e5, their products are exact.
  const Bits n = print(pmul(x, constant(0x1.45f306dc9c883p-1)));
  const Bits first = psub(x, pmul(n, constant(0x1.921fb544p+0)));
  const Bits second = pmul(n, constant(0x1.0b4611a6p-34));
  const Bits difference = psub(first, second);
  const Bits subtracted = psub(difference, first);
  const Bits error =
      psub(psub(first, psub(difference, subtracted)), padd(second, subtracted));
  const Bits third = psub(error, pmul(n, constant(0x1.3198a2e037073p-69)));
  const Bits r = padd(difference, third);
  const Bits rest = padd(psub(difference, r), third);

  // Taylor's series, for |r| <= pi/4.
  static constexpr double kSine[] = {-1.0 / 6,
                                     1.0 / 120,
                                     -1.0 / 5040,
                                     1.0 / 362880,
                                     -1.0 / 39916800,
                                     1.0 / 6227020800,
                                     -1.0 / 1307674368000,
                                     1.0 / 355687428096000};
  static constexpr double kCosine[] = {1.0 / 24,
                                       -1.0 / 720,
                                       1.0 / 40320,
                                       -1.0 / 3628800,
                                       1.0 / 479001600,
                                       -1.0 / 87178291200,
                                       1.0 / 20922789888000,
                                       -1.0 / 6402373705728000};
  const Bits z = pmul(r, r);
  const Bits half_z = pmul(z, constant(0.5));
  const Bits one = constant(1);
  const Bits flat = psub(one, half_z);
  const Bits sine =
      padd(r, pmadd(pmul(r, z), Polynomial(z, kSine), pmul(rest, flat)));
  const Bits cosine =
      padd(flat,
           padd(psub(psub(one, flat), half_z),
                psub(pmul(pmul(z, z), Polynomial(z, kCosine)), pmul(r, rest))));

  // In the quadrant 0 it is sine, then cosine, -sine, -cosine.
  const Bits turns = padd(n, constant(quarters));
  const Bits halves = pfloor(pmul(turns, constant(0.5)));
  const Bits is_even = pcmp_eq(padd(halves, halves), turns);
  const Bits pairs = pfloor(pmul(halves, constant(0.5)));
  const Bits is_positive = pcmp_eq(padd(pairs, pairs), halves);
  const Bits value = pselect(is_even, sine, cosine);
  return pselect(is_positive, value, pnegate(value));
}

// y, but the function of x for each element where `outside` is not 0 but 1.
template <typename T, typename Bits, typename Function>
FN_INLINE Bits Except(const Bits& outside, const Bits& x, const Bits& y,
                      Function function) {
  constexpr int kSize = Eigen::internal::unpacket_traits<Bits>::size;
  if (Eigen::internal::predux(outside) == 0) return y;
  T is_outside[kSize], from[kSize], to[kSize];
  Eigen::internal::pstoreu(is_outside, outside);
  Eigen::internal::pstoreu(from, x);
  Eigen::internal::pstoreu(to, y);
  for (int i = 0; i < kSize; ++i) {
    if (is_outside[i] != 0) to[i] = function(from[i]);
  }
  return Eigen::internal::ploadu<Bits>(to);
}

}  // namespace fn
}  // namespace tensorflow_custom_ops

#ifdef __AVX512F__
#include "tensorflow_custom_ops/core/elementwise/packet_avx512.h"
#endif

namespace tensorflow_custom_ops {
namespace fn {

template <typename T>
struct Math<Packet<T>> {
  using V = Packet<T>;
  using Bits = typename V::Bits;
  using MaskBits = typename PacketMath<T>::Mask;
  using Traits = Eigen::internal::packet_traits<T>;

  template <typename Like>
  static FN_INLINE V Constant(const Like&, double value) {
    return {Eigen::internal::pset1<Bits>(static_cast<T>(value))};
  }
  static FN_INLINE V Negate(V x) { return {Eigen::internal::pnegate(x.bits)}; }
  static FN_INLINE V Add(V a, V b) {
    return {Eigen::internal::padd(a.bits, b.bits)};
  }
  static FN_INLINE V Subtract(V a, V b) {
    return {Eigen::internal::psub(a.bits, b.bits)};
  }
  static FN_INLINE V Multiply(V a, V b) {
    return {Eigen::internal::pmul(a.bits, b.bits)};
  }
  static FN_INLINE V Divide(V a, V b) {
    static_assert(!std::is_integral_v<T>, "a division by zero would be fatal");
    return {Eigen::internal::pdiv(a.bits, b.bits)};
  }

  static FN_INLINE MaskBits Less(V a, V b) {
    return PacketMath<T>::Less(a.bits, b.bits);
  }
  static FN_INLINE MaskBits LessEqual(V a, V b) {
    return PacketMath<T>::LessEqual(a.bits, b.bits);
  }
  static FN_INLINE MaskBits Equal(V a, V b) {
    return PacketMath<T>::Equal(a.bits, b.bits);
  }
  static FN_INLINE V Select(MaskBits mask, V a, V b) {
    return {PacketMath<T>::Select(mask, a.bits, b.bits)};
  }

  static FN_INLINE V Max(V a, V b) {
    // Eigen's is b where one of the two is NaN, and of -0 and 0.
    return Select(Equal(a, a), {Eigen::internal::pmax(b.bits, a.bits)}, a);
  }
  static FN_INLINE V Min(V a, V b) {
    return Select(Equal(a, a), {Eigen::internal::pmin(b.bits, a.bits)}, a);
  }
  static FN_INLINE V Abs(V x) { return {Eigen::internal::pabs(x.bits)}; }
  static FN_INLINE V Sign(V x) { return {Eigen::internal::psign(x.bits)}; }
  static FN_INLINE V Floor(V x) { return {Eigen::internal::pfloor(x.bits)}; }
  static FN_INLINE V Round(V x) { return {Eigen::internal::print(x.bits)}; }

  static FN_INLINE V Exp(V x) { return {PacketMath<T>::Exp(x.bits)}; }
  static FN_INLINE V Expm1(V x) { return {Eigen::internal::pexpm1(x.bits)}; }
  static FN_INLINE V Log(V x) { return {PacketMath<T>::Log(x.bits)}; }
  static FN_INLINE V Log1p(V x) { return {PacketMath<T>::Log1p(x.bits)}; }
  static FN_INLINE V Sqrt(V x) { return {PacketMath<T>::Sqrt(x.bits)}; }
  static FN_INLINE V Rsqrt(V x) { return {Eigen::internal::prsqrt(x.bits)}; }
  static FN_INLINE V Pow(V x, double exponent) {
    return {Eigen::internal::generic_pow(x.bits, Constant(x, exponent).bits)};
  }
  static FN_INLINE V Tanh(V x) { return {Eigen::internal::ptanh(x.bits)}; }
  static FN_INLINE V Sigmoid(V x) { return {PacketMath<T>::Sigmoid(x.bits)}; }
  static FN_INLINE V Sin(V x) {
    if constexpr (std::is_same_v<T, double>) {
      // 0 keeps its sign.
      const V outside =
          Select(Equal(x, Constant(x, 0)), Constant(x, 1), IsLarge(x));
      return {Except<T>(outside.bits, x.bits, Sine(x.bits, 0),
                        [](T value) { return std::sin(value); })};
    } else {
      return {Eigen::internal::psin(x.bits)};
    }
  }
  static FN_INLINE V Cos(V x) {
    if constexpr (std::is_same_v<T, double>) {
      return {Except<T>(IsLarge(x).bits, x.bits, Sine(x.bits, 1),
                        [](T value) { return std::cos(value); })};
    } else {
      return {Eigen::internal::pcos(x.bits)};
    }
  }
  static FN_INLINE V Erf(V x) {
    // It is 1 or -1 beyond. There the square of x may be infinite, of which
    // Eigen makes NaN.
    const V near = Max(Min(x, Constant(x, 6.5)), Constant(x, -6.5));
    return {Eigen::internal::perf(near.bits)};
  }
  static FN_INLINE V Erfc(V x) {
    if constexpr (std::is_same_v<T, float>) {
      // Eigen's has two approximations, and computes both nearly always.
      const V y{ErfcOfPositive(Min(Abs(x), Constant(x, 11)).bits)};
      return Select(Less(x, Constant(x, 0)), Subtract(Constant(x, 2), y), y);
    } else {
      // Eigen's takes NaN for a number.
      const V y = Select(Equal(x, x), {Eigen::internal::perfc(x.bits)}, x);
#ifdef EIGEN_VECTORIZE_FMA
      return y;
#else
      // It also corrects e^(-x^2) by what may be denormal, and flushed to zero.
      const V tail =
          Select(Less(Constant(x, 26), x), Constant(x, 1), Constant(x, 0));
      return {Except<T>(tail.bits, x.bits, y.bits,
                        [](T value) { return std::erfc(value); })};
#endif
    }
  }

 private:
  // For 0 <= x <= 11, a float. It is e^(-x^2) * t times a polynomial of t, the
  // minimax one but for what rounding adds, for t = 1 / (1 + x / 2).
  static FN_INLINE Bits ErfcOfPositive(const Bits& x) {
    using namespace Eigen::internal;
    static constexpr double kFactor[] = {
        0.2820850227649399, 0.2823998048416525,   0.2429254819692309,
        0.2033921742876373, -0.02829181897885889, 0.2804840805943553,
        -0.489310724189029, 0.2855934420400598,   -0.05927750705490666};
    const Bits one = pset1<Bits>(T(1));
    const Bits square = pmul(x, x);
    // What the square lacks, times which e^(-x^2) has an error.
    const Bits low = twoprod_low(x, x, square);
    const Bits gauss = PacketMath<T>::Exp(pnegate(square));
    const Bits t = preciprocal(pmadd(x, pset1<Bits>(T(0.5)), one));
    const Bits factor = pmul(t, Polynomial(t, kFactor));
    // Not times e^(-x^2) first, for what that becomes may be denormal.
    return pmul(gauss, pnmadd(factor, low, factor));
  }
  // 1 where x is too large for Sine, or NaN, else 0.
  static FN_INLINE V IsLarge(V x) {
    return Select(Less(Abs(x), Constant(x, 1e5)), Constant(x, 0),
                  Constant(x, 1));
  }
};

}  // namespace fn
}  // namespace tensorflow_custom_ops

#endif  // TENSORFLOW_CUSTOM_OPS_CORE_ELEMENTWISE_PACKET_H_
