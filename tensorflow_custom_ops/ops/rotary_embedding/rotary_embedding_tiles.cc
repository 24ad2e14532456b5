// SPDX-License-Identifier: Apache-2.0
// Turns rows, compiled once for each instruction set; ROTARY_EMBEDDING_ISA is
// its name. As in core/elementwise/cpu_functions.h, Eigen and this project's
// own namespace get another name in each.
#include "tensorflow_custom_ops/ops/rotary_embedding/rotary_embedding_tiles.h"

#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "tensorflow_custom_ops/core/isa_namespace.h"

namespace shared = tensorflow_custom_ops::rotary_embedding;

#define Eigen ISA_NAME(Eigen, ROTARY_EMBEDDING_ISA)
#define tensorflow_custom_ops \
  ISA_NAME(tensorflow_custom_ops, ROTARY_EMBEDDING_ISA)
#define ROTARY_EMBEDDING_STRING_(a) #a
#define ROTARY_EMBEDDING_STRING(a) ROTARY_EMBEDDING_STRING_(a)

#include "Eigen/Core"
#include "tensorflow_custom_ops/core/elementwise/packet.h"

namespace tensorflow_custom_ops {
namespace rotary_embedding {
namespace {

using Eigen::internal::padd;
using Eigen::internal::ploadu;
using Eigen::internal::pmadd;
using Eigen::internal::pmsub;
using Eigen::internal::pmul;
using Eigen::internal::pset1;
using Eigen::internal::pstoreu;
using shared::Problem;

// So many pairs of a head, of which the cosines and sines fit the first cache,
// are turned at a time.
constexpr int64_t kMostPairs = 256;

template <typename T>
using Compute = std::conditional_t<(sizeof(T) < sizeof(float)), float, T>;
template <typename T>
using Array = Eigen::Map<Eigen::Array<T, Eigen::Dynamic, 1>>;
template <typename T>
using ConstArray = Eigen::Map<const Eigen::Array<T, Eigen::Dynamic, 1>>;
template <typename T>
using Strided = Eigen::Map<Eigen::Array<T, Eigen::Dynamic, 1>, Eigen::Unaligned,
                           Eigen::InnerStride<2>>;

int64_t Pairs(const Problem& problem) { return problem.rotary_dim / 2; }

double Position(const Problem& problem, int64_t p) {
  if (problem.positions32 != nullptr) return problem.positions32[p];
  if (problem.positions64 != nullptr) {
    return static_cast<double>(problem.positions64[p]);
  }
  return static_cast<double>(p);
}

// The cosines and sines of n pairs at a position, in double. The arrays have
// room for kMostPairs.
void CosinesAndSines(double position, const double* frequencies, int64_t n,
                     double* cosines, double* sines) {
  // What fn::Sine reduces exactly: multiples of pi/2 of 20 bits.
  constexpr double kMostAngle = 1.6e6;
  using Bits = fn::Packet<double>::Bits;
  constexpr int kSize = fn::Packet<double>::kSize;
  static_assert(kMostPairs % kSize == 0);
  double angles[kMostPairs];
  Array<double>(angles, n) = ConstArray<double>(frequencies, n) * position;
  if (!(ConstArray<double>(angles, n).abs().maxCoeff() < kMostAngle)) {
    for (int64_t i = 0; i < n; ++i) {
      cosines[i] = std::cos(angles[i]);
      sines[i] = std::sin(angles[i]);
    }
    return;
  }
  const int64_t rounded = (n + kSize - 1) / kSize * kSize;
  for (int64_t i = n; i < rounded; ++i) angles[i] = 0;
  for (int64_t i = 0; i < rounded; i += kSize) {
    const Bits angle = ploadu<Bits>(angles + i);
    pstoreu(cosines + i, fn::Sine(angle, 1));
    pstoreu(sines + i, fn::Sine(angle, 0));
  }
}

// What the pairs of all heads at one position are turned by.
template <typename C>
struct Turns {
  // Interleaved as the elements are: cosine and sine of each pair; else all
  // cosines, and then from kMostPairs on all sines.
  C values[2 * kMostPairs];

