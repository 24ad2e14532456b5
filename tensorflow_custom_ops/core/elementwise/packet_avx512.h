// SPDX-License-Identifier: Apache-2.0
// What packets do otherwise than Eigen for AVX-512: its masks are in registers
// of their own, which Eigen turns into packets and back, and its instructions
// for exponents and significands, which take denormals, infinities and NaN,
// save the branches and selections of Eigen's functions. Part of packet.h.
#ifndef TENSORFLOW_CUSTOM_OPS_CORE_ELEMENTWISE_PACKET_AVX512_H_
#define TENSORFLOW_CUSTOM_OPS_CORE_ELEMENTWISE_PACKET_AVX512_H_

#include <immintrin.h>

#include <cmath>

#include "tensorflow_custom_ops/core/elementwise/value.h"

namespace tensorflow_custom_ops {
namespace fn {

template <>
struct PacketMath<float> {
  using Mask = __mmask16;
  static FN_INLINE Mask Less(__m512 a, __m512 b) {
    return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ);
  }
  static FN_INLINE Mask LessEqual(__m512 a, __m512 b) {
    return _mm512_cmp_ps_mask(a, b, _CMP_LE_OQ);
  }
  static FN_INLINE Mask Equal(__m512 a, __m512 b) {
    return _mm512_cmp_ps_mask(a, b, _CMP_EQ_OQ);
  }
  static FN_INLINE __m512 Select(Mask mask, __m512 a, __m512 b) {
    return _mm512_mask_blend_ps(mask, b, a);
  }

  // Rounded as IEEE 754 says, as Eigen's is not.
  static FN_INLINE __m512 Sqrt(__m512 x) { return _mm512_sqrt_ps(x); }

  static FN_INLINE __m512 Exp(__m512 x) {
    // NaN, as the second operand, remains. Beyond, the result is 0 or infinite.
    x = _mm512_min_ps(Set(89), _mm512_max_ps(Set(-104), x));
    const __m512 n =
        _mm512_roundscale_ps(_mm512_mul_ps(x, Set(0x1.715476p+0)), 0);
    // r = x - n * log(2).
    __m512 r = _mm512_fnmadd_ps(n, Set(0x1.62e4p-1), x);
    r = _mm512_fnmadd_ps(n, Set(0x1.7f7d1cp-20), r);
    // (e^r - 1 - r) / r^2
    static constexpr double kRest[] = {
        0.4999999403953552, 0.1666651964187622, 0.04166839271783829,
        0.008368780836462975, 0.0013814467238262296};
    const __m512 y =
        AddProduct(_mm512_add_ps(r, Set(1)), r, Polynomial(r, kRest));
    return _mm512_scalef_ps(y, n);
  }

  static FN_INLINE __m512 Log(__m512 x) {
    const __m512 significand = Significand(x);
    const __m512 y =
        LogOf(Exponent(x, significand), _mm512_sub_ps(significand, Set(1)));
    // -0 has a significand of its own sign, and no logarithm then.
    return _mm512_mask_blend_ps(Equal(x, Set(0)), y, Set(-HUGE_VALF));
  }

  static FN_INLINE __m512 Log1p(__m512 x) {
    const __m512 sum = _mm512_add_ps(x, Set(1));
    const __m512 significand = Significand(sum);
    const __m512 exponent = Exponent(sum, significand);
    // What the sum lacks to 1 + x. None if that is 0 or infinite.
    const __mmask16 is_regular = _knot_mask16(_mm512_fpclass_ps_mask(
        sum, kPositiveZero | kNegativeZero | kPositiveInfinity));
    const __m512 lacking = _mm512_maskz_scalef_ps(
        is_regular, _mm512_sub_ps(x, _mm512_sub_ps(sum, Set(1))),
        _mm512_sub_ps(Set(0), exponent));
    const __m512 r = _mm512_add_ps(_mm512_sub_ps(significand, Set(1)), lacking);
    // The result has the sign of x, also that of -0.
    return _mm512_or_ps(LogOf(exponent, r), _mm512_and_ps(x, Set(-0.0f)));
  }

