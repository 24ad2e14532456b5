// SPDX-License-Identifier: Apache-2.0
// The rows on the CPU, compiled once for each instruction set, whose name is
// NORMALIZATION_ISA.
//
// A function that two of these objects have under one name would be kept once
// by the linker, and crash processors that lack its instructions. So Eigen and
// this project's own namespace get another name in each, and no other header
// with functions is included after that. isa_symbols_test checks the result.
//
// A row is read from memory once: what passes over it again finds it in the
// cache.
#include "tensorflow_custom_ops/core/normalization/cpu_rows.h"

#include <cmath>

#include "tensorflow_custom_ops/core/isa_namespace.h"

namespace shared = tensorflow_custom_ops::normalization;

#define Eigen ISA_NAME(Eigen, NORMALIZATION_ISA)
#define tensorflow_custom_ops ISA_NAME(tensorflow_custom_ops, NORMALIZATION_ISA)
#define NORMALIZATION_STRING_(a) #a
#define NORMALIZATION_STRING(a) NORMALIZATION_STRING_(a)
#define ROWS_INLINE inline __attribute__((always_inline))

#include "Eigen/Core"

#if defined(__GNUC__) && !defined(__clang__)
// That packets may alias other types is no matter where they are parameters.
#pragma GCC diagnostic ignored "-Wignored-attributes"
#endif

namespace tensorflow_custom_ops {
namespace normalization {
namespace {

using namespace Eigen::internal;  // NOLINT: its operations on packets
using shared::Backward;
using shared::Forward;
using shared::Norm;

// The type in which elements of type T are computed.
template <typename T>
using Compute = std::conditional_t<std::is_same_v<T, double>, double, float>;
// As many elements as a register has, and one.
template <typename T>
using PacketOf = typename packet_traits<Compute<T>>::type;

template <typename P>
constexpr int kSize = unpacket_traits<P>::size;
template <typename P>
using ScalarOf = typename unpacket_traits<P>::type;

// Loads elements as a P, which is a packet or a scalar of the type in which
// they are computed.
template <typename P, typename T>
ROWS_INLINE P Load(const T* from) {
  using Stored = typename packet_traits<T>::type;
  if constexpr (std::is_same_v<T, ScalarOf<P>>) {
    return ploadu<P>(from);
  } else if constexpr (kSize<P> == 1) {
    return static_cast<P>(*from);
  } else if constexpr (kSize<Stored> == kSize<P>) {
    return pcast<Stored, P>(ploadu<Stored>(from));
  } else {
    ScalarOf<P> values[kSize<P>];
    for (int i = 0; i < kSize<P>; ++i) {
      values[i] = static_cast<ScalarOf<P>>(from[i]);
    }
    return ploadu<P>(values);
  }
}

template <typename P, typename T>
ROWS_INLINE void Store(T* to, const P& value) {
  using Stored = typename packet_traits<T>::type;
  if constexpr (std::is_same_v<T, ScalarOf<P>>) {
    pstoreu(to, value);
  } else if constexpr (kSize<P> == 1) {
    *to = static_cast<T>(value);
  } else if constexpr (kSize<Stored> == kSize<P>) {
    pstoreu(to, pcast<P, Stored>(value));
  } else {
    ScalarOf<P> values[kSize<P>];
    pstoreu(values, value);
    for (int i = 0; i < kSize<P>; ++i) to[i] = static_cast<T>(values[i]);
  }
}

// Calls body(P(), i) for each packet P of a row of n elements, which begins at
// element i, and for the last elements with a scalar each.
template <typename T, typename Body>
ROWS_INLINE void ForEach(int64_t n, Body body) {
  using P = PacketOf<T>;
  int64_t i = 0;
  for (; i + 2 * kSize<P> <= n; i += 2 * kSize<P>) {
    body(P(), i);
    body(P(), i + kSize<P>);
  }
  for (; i + kSize<P> <= n; i += kSize<P>) body(P(), i);
  for (; i < n; ++i) body(Compute<T>(), i);
}

// Forms sums over a row. terms(i, sums) adds the terms of the elements from i
// on to `kCount` sums, of packets or scalars.
template <int kCount, typename T, typename Terms>
ROWS_INLINE void Sum(int64_t n, Terms terms, Compute<T> (&result)[kCount]) {
  using P = PacketOf<T>;
  // So many additions do not wait for each other.
  constexpr int kChains = 4;
  P sums[kChains][kCount];
#pragma GCC unroll 4
  for (int chain = 0; chain < kChains; ++chain) {
    for (int k = 0; k < kCount; ++k) sums[chain][k] = pset1<P>(Compute<T>(0));
  }
  int64_t i = 0;
  for (; i + kChains * kSize<P> <= n; i += kChains * kSize<P>) {
#pragma GCC unroll 4
    for (int chain = 0; chain < kChains; ++chain) {
      terms(i + chain * kSize<P>, sums[chain]);
    }
  }
  for (; i + kSize<P> <= n; i += kSize<P>) terms(i, sums[0]);
  for (int k = 0; k < kCount; ++k) {
    result[k] = predux(
        padd(padd(sums[0][k], sums[1][k]), padd(sums[2][k], sums[3][k])));
  }
  Compute<T> last[kCount] = {};
  for (; i < n; ++i) terms(i, last);
  for (int k = 0; k < kCount; ++k) result[k] += last[k];
}

// What is subtracted from a row and what it is multiplied by. The mean has two
// parts: its rounding error would be as large as the elements of a row with a
// large mean and a small variance.
template <typename C>
struct Statistics {
  C mean;
  C mean_rest;
  C inverse;

