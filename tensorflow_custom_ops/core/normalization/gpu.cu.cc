// SPDX-License-Identifier: Apache-2.0
// A block of threads takes a row, of which each thread has the same columns in
// every pass: no thread writes what another one reads, so outputs may be
// inputs, and the sums over rows need no barriers. A row is read from memory
// once: what passes over it again finds it in the cache.
#include "tensorflow_custom_ops/core/normalization/gpu.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>

#include "tensorflow_custom_ops/core/gpu/device.h"
#include "tensorflow_custom_ops/core/gpu/launch.h"
#include "tensorflow_custom_ops/core/gpu/vector.h"

namespace tensorflow_custom_ops {
namespace normalization {
namespace {

using gpu::ComputeType;
using gpu::Vector;

constexpr int kWarp = 32;
constexpr unsigned kAllLanes = 0xffffffff;
constexpr int kMostThreads = 512;
constexpr int kMostWarps = kMostThreads / kWarp;
// The most blocks of a launch; each takes what is left in a loop.
constexpr int64_t kMostBlocks = 1 << 16;
// So many threads sum up the same column over blocks of rows.
constexpr int kColumnThreads = 16;

template <typename T, int kWidth>
using Values = Vector<ComputeType<T>, kWidth>;

// Vector `i` of an array of T.
template <typename T, int kWidth>
__device__ inline Values<T, kWidth> Load(const void* array, int64_t i) {
  const auto elements = static_cast<const Vector<T, kWidth>*>(array)[i];
  Values<T, kWidth> values;
  for (int j = 0; j < kWidth; ++j) {
    values.values[j] = static_cast<ComputeType<T>>(elements.values[j]);
  }
  return values;
}

template <typename T, int kWidth>
__device__ inline void Store(void* array, int64_t i,
                             const Values<T, kWidth>& values) {
  Vector<T, kWidth> elements;
  for (int j = 0; j < kWidth; ++j) {
    elements.values[j] = static_cast<T>(values.values[j]);
  }
  static_cast<Vector<T, kWidth>*>(array)[i] = elements;
}

// Sums up over the threads of the block, which all must call it, and all get
// the sums.
template <int kCount, typename C>
__device__ inline void SumOverBlock(C (&values)[kCount]) {
  __shared__ C of_warps[kCount][kMostWarps];
  for (C& value : values) {
    for (int distance = kWarp / 2; distance > 0; distance /= 2) {
      value += __shfl_xor_sync(kAllLanes, value, distance);
    }
  }
  const unsigned warps = blockDim.x / kWarp;
  if (warps == 1) return;
  __syncthreads();  // The sums before have been read.
  if (threadIdx.x % kWarp == 0) {
    for (int k = 0; k < kCount; ++k) {
      of_warps[k][threadIdx.x / kWarp] = values[k];
    }
  }
  __syncthreads();
  for (int k = 0; k < kCount; ++k) {
    values[k] = 0;
    for (unsigned warp = 0; warp < warps; ++warp) {
      values[k] += of_warps[k][warp];
    }
  }
}

// As on the CPU: what is subtracted from a row, in two parts, and what it is
// multiplied by.
template <Norm kNorm, typename C>
struct Statistics {
  // From the mean's first part, and from the sums of what is left and of its
  // squares.
  __device__ Statistics(C mean, C sum, C squares, int64_t n, double epsilon)
      : mean(mean) {
    const C count = static_cast<C>(n);
    C variance = squares / count;
    if constexpr (kNorm == Norm::kLayer) {
      rest = sum / count;
      variance -= rest * rest;
      // By rounding; NaN stays.
      if (variance < 0) variance = 0;
    }
    inverse = 1 / std::sqrt(variance + static_cast<C>(epsilon));
  }

  __device__ C Normalize(C x) const {
    if constexpr (kNorm == Norm::kLayer) x = (x - mean) - rest;
    return x * inverse;
  }