  static FN_INLINE __m512 Sigmoid(__m512 x) {
    const __m512 one = Set(1);
    const __m512 sum = _mm512_add_ps(one, Exp(_mm512_xor_ps(x, Set(-0.0f))));
    // 1 / sum by a step of Newton's, which is faster than a division. For an
    // infinite sum the step is NaN, and 0 what it began with.
    const __m512 y = _mm512_rcp14_ps(sum);
    const __m512 error = _mm512_fnmadd_ps(sum, y, one);
    return _mm512_mask3_fmadd_ps(y, error, y,
                                 _mm512_cmp_ps_mask(y, Set(0), _CMP_NEQ_UQ));
  }

 private:
  static constexpr int kPositiveZero = 0x02;
  static constexpr int kNegativeZero = 0x04;
  static constexpr int kPositiveInfinity = 0x08;

  static FN_INLINE __m512 Set(float value) { return _mm512_set1_ps(value); }

  // sum + r^2 * rest. r^2 could be denormal, which would take 100 times longer.
  static FN_INLINE __m512 AddProduct(__m512 sum, __m512 r, __m512 rest) {
    return _mm512_fmadd_ps(_mm512_mul_ps(r, rest), r, sum);
  }

  // In [0.75, 1.5), of zeros and infinities 1, NaN if x is negative.
  static FN_INLINE __m512 Significand(__m512 x) {
    return _mm512_getmant_ps(x, _MM_MANT_NORM_p75_1p5, _MM_MANT_SIGN_nan);
  }
  // The n where x = significand * 2^n.
  static FN_INLINE __m512 Exponent(__m512 x, __m512 significand) {
    return _mm512_sub_ps(_mm512_getexp_ps(x), _mm512_getexp_ps(significand));
  }
  // log((1 + r) * 2^n), where 1 + r is in [0.75, 1.5].
  static FN_INLINE __m512 LogOf(__m512 n, __m512 r) {
    // (log(1 + r) - r) / r^2
    static constexpr double kRest[] = {-0.5,
                                       0.3333345353603363,
                                       -0.250000536441803,
                                       0.19990606606006622,
                                       -0.16647766530513763,
                                       0.14482060074806213,
                                       -0.1316223442554474,
                                       0.104483462870121,
                                       -0.044909752905368805};
    const __m512 y = AddProduct(r, r, Polynomial(r, kRest));
    return _mm512_fmadd_ps(n, Set(0x1.62e43p-1), y);
  }
};

template <>
struct PacketMath<double> {
  using Mask = __mmask8;
  static FN_INLINE Mask Less(__m512d a, __m512d b) {
    return _mm512_cmp_pd_mask(a, b, _CMP_LT_OQ);
  }
  static FN_INLINE Mask LessEqual(__m512d a, __m512d b) {
    return _mm512_cmp_pd_mask(a, b, _CMP_LE_OQ);
  }
  static FN_INLINE Mask Equal(__m512d a, __m512d b) {
    return _mm512_cmp_pd_mask(a, b, _CMP_EQ_OQ);
  }
  static FN_INLINE __m512d Select(Mask mask, __m512d a, __m512d b) {
    return _mm512_mask_blend_pd(mask, b, a);
  }
  static FN_INLINE __m512d Sqrt(__m512d x) { return _mm512_sqrt_pd(x); }
  static FN_INLINE __m512d Exp(__m512d x) { return Eigen::internal::pexp(x); }
  static FN_INLINE __m512d Log(__m512d x) { return Eigen::internal::plog(x); }
  static FN_INLINE __m512d Log1p(__m512d x) {
    return Eigen::internal::plog1p(x);
  }
  static FN_INLINE __m512d Sigmoid(__m512d x) {
    const __m512d one = _mm512_set1_pd(1);
    return _mm512_div_pd(one, _mm512_add_pd(one, Exp(-x)));
  }
};

}  // namespace fn
}  // namespace tensorflow_custom_ops

#endif  // TENSORFLOW_CUSTOM_OPS_CORE_ELEMENTWISE_PACKET_AVX512_H_