  template <typename P>
  ROWS_INLINE P Center(const P& x) const {
    return psub(psub(x, pset1<P>(mean)), pset1<P>(mean_rest));
  }
};

template <Norm kNorm, typename C, typename P>
ROWS_INLINE P Normalize(const Statistics<C>& statistics, const P& x) {
  const P inverse = pset1<P>(statistics.inverse);
  if constexpr (kNorm == Norm::kLayer) {
    return pmul(statistics.Center(x), inverse);
  } else {
    return pmul(x, inverse);
  }
}

// The first part of the mean, of a row that is x[0] to x[n - 1].
template <typename T>
ROWS_INLINE Compute<T> Mean(const T* x, int64_t n) {
  Compute<T> sum[1];
  Sum<1, T>(
      n,
      [&](int64_t i, auto& sums) {
        using P = std::decay_t<decltype(sums[0])>;
        sums[0] = padd(sums[0], Load<P>(x + i));
      },
      sum);
  return sum[0] / static_cast<Compute<T>>(n);
}

// From the mean's first part, and from the sums of what is left and of its
// squares. With kRms there is no mean, and nothing is subtracted.
template <Norm kNorm, typename C>
ROWS_INLINE Statistics<C> StatisticsOf(C mean, C sum, C squares, int64_t n,
                                       double epsilon) {
  const C count = static_cast<C>(n);
  C variance = squares / count;
  C rest = 0;
  if constexpr (kNorm == Norm::kLayer) {
    rest = sum / count;
    variance -= rest * rest;
    // By rounding; NaN stays.
    if (variance < 0) variance = 0;
  }
  return {mean, rest, 1 / std::sqrt(variance + static_cast<C>(epsilon))};
}

template <typename T, Norm kNorm>
void ForwardRows(const Forward& args, int64_t begin, int64_t end) {
  using C = Compute<T>;
  const int64_t n = args.n;
  const T* const scale = static_cast<const T*>(args.scale);
  const T* const offset = static_cast<const T*>(args.offset);
  for (int64_t row = begin; row < end; ++row) {
    const T* x = static_cast<const T*>(args.x) + row * n;
    T* const y = static_cast<T*>(args.y) + row * n;
    const T* const residual = static_cast<const T*>(args.residual) + row * n;
    T* const sum = static_cast<T*>(args.sum) + row * n;
    C mean = 0;
    if constexpr (kNorm == Norm::kLayer) mean = Mean(x, n);
    C sums[2] = {};
    Sum<2, T>(
        n,
        [&](int64_t i, auto& sums) {
          using P = std::decay_t<decltype(sums[0])>;
          P value = Load<P>(x + i);
          if constexpr (kNorm == Norm::kRmsResidual) {
            Store(sum + i, padd(value, Load<P>(residual + i)));
            // As it is rounded: the gradient knows no other.
            value = Load<P>(sum + i);
          }
          if constexpr (kNorm == Norm::kLayer) {
            value = psub(value, pset1<P>(mean));
            sums[0] = padd(sums[0], value);
          }
          sums[1] = pmadd(value, value, sums[1]);
        },
        sums);
    const Statistics<C> statistics =
        StatisticsOf<kNorm>(mean, sums[0], sums[1], n, args.epsilon);
    if constexpr (kNorm == Norm::kRmsResidual) x = sum;
    ForEach<T>(n, [&](auto packet, int64_t i) {
      using P = decltype(packet);
      P value = pmul(Normalize<kNorm>(statistics, Load<P>(x + i)),
                     Load<P>(scale + i));
      if constexpr (kNorm == Norm::kLayer) {
        value = padd(value, Load<P>(offset + i));
      }
      Store(y + i, value);
    });
  }
}

template <typename T, Norm kNorm>
void BackwardRows(const Backward& args, int64_t begin, int64_t end,
                  void* sums_of_block) {
  using C = Compute<T>;
  const int64_t n = args.n;
  const C count = static_cast<C>(n);
  const T* const scale = static_cast<const T*>(args.scale);
  C* const scale_sums = static_cast<C*>(sums_of_block);
  C* const offset_sums = scale_sums + n;
  for (int64_t i = 0; i < NumSums(kNorm) * n; ++i) scale_sums[i] = 0;
  for (int64_t row = begin; row < end; ++row) {
    const T* const x = static_cast<const T*>(args.x) + row * n;
    const T* const grad = static_cast<const T*>(args.grad) + row * n;
    const T* const sum_grad = static_cast<const T*>(args.sum_grad) + row * n;
    T* const x_grad = static_cast<T*>(args.x_grad) + row * n;
    C mean = 0;
    if constexpr (kNorm == Norm::kLayer) mean = Mean(x, n);
    // With g = grad * scale: the sums of x, x^2, g and g * x, where the mean is
    // subtracted from x.
    C sums[4] = {};
    Sum<4, T>(
        n,
        [&](int64_t i, auto& sums) {
          using P = std::decay_t<decltype(sums[0])>;
          P value = Load<P>(x + i);
          const P g = pmul(Load<P>(grad + i), Load<P>(scale + i));
          if constexpr (kNorm == Norm::kLayer) {
            value = psub(value, pset1<P>(mean));
            sums[0] = padd(sums[0], value);
            sums[2] = padd(sums[2], g);
          }
          sums[1] = pmadd(value, value, sums[1]);
          sums[3] = pmadd(g, value, sums[3]);
        },
        sums);
    const Statistics<C> statistics =
        StatisticsOf<kNorm>(mean, sums[0], sums[1], n, args.epsilon);
    // What g has of 1 and of the normalised x; the gradient is free of both.
    C of_one = 0;
    C product = sums[3];
    if constexpr (kNorm == Norm::kLayer) {
      of_one = sums[2] / count;
      product -= statistics.mean_rest * sums[2];
    }
    const C of_x = product * statistics.inverse / count;
    ForEach<T>(n, [&](auto packet, int64_t i) {
      using P = decltype(packet);
      const P normalized = Normalize<kNorm>(statistics, Load<P>(x + i));
      const P dy = Load<P>(grad + i);
      P dx = pmul(dy, Load<P>(scale + i));
      if constexpr (kNorm == Norm::kLayer) {
        dx = psub(dx, pset1<P>(of_one));
        Store(offset_sums + i, padd(Load<P>(offset_sums + i), dy));
      }
      dx = psub(dx, pmul(normalized, pset1<P>(of_x)));
      dx = pmul(dx, pset1<P>(statistics.inverse));
      if constexpr (kNorm == Norm::kRmsResidual) {
        dx = padd(dx, Load<P>(sum_grad + i));
      }
      Store(scale_sums + i, pmadd(dy, normalized, Load<P>(scale_sums + i)));
      Store(x_grad + i, dx);
    });
  }
}

template <typename T, Norm kNorm>
void ReduceColumns(const Backward& args, int64_t blocks, int64_t begin,
                   int64_t end, void* all_sums) {
  using C = Compute<T>;
  C* const sums = static_cast<C*>(all_sums);
  const int64_t block_size = NumSums(kNorm) * args.n;
  void* const outputs[] = {args.scale_grad, args.offset_grad};
  for (int k = 0; k < NumSums(kNorm); ++k) {
    C* const first = sums + k * args.n + begin;
    for (int64_t distance = 1; distance < blocks; distance *= 2) {
      for (int64_t block = 0; block + distance < blocks;
           block += 2 * distance) {
        C* const to = first + block * block_size;
        const C* const from = to + distance * block_size;
        ForEach<C>(end - begin, [&](auto packet, int64_t i) {
          using P = decltype(packet);
          Store(to + i, padd(Load<P>(to + i), Load<P>(from + i)));
        });
      }
    }
    T* const output = static_cast<T*>(outputs[k]) + begin;
    ForEach<T>(end - begin, [&](auto packet, int64_t i) {
      using P = decltype(packet);
      Store(output + i, blocks > 0 ? Load<P>(first + i) : pset1<P>(C(0)));
    });
  }
}

template <typename T>
void ForwardOf(const Forward& args, int64_t begin, int64_t end) {
  switch (args.norm) {
    case Norm::kRms:
      return ForwardRows<T, Norm::kRms>(args, begin, end);
    case Norm::kRmsResidual:
      return ForwardRows<T, Norm::kRmsResidual>(args, begin, end);
    case Norm::kLayer:
      return ForwardRows<T, Norm::kLayer>(args, begin, end);
  }
}

template <typename T>
void BackwardOf(const Backward& args, int64_t begin, int64_t end, void* sums) {
  switch (args.norm) {
    case Norm::kRms:
      return BackwardRows<T, Norm::kRms>(args, begin, end, sums);
    case Norm::kRmsResidual:
      return BackwardRows<T, Norm::kRmsResidual>(args, begin, end, sums);
    case Norm::kLayer:
      return BackwardRows<T, Norm::kLayer>(args, begin, end, sums);
  }
}

template <typename T>
void ReduceOf(const Backward& args, int64_t blocks, int64_t begin, int64_t end,
              void* sums) {
  if (HasOffset(args.norm)) {
    ReduceColumns<T, Norm::kLayer>(args, blocks, begin, end, sums);
  } else {
    ReduceColumns<T, Norm::kRms>(args, blocks, begin, end, sums);
  }
}

template <typename T>
constexpr shared::RowFunctions kFunctions = {ForwardOf<T>, BackwardOf<T>,
                                             ReduceOf<T>};

}  // namespace

extern const shared::Rows kRows;
const shared::Rows kRows = {
    NORMALIZATION_STRING(NORMALIZATION_ISA),
    {kFunctions<Eigen::half>, kFunctions<Eigen::bfloat16>, kFunctions<float>,
     kFunctions<double>}};

}  // namespace normalization
}  // namespace tensorflow_custom_ops