  C mean;
  C rest = 0;
  C inverse;
};

// The first part of the mean of the row that begins at vector `begin`.
template <typename T, int kWidth>
__device__ ComputeType<T> Mean(const void* x, int64_t begin, int64_t vectors,
                               int64_t n) {
  ComputeType<T> sum[1] = {};
  for (int64_t i = threadIdx.x; i < vectors; i += blockDim.x) {
    const auto values = Load<T, kWidth>(x, begin + i);
    for (const auto value : values.values) sum[0] += value;
  }
  SumOverBlock(sum);
  return sum[0] / static_cast<ComputeType<T>>(n);
}

template <typename T, Norm kNorm, int kWidth>
__global__ void __launch_bounds__(kMostThreads) ForwardKernel(Forward args) {
  using C = ComputeType<T>;
  const int64_t vectors = args.n / kWidth;
  for (int64_t row = blockIdx.x; row < args.rows; row += gridDim.x) {
    const int64_t begin = row * vectors;
    C mean = 0;
    if constexpr (kNorm == Norm::kLayer) {
      mean = Mean<T, kWidth>(args.x, begin, vectors, args.n);
    }
    C sums[2] = {};
    for (int64_t i = threadIdx.x; i < vectors; i += blockDim.x) {
      auto x = Load<T, kWidth>(args.x, begin + i);
      if constexpr (kNorm == Norm::kRmsResidual) {
        const auto residual = Load<T, kWidth>(args.residual, begin + i);
        for (int j = 0; j < kWidth; ++j) {
          // As it is rounded: the gradient knows no other.
          x.values[j] =
              static_cast<C>(static_cast<T>(x.values[j] + residual.values[j]));
        }
        Store<T>(args.sum, begin + i, x);
      }
      for (C value : x.values) {
        if constexpr (kNorm == Norm::kLayer) {
          value -= mean;
          sums[0] += value;
        }
        sums[1] += value * value;
      }
    }
    SumOverBlock(sums);
    const Statistics<kNorm, C> statistics(mean, sums[0], sums[1], args.n,
                                          args.epsilon);
    const void* const x = kNorm == Norm::kRmsResidual ? args.sum : args.x;
    for (int64_t i = threadIdx.x; i < vectors; i += blockDim.x) {
      auto y = Load<T, kWidth>(x, begin + i);
      const auto scale = Load<T, kWidth>(args.scale, i);
      for (int j = 0; j < kWidth; ++j) {
        y.values[j] = statistics.Normalize(y.values[j]) * scale.values[j];
      }
      if constexpr (kNorm == Norm::kLayer) {
        const auto offset = Load<T, kWidth>(args.offset, i);
        for (int j = 0; j < kWidth; ++j) y.values[j] += offset.values[j];
      }
      Store<T>(args.y, begin + i, y);
    }
  }
}

// Adds a vector to sums over rows, of which this may be the first.
template <typename C, int kWidth>
__device__ inline void AddRow(bool is_first, const Vector<C, kWidth>& values,
                              Vector<C, kWidth>& sums) {
  for (int j = 0; j < kWidth; ++j) {
    sums.values[j] =
        is_first ? values.values[j] : sums.values[j] + values.values[j];
  }
}

// A block of threads takes `size` rows, and has NumSums arrays of n sums.
template <typename T, Norm kNorm, int kWidth>
__global__ void __launch_bounds__(kMostThreads)
    BackwardKernel(Backward args, int64_t size, ComputeType<T>* all_sums) {
  using C = ComputeType<T>;
  const int64_t vectors = args.n / kWidth;
  const C count = static_cast<C>(args.n);
  for (int64_t block = blockIdx.x; block * size < args.rows;
       block += gridDim.x) {
    C* const sums_of_block = all_sums + block * NumSums(kNorm) * args.n;
    auto* const scale_sums =
        reinterpret_cast<Values<T, kWidth>*>(sums_of_block);
    auto* const offset_sums = scale_sums + vectors;
    for (int64_t row = block * size;
         row < args.rows && row < (block + 1) * size; ++row) {
      const bool is_first = row == block * size;
      const int64_t begin = row * vectors;
      C mean = 0;
      if constexpr (kNorm == Norm::kLayer) {
        mean = Mean<T, kWidth>(args.x, begin, vectors, args.n);
      }
      // With g = grad * scale: the sums of x, x^2, g and g * x, where the mean
      // is subtracted from x.
      C sums[4] = {};
      for (int64_t i = threadIdx.x; i < vectors; i += blockDim.x) {
        const auto x = Load<T, kWidth>(args.x, begin + i);
        const auto grad = Load<T, kWidth>(args.grad, begin + i);
        const auto scale = Load<T, kWidth>(args.scale, i);
        for (int j = 0; j < kWidth; ++j) {
          C value = x.values[j];
          const C g = grad.values[j] * scale.values[j];
          if constexpr (kNorm == Norm::kLayer) {
            value -= mean;
            sums[0] += value;
            sums[2] += g;
          }
          sums[1] += value * value;
          sums[3] += g * value;
        }
      }
      SumOverBlock(sums);
      const Statistics<kNorm, C> statistics(mean, sums[0], sums[1], args.n,
                                            args.epsilon);
      // What g has of 1 and of the normalised x; the gradient is free of both.
      const C of_one = sums[2] / count;
      const C of_x =
          (sums[3] - statistics.rest * sums[2]) * statistics.inverse / count;
      for (int64_t i = threadIdx.x; i < vectors; i += blockDim.x) {
        auto x = Load<T, kWidth>(args.x, begin + i);
        const auto grad = Load<T, kWidth>(args.grad, begin + i);
        const auto scale = Load<T, kWidth>(args.scale, i);
        Values<T, kWidth> scale_terms;
        for (int j = 0; j < kWidth; ++j) {
          const C normalized = statistics.Normalize(x.values[j]);
          scale_terms.values[j] = grad.values[j] * normalized;
          x.values[j] =
              (grad.values[j] * scale.values[j] - of_one - normalized * of_x) *
              statistics.inverse;
        }
        if constexpr (kNorm == Norm::kRmsResidual) {
          const auto sum_grad = Load<T, kWidth>(args.sum_grad, begin + i);
          for (int j = 0; j < kWidth; ++j) x.values[j] += sum_grad.values[j];
        }
        AddRow(is_first, scale_terms, scale_sums[i]);
        if constexpr (kNorm == Norm::kLayer) {
          AddRow(is_first, grad, offset_sums[i]);
        }
        Store<T>(args.x_grad, begin + i, x);
      }
    }
  }
}

// Sums up what all blocks of rows have for each column: those of scale, and
// after them those of the offset.
template <typename T>
__global__ void __launch_bounds__(kWarp* kColumnThreads)
    ReduceKernel(int64_t n, int64_t columns, int64_t blocks,
                 const ComputeType<T>* sums, T* scale_grad, T* offset_grad) {
  using C = ComputeType<T>;
  __shared__ C of_threads[kColumnThreads][kWarp];
  for (int64_t first = static_cast<int64_t>(blockIdx.x) * kWarp;
       first < columns; first += static_cast<int64_t>(gridDim.x) * kWarp) {
    const int64_t column = first + threadIdx.x;
    C sum = 0;
    if (column < columns) {
      for (int64_t block = threadIdx.y; block < blocks;
           block += kColumnThreads) {
        sum += sums[block * columns + column];
      }
    }
    of_threads[threadIdx.y][threadIdx.x] = sum;
    for (unsigned distance = kColumnThreads / 2; distance > 0; distance /= 2) {
      __syncthreads();
      if (threadIdx.y < distance) {
        of_threads[threadIdx.y][threadIdx.x] +=
            of_threads[threadIdx.y + distance][threadIdx.x];
      }
    }
    // The first of the threads of a column has added up last.
    if (threadIdx.y == 0 && column < columns) {
      T* const output =
          column < n ? scale_grad + column : offset_grad + (column - n);
      *output = static_cast<T>(of_threads[0][threadIdx.x]);
    }
    __syncthreads();
  }
}

unsigned GridOf(int64_t units) {
  return static_cast<unsigned>(std::min(units, kMostBlocks));
}

unsigned ThreadsOf(int64_t vectors) {
  const int64_t warps = (vectors - 1) / kWarp + 1;
  return static_cast<unsigned>(kWarp * std::min<int64_t>(warps, kMostWarps));
}

template <typename T, Norm kNorm, int kWidth>
gpu::Error LaunchRows(gpu::Stream stream, const Forward& args) {
  return gpu::Launch(ForwardKernel<T, kNorm, kWidth>, GridOf(args.rows),
                     ThreadsOf(args.n / kWidth), 0, stream, args);
}

template <typename T, Norm kNorm, int kWidth>
gpu::Error LaunchRows(gpu::Stream stream, const Backward& args, void* sums) {
  const Blocks blocks(args.rows, kEnoughGpuBlocks);
  return gpu::Launch(BackwardKernel<T, kNorm, kWidth>, GridOf(blocks.count()),
                     ThreadsOf(args.n / kWidth), 0, stream, args, blocks.size,
                     static_cast<ComputeType<T>*>(sums));
}

template <typename T>
gpu::Error LaunchReduce(gpu::Stream stream, const Backward& args, void* sums) {
  const int64_t columns = NumSums(args.norm) * args.n;
  return gpu::Launch(ReduceKernel<T>, GridOf((columns - 1) / kWarp + 1),
                     dim3(kWarp, kColumnThreads), 0, stream, args.n, columns,
                     Blocks(args.rows, kEnoughGpuBlocks).count(),
                     static_cast<const ComputeType<T>*>(sums),
                     static_cast<T*>(args.scale_grad),
                     static_cast<T*>(args.offset_grad));
}

// Whether the rows of all arrays, as far as they are there, begin where vectors
// may.
template <typename T>
bool AreVectors(int64_t n, std::initializer_list<const void*> arrays) {
  return n % gpu::kVectorWidth<T> == 0 &&
         std::all_of(arrays.begin(), arrays.end(), gpu::IsVectorAligned);
}

template <typename T>
bool AreVectors(const Forward& args) {
  return AreVectors<T>(args.n, {args.x, args.residual, args.scale, args.offset,
                                args.y, args.sum});
}

template <typename T>
bool AreVectors(const Backward& args) {
  return AreVectors<T>(
      args.n, {args.x, args.scale, args.grad, args.sum_grad, args.x_grad});
}

template <typename T, Norm kNorm, typename Args, typename... More>
gpu::Error LaunchNorm(gpu::Stream stream, const Args& args, More... more) {
  return AreVectors<T>(args)
             ? LaunchRows<T, kNorm, gpu::kVectorWidth<T>>(stream, args, more...)
             : LaunchRows<T, kNorm, 1>(stream, args, more...);
}

// Nothing, where there are no rows.
template <typename T, typename Args, typename... More>
gpu::Error LaunchType(gpu::Stream stream, const Args& args, More... more) {
  if (args.rows == 0) return cudaSuccess;
  switch (args.norm) {
    case Norm::kRms:
      return LaunchNorm<T, Norm::kRms>(stream, args, more...);
    case Norm::kRmsResidual:
      return LaunchNorm<T, Norm::kRmsResidual>(stream, args, more...);
    case Norm::kLayer:
      return LaunchNorm<T, Norm::kLayer>(stream, args, more...);
  }
  return cudaErrorInvalidValue;
}

template <typename T>
gpu::Error LaunchBackwardOf(gpu::Stream stream, const Backward& args,
                            void* sums) {
  const gpu::Error error = LaunchType<T>(stream, args, sums);
  if (error != cudaSuccess) return error;
  return LaunchReduce<T>(stream, args, sums);
}

// Calls function(T()), where T is the type of the elements.
template <typename Function>
gpu::Error ForType(Type type, Function function) {
  switch (type) {
    case Type::kHalf:
      return function(gpu::Half());
    case Type::kBFloat16:
      return function(gpu::BFloat16());
    case Type::kFloat:
      return function(float());
    case Type::kDouble:
      return function(double());
    default:
      return cudaErrorInvalidValue;
  }
}

}  // namespace

gpu::Error LaunchForward(gpu::Stream stream, Type type, const Forward& args) {
  return ForType(type, [&](auto zero) {
    return LaunchType<decltype(zero)>(stream, args);
  });
}

gpu::Error LaunchBackward(gpu::Stream stream, Type type, const Backward& args,
                          void* sums) {
  return ForType(type, [&](auto zero) {
    return LaunchBackwardOf<decltype(zero)>(stream, args, sums);
  });
}

}  // namespace normalization
}  // namespace tensorflow_custom_ops
