// SPDX-License-Identifier: Apache-2.0
// Products of bfloat16 by the instructions of AVX512_BF16, which multiply pairs
// of numbers and add both products to a float32. They take denormal numbers for
// zeros.
#ifndef TENSORFLOW_CUSTOM_OPS_OPS_FLASH_ATTENTION_FLASH_ATTENTION_PAIRS_H_
#define TENSORFLOW_CUSTOM_OPS_OPS_FLASH_ATTENTION_FLASH_ATTENTION_PAIRS_H_

#ifdef __AVX512BF16__

#include <immintrin.h>

#include <cstdint>
#include <cstring>

#include "Eigen/Core"
#include "tensorflow_custom_ops/ops/flash_attention/flash_attention_problem.h"
#include "tensorflow_custom_ops/ops/flash_attention/flash_attention_product.h"

namespace tensorflow_custom_ops {
namespace flash_attention {
namespace FLASH_ATTENTION_ISA {
namespace {

// The bits of numbers that follow each other in a row of the left matrix, or in
// a column of the right one.
struct Pair {
  uint16_t first;
  uint16_t second;
};

template <>
struct Operand<Pair> {
  using Number = Eigen::bfloat16;
  static constexpr int64_t kNumbers = 2;
  using Sum = float;

  static __m512bh Load(const Pair* elements) {
    return (__m512bh)_mm512_loadu_si512(elements);
  }
  static __m512bh Broadcast(const Pair& element) {
    int32_t bits;
    std::memcpy(&bits, &element, sizeof(bits));
    return (__m512bh)_mm512_set1_epi32(bits);
  }
  static __m512 MultiplyAdd(__m512bh x, __m512bh y, __m512 sum) {
    return _mm512_dpbf16_ps(sum, x, y);
  }
};

// A row as elements.
inline void LoadRow(const Eigen::bfloat16* row, int64_t n, Pair* elements) {
  if (n % 2 != 0) elements[n / 2].second = 0;
  std::memcpy(elements, row, n * sizeof(*row));
}

// Panels whose rows are pairs of the given ones; see the other PackRows.
inline void PackRows(const Eigen::bfloat16* rows, int64_t stride, int64_t count,
                     int64_t columns, int64_t panel_rows, Pair* panels) {
  constexpr int64_t kW = kWidth<float>;
  for (int64_t column = 0; column < RoundUp(columns, kPanel<float>);
       column += kW) {
    const int64_t rest = columns - column;
    const auto mask = static_cast<__mmask16>(rest >= kW ? 0xffff
                                             : rest > 0 ? (1 << rest) - 1
                                                        : 0);
    Pair* output =
        panels +
        column / kPanel<float> * kPanel<float> * Elements<Pair>(panel_rows) +
        column % kPanel<float>;
    const auto load = [&](int64_t i) {
      return _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(
          i < count ? mask : 0, rows + i * stride + column));
    };
    for (int64_t i = 0; i < count; i += 2) {
      _mm512_storeu_si512(
          output, _mm512_or_si512(load(i), _mm512_slli_epi32(load(i + 1), 16)));
      output += kPanel<float>;
    }
  }
}

// Rounds numbers of a row; the first of them is that at an even `i`.
inline void StoreNumbers(__m512 numbers, int64_t i, Pair* row) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(row + i / 2),
                      (__m256i)_mm512_cvtneps_pbh(numbers));
}

// Rounds the numbers of some columns, from multiples of kWidth on, of `count`
// rows. The pairs of each column take the place of one row in two.
inline void PairRows(int64_t count, Range columns, float* rows,
                     int64_t stride) {
  const __m512i in_turns = _mm512_set_epi16(
      31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8, 23, 7, 22,
      6, 21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
  for (int64_t i = 0; i < count; i += 2) {
    float* const row = rows + i * stride;
    for (int64_t j = columns.begin; j < columns.end; j += kWidth<float>) {
      const __m512 second = i + 1 < count ? _mm512_loadu_ps(row + stride + j)
                                          : _mm512_setzero_ps();
      const auto both =
          (__m512i)_mm512_cvtne2ps_pbh(second, _mm512_loadu_ps(row + j));
      _mm512_storeu_si512(row + j, _mm512_permutexvar_epi16(in_turns, both));
    }
  }
}

}  // namespace
}  // namespace FLASH_ATTENTION_ISA
}  // namespace flash_attention
}  // namespace tensorflow_custom_ops

#endif  // __AVX512BF16__

#endif  // TENSORFLOW_CUSTOM_OPS_OPS_FLASH_ATTENTION_FLASH_ATTENTION_PAIRS_H_