  void Set(const Problem& problem, int64_t p, const double* frequencies,
           int64_t n) {
    double cosines[kMostPairs];
    double sines[kMostPairs];
    CosinesAndSines(Position(problem, p), frequencies, n, cosines, sines);
    const auto to_cosines = Array<double>(cosines, n).cast<C>();
    const auto to_sines =
        (Array<double>(sines, n) * (problem.inverse ? -1.0 : 1.0))
            .template cast<C>();
    if (problem.interleaved) {
      Strided<C>(values, n) = to_cosines;
      Strided<C>(values + 1, n) = to_sines;
    } else {
      Array<C>(values, n) = to_cosines;
      Array<C>(values + kMostPairs, n) = to_sines;
    }
  }
};

template <typename C>
void TurnOne(C cosine, C sine, C first, C second, C* to_first, C* to_second) {
  *to_first = first * cosine - second * sine;
  *to_second = second * cosine + first * sine;
}

// Turns n pairs, of which the first and the second elements are apart. The
// outputs may be the inputs.
template <typename C>
void TurnHalves(const Turns<C>& turns, int64_t n, const C* first,
                const C* second, C* to_first, C* to_second) {
  using Bits = typename fn::Packet<C>::Bits;
  constexpr int kSize = fn::Packet<C>::kSize;
  const C* const cosines = turns.values;
  const C* const sines = turns.values + kMostPairs;
  int64_t i = 0;
  for (; i + kSize <= n; i += kSize) {
    const Bits cosine = ploadu<Bits>(cosines + i);
    const Bits sine = ploadu<Bits>(sines + i);
    const Bits a = ploadu<Bits>(first + i);
    const Bits b = ploadu<Bits>(second + i);
    pstoreu(to_first + i, pmsub(a, cosine, pmul(b, sine)));
    pstoreu(to_second + i, pmadd(b, cosine, pmul(a, sine)));
  }
  for (; i < n; ++i) {
    TurnOne(cosines[i], sines[i], first[i], second[i], to_first + i,
            to_second + i);
  }
}

// Turns n pairs, the elements of each beside each other: products of complex
// numbers. The output may be the input.
template <typename C>
void TurnInterleaved(const Turns<C>& turns, int64_t n, const C* from, C* to) {
  using Complex = std::complex<C>;
  using Bits = typename fn::Packet<Complex>::Bits;
  constexpr int kSize = fn::Packet<Complex>::kSize;
  const Complex* const factors = reinterpret_cast<const Complex*>(turns.values);
  int64_t i = 0;
  for (; i + kSize <= n; i += kSize) {
    const Bits x = ploadu<Bits>(reinterpret_cast<const Complex*>(from) + i);
    pstoreu(reinterpret_cast<Complex*>(to) + i,
            pmul(x, ploadu<Bits>(factors + i)));
  }
  for (; i < n; ++i) {
    TurnOne(turns.values[2 * i], turns.values[2 * i + 1], from[2 * i],
            from[2 * i + 1], to + 2 * i, to + 2 * i + 1);
  }
}

// Turns pairs i...i+n-1 of a head. Half types are converted to float and back.
template <typename T>
void TurnHead(const Problem& problem, const Turns<Compute<T>>& turns, int64_t i,
              int64_t n, const T* from, T* to) {
  using C = Compute<T>;
  if constexpr (std::is_same_v<T, C>) {
    if (problem.interleaved) {
      TurnInterleaved(turns, n, from + 2 * i, to + 2 * i);
    } else {
      const int64_t second = i + Pairs(problem);
      TurnHalves(turns, n, from + i, from + second, to + i, to + second);
    }
  } else {
    C values[2 * kMostPairs];
    if (problem.interleaved) {
      Array<C>(values, 2 * n) =
          ConstArray<T>(from + 2 * i, 2 * n).template cast<C>();
      TurnInterleaved(turns, n, values, values);
      Array<T>(to + 2 * i, 2 * n) = Array<C>(values, 2 * n).template cast<T>();
    } else {
      const int64_t second = i + Pairs(problem);
      Array<C>(values, n) = ConstArray<T>(from + i, n).template cast<C>();
      Array<C>(values + n, n) =
          ConstArray<T>(from + second, n).template cast<C>();
      TurnHalves(turns, n, values, values + n, values, values + n);
      Array<T>(to + i, n) = Array<C>(values, n).template cast<T>();
      Array<T>(to + second, n) = Array<C>(values + n, n).template cast<T>();
    }
  }
}

// Copies what does not turn.
template <typename T>
void CopyRest(const Problem& problem, const T* from, T* to) {
  const int64_t rest = problem.head_dim - problem.rotary_dim;
  if (rest == 0 || from == to) return;
  for (int64_t head = 0; head < problem.heads; ++head) {
    const int64_t offset = head * problem.head_dim + problem.rotary_dim;
    std::memcpy(to + offset, from + offset, rest * sizeof(T));
  }
}

template <typename T>
void Turn(const Problem& problem, const double* frequencies, int64_t begin,
          int64_t end) {
  const int64_t row_size = problem.heads * problem.head_dim;
  const auto offset = [&](int64_t row) {
    const int64_t p = row / problem.repeats;
    const int64_t r = row % problem.repeats;
    return (r * problem.count + p) * row_size;
  };
  const T* const input = static_cast<const T*>(problem.input);
  T* const output = static_cast<T*>(problem.output);
  Turns<Compute<T>> turns;
  while (begin < end) {
    // The rows of one position.
    const int64_t p = begin / problem.repeats;
    const int64_t next = (p + 1) * problem.repeats;
    const int64_t stop = next < end ? next : end;
    for (int64_t i = 0; i < Pairs(problem); i += kMostPairs) {
      const int64_t left = Pairs(problem) - i;
      const int64_t n = left < kMostPairs ? left : kMostPairs;
      turns.Set(problem, p, frequencies + i, n);
      for (int64_t row = begin; row < stop; ++row) {
        const T* from = input + offset(row);
        T* to = output + offset(row);
        for (int64_t head = 0; head < problem.heads; ++head) {
          TurnHead(problem, turns, i, n, from, to);
          from += problem.head_dim;
          to += problem.head_dim;
        }
      }
    }
    for (int64_t row = begin; row < stop; ++row) {
      CopyRest(problem, input + offset(row), output + offset(row));
    }
    begin = stop;
  }
}

}  // namespace
}  // namespace rotary_embedding

extern const shared::TileFunctions kRotaryEmbeddingTiles;
const shared::TileFunctions kRotaryEmbeddingTiles = {
    ROTARY_EMBEDDING_STRING(ROTARY_EMBEDDING_ISA),
    rotary_embedding::Turn<Eigen::half>,
    rotary_embedding::Turn<Eigen::bfloat16>,
    rotary_embedding::Turn<float>,
    rotary_embedding::Turn<double>,
};

}  // namespace tensorflow_custom_ops
