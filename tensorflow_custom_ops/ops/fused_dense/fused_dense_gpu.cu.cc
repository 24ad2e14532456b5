// SPDX-License-Identifier: Apache-2.0
#include "tensorflow_custom_ops/ops/fused_dense/fused_dense_gpu.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "tensorflow_custom_ops/core/gpu/device.h"
#include "tensorflow_custom_ops/core/gpu/launch.h"
#include "tensorflow_custom_ops/core/gpu/vector.h"

namespace tensorflow_custom_ops {
namespace fused_dense {
namespace {

using gpu::ComputeType;
using gpu::Vector;

template <typename T>
__device__ T Activate(Activation activation, T x) {
  switch (activation) {
    case Activation::kRelu:
      return x < 0 ? T(0) : x;  // NaN stays.
    case Activation::kTanh:
      return std::tanh(x);
    case Activation::kSigmoid:
      return 1 / (1 + std::exp(-x));
    default:
      return x;
  }
}

// `columns` vectors make up the units. A thread takes one of them, in every so
// many rows: it reads its part of the bias once.
template <typename T, int kWidth>
__global__ void __launch_bounds__(gpu::kThreads)
    BiasAndActivationKernel(Activation activation, int64_t rows,
                            int64_t columns, const ComputeType<T>* product,
                            const T* bias, T* output) {
  const int64_t column =
      static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (column >= columns) return;
  using Sums = Vector<ComputeType<T>, kWidth>;
  using Elements = Vector<T, kWidth>;
  const Elements biases = reinterpret_cast<const Elements*>(bias)[column];
  for (int64_t row =
           static_cast<int64_t>(blockIdx.y) * blockDim.y + threadIdx.y;
       row < rows; row += static_cast<int64_t>(gridDim.y) * blockDim.y) {
    const int64_t i = row * columns + column;
    Sums sums = {};
    if (product != nullptr) sums = reinterpret_cast<const Sums*>(product)[i];
    Elements result;
    for (int j = 0; j < kWidth; ++j) {
      result.values[j] = static_cast<T>(Activate(
          activation,
          sums.values[j] + static_cast<ComputeType<T>>(biases.values[j])));
    }
    reinterpret_cast<Elements*>(output)[i] = result;
  }
}

// So many threads of a block, of a power of two, are beside each other.
unsigned ColumnThreads(int64_t columns) {
  unsigned threads = 1;
  while (threads < gpu::kThreads && threads < columns) threads *= 2;
  return threads;
}

template <typename T, int kWidth>
gpu::Error LaunchVectors(gpu::Stream stream, Activation activation,
                         int64_t rows, int64_t units, const void* product,
                         const void* bias, void* output) {
  // The most that a grid may have in its second dimension.
  constexpr int64_t kMostRowBlocks = 65535;
  const int64_t columns = units / kWidth;
  const unsigned x = ColumnThreads(columns);
  const dim3 block(x, gpu::kThreads / x);
  const int64_t column_blocks = (columns - 1) / block.x + 1;
  const int64_t row_blocks =
      std::min({(rows - 1) / block.y + 1, kMostRowBlocks,
                std::max<int64_t>(gpu::kMostBlocks / column_blocks, 1)});
  return gpu::Launch(BiasAndActivationKernel<T, kWidth>,
                     dim3(static_cast<unsigned>(column_blocks),
                          static_cast<unsigned>(row_blocks)),
                     block, 0, stream, activation, rows, columns,
                     static_cast<const ComputeType<T>*>(product),
                     static_cast<const T*>(bias), static_cast<T*>(output));
}

template <typename T>
gpu::Error Launch(gpu::Stream stream, Activation activation, int64_t rows,
                  int64_t units, const void* product, const void* bias,
                  void* output) {
  constexpr int kWidth = gpu::kVectorWidth<T>;
  const bool vectors = units % kWidth == 0 && gpu::IsVectorAligned(product) &&
                       gpu::IsVectorAligned(bias) &&
                       gpu::IsVectorAligned(output);
  const auto launch = vectors ? LaunchVectors<T, kWidth> : LaunchVectors<T, 1>;
  return launch(stream, activation, rows, units, product, bias, output);
}

}  // namespace

gpu::Error LaunchBiasAndActivation(gpu::Stream stream, gpu::Type type,
                                   Activation activation, int64_t rows,
                                   int64_t units, const void* product,
                                   const void* bias, void* output) {
  if (rows == 0 || units == 0) return cudaSuccess;
  const auto launch = [&](auto function) {
    return function(stream, activation, rows, units, product, bias, output);
  };
  switch (type) {
    case gpu::Type::kHalf:
      return launch(Launch<gpu::Half>);
    case gpu::Type::kBFloat16:
      return launch(Launch<gpu::BFloat16>);
    case gpu::Type::kFloat:
      return launch(Launch<float>);
    case gpu::Type::kDouble:
      return launch(Launch<double>);
    default:
      return cudaErrorInvalidValue;
  }
}

}  // namespace fused_dense
}  // namespace tensorflow_custom_ops
