// SPDX-License-Identifier: Apache-2.0
#include "tensorflow_custom_ops/ops/rotary_embedding/rotary_embedding_gpu.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "tensorflow_custom_ops/core/gpu/device.h"
#include "tensorflow_custom_ops/core/gpu/launch.h"
#include "tensorflow_custom_ops/core/gpu/vector.h"

namespace tensorflow_custom_ops {
namespace rotary_embedding {
namespace {

using gpu::ComputeType;
using gpu::Vector;

// Of heads, by a thread: for fewer, it is not worth that another thread
// computes the same cosines and sines.
constexpr int64_t kFewestHeads = 8;
// The most that a grid may have in its second dimension.
constexpr int64_t kMostHeadBlocks = 65535;

// angle - n * pi/2, of which pi/2 has two parts, for the nearest integer n.
__device__ inline double Subtract(double angle, double n) {
  return std::fma(-n, 0x1.1a62633145c07p-54,
                  std::fma(-n, 0x1.921fb54442d18p+0, angle));
}

// The cosine and sine of an angle. (CUDA's own function for doubles keeps
// variables in memory.) For a large angle the nearest integer is off by some,
// and the second step takes what is left.
template <typename C>
__device__ void CosineAndSine(double angle, C* cosine, C* sine) {
  constexpr double kTwoOverPi = 0x1.45f306dc9c883p-1;
  const double n = std::rint(angle * kTwoOverPi);
  const double rest = Subtract(angle, n);
  const double more = std::rint(rest * kTwoOverPi);
  const C r = static_cast<C>(Subtract(rest, more));
  // Of n, which may be beyond any integer, the last bits.
  const double turns = n - 4 * std::floor(n / 4);
  const int quadrant = (static_cast<int>(turns) + static_cast<int>(more)) & 3;

  // Taylor's series, for |r| <= pi/4.
  constexpr int kTerms = sizeof(C) == sizeof(float) ? 4 : 8;
  constexpr double kSine[] = {-1.0 / 6,
                              1.0 / 120,
                              -1.0 / 5040,
                              1.0 / 362880,
                              -1.0 / 39916800,
                              1.0 / 6227020800,
                              -1.0 / 1307674368000,
                              1.0 / 355687428096000};
  constexpr double kCosine[] = {1.0 / 24,
                                -1.0 / 720,
                                1.0 / 40320,
                                -1.0 / 3628800,
                                1.0 / 479001600,
                                -1.0 / 87178291200,
                                1.0 / 20922789888000,
                                -1.0 / 6402373705728000};
  const C z = r * r;
  C s = static_cast<C>(kSine[kTerms - 1]);
  C c = static_cast<C>(kCosine[kTerms - 1]);
  for (int i = kTerms - 2; i >= 0; --i) {
    s = s * z + static_cast<C>(kSine[i]);
    c = c * z + static_cast<C>(kCosine[i]);
  }
  s = r + r * z * s;
  c = 1 - z / 2 + z * z * c;
  const C from_sine = (quadrant & 1) != 0 ? c : s;
  const C from_cosine = (quadrant & 1) != 0 ? s : c;
  *sine = (quadrant & 2) != 0 ? -from_sine : from_sine;
  *cosine = ((quadrant + 1) & 2) != 0 ? -from_cosine : from_cosine;
}

__device__ inline double Position(const Problem& problem, int64_t p) {
  if (problem.positions32 != nullptr) return problem.positions32[p];
  if (problem.positions64 != nullptr) {
    return static_cast<double>(problem.positions64[p]);
  }
  return static_cast<double>(p);
}

template <typename T>
struct Pair {
  T values[2];
};

// A thread has kWidth pairs beside each other at one position, in every so many
// heads of all repeats: it computes their cosines and sines once. Other threads
// copy kWidth elements that do not turn. `lanes` is how many there are of both,
// for one position.
template <typename T, int kWidth>
__global__ void __launch_bounds__(gpu::kThreads)
    RotaryEmbeddingKernel(Problem problem, double log2_base, int64_t lanes) {
  using C = ComputeType<T>;
  using Elements = Vector<T, kWidth>;
  // A pair alone may begin anywhere.
  using Pairs = std::conditional_t<kWidth == 1, Pair<T>, Vector<T, 2 * kWidth>>;
  const T* const input = static_cast<const T*>(problem.input);
  T* const output = static_cast<T*>(problem.output);
  const int64_t pairs = problem.rotary_dim / 2;
  const int64_t heads = problem.repeats * problem.heads;
  for (int64_t unit = gpu::GridThread(); unit < problem.count * lanes;
       unit += gpu::GridThreads()) {
    const int64_t p = unit / lanes;
    const int64_t first = unit % lanes * kWidth;
    C cosines[kWidth] = {};
    C sines[kWidth] = {};
    if (first < pairs) {
      const double position = Position(problem, p);
      for (int i = 0; i < kWidth; ++i) {
        const double exponent = -2.0 * static_cast<double>(first + i) /
                                static_cast<double>(problem.rotary_dim) *
                                log2_base;
        CosineAndSine(position * std::exp2(exponent), &cosines[i], &sines[i]);
        if (problem.inverse) sines[i] = -sines[i];
      }
    }
    for (int64_t head = blockIdx.y; head < heads; head += gridDim.y) {
      const int64_t row = head / problem.heads * problem.count + p;
      const int64_t offset =
          (row * problem.heads + head % problem.heads) * problem.head_dim;
      if (first >= pairs) {
        const int64_t i = offset + pairs + first;
        *reinterpret_cast<Elements*>(output + i) =
            *reinterpret_cast<const Elements*>(input + i);
      } else if (problem.interleaved) {
        const int64_t i = offset + 2 * first;
        Pairs x = *reinterpret_cast<const Pairs*>(input + i);
        for (int j = 0; j < kWidth; ++j) {
          const C a = static_cast<C>(x.values[2 * j]);
          const C b = static_cast<C>(x.values[2 * j + 1]);
          x.values[2 * j] = static_cast<T>(a * cosines[j] - b * sines[j]);
          x.values[2 * j + 1] = static_cast<T>(b * cosines[j] + a * sines[j]);
        }
        *reinterpret_cast<Pairs*>(output + i) = x;
      } else {
        const int64_t i = offset + first;
        Elements x = *reinterpret_cast<const Elements*>(input + i);
        Elements y = *reinterpret_cast<const Elements*>(input + i + pairs);
        for (int j = 0; j < kWidth; ++j) {
          const C a = static_cast<C>(x.values[j]);
          const C b = static_cast<C>(y.values[j]);
          x.values[j] = static_cast<T>(a * cosines[j] - b * sines[j]);
          y.values[j] = static_cast<T>(b * cosines[j] + a * sines[j]);
        }
        *reinterpret_cast<Elements*>(output + i) = x;
        *reinterpret_cast<Elements*>(output + i + pairs) = y;
      }
    }
  }
}

template <typename T, int kWidth>
gpu::Error LaunchWidth(gpu::Stream stream, const Problem& problem) {
  const int64_t pairs = problem.rotary_dim / 2;
  const int64_t rest = problem.input == problem.output
                           ? 0
                           : problem.head_dim - problem.rotary_dim;
  const int64_t lanes = (pairs + rest) / kWidth;
  const int64_t heads = problem.repeats * problem.heads;
  if (problem.count * lanes == 0 || heads == 0) return cudaSuccess;
  const unsigned x = gpu::Blocks(problem.count * lanes);
  // Few positions leave blocks to share the heads.
  const int64_t y = std::min({(heads - 1) / kFewestHeads + 1, kMostHeadBlocks,
                              gpu::kMostBlocks / static_cast<int64_t>(x)});
  return gpu::Launch(RotaryEmbeddingKernel<T, kWidth>,
                     dim3(x, static_cast<unsigned>(y)), gpu::kThreads, 0,
                     stream, problem, std::log2(problem.base), lanes);
}

template <typename T>
gpu::Error Launch(gpu::Stream stream, const Problem& problem) {
  // Interleaved pairs of this width are one vector.
  constexpr int kWidth = gpu::kVectorWidth<T> / 2;
  const bool vectors = problem.rotary_dim % (2 * kWidth) == 0 &&
                       problem.head_dim % (2 * kWidth) == 0 &&
                       gpu::IsVectorAligned(problem.input) &&
                       gpu::IsVectorAligned(problem.output);
  return vectors ? LaunchWidth<T, kWidth>(stream, problem)
                 : LaunchWidth<T, 1>(stream, problem);
}

}  // namespace

gpu::Error LaunchRotaryEmbedding(gpu::Stream stream, gpu::Type type,
                                 const Problem& problem) {
  switch (type) {
    case gpu::Type::kHalf:
      return Launch<gpu::Half>(stream, problem);
    case gpu::Type::kBFloat16:
      return Launch<gpu::BFloat16>(stream, problem);
    case gpu::Type::kFloat:
      return Launch<float>(stream, problem);
    case gpu::Type::kDouble:
      return Launch<double>(stream, problem);
    default:
      return cudaErrorInvalidValue;
  }
}

}  // namespace rotary_embedding
}  // namespace tensorflow_custom_ops
