// SPDX-License-Identifier: Apache-2.0
// Tiles of scores, never all of them: a block of threads takes a tile of
// queries or keys, and goes through the others that it meets. After Dao,
// "FlashAttention-2" (2023). No sum is shared by blocks, so that results are
// always the same: the backward pass computes scores once for the gradients of
// queries, once for those of keys and values, and once for that of the bias.
// Half types are multiplied by tensor cores where the GPU has them.
#include "tensorflow_custom_ops/ops/flash_attention/flash_attention_gpu.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "tensorflow_custom_ops/core/gpu/device.h"
#include "tensorflow_custom_ops/core/gpu/launch.h"
#include "tensorflow_custom_ops/core/gpu/tensor_cores.h"
#include "tensorflow_custom_ops/ops/flash_attention/flash_attention_gpu_scalar.h"
#include "tensorflow_custom_ops/ops/flash_attention/flash_attention_gpu_tensor_cores.h"
#include "tensorflow_custom_ops/ops/flash_attention/flash_attention_gpu_tiles.h"
#include "tensorflow_custom_ops/ops/flash_attention/flash_attention_problem.h"

namespace tensorflow_custom_ops {
namespace flash_attention {
namespace {

constexpr int64_t DivideUp(int64_t a, int64_t b) { return (a + b - 1) / b; }

// What a block computes of a result: some rows of one batch and key head, and
// kTiles tiles of columns.
struct Item {
  int64_t batch;
  int64_t kv_head;
  int64_t first_row;
  int64_t first_column;
};

template <typename S, int kTiles>
constexpr int64_t Items(const Sizes& sizes, int64_t rows) {
  return sizes.batch * sizes.kv_heads * DivideUp(rows, kTile<S>) *
         DivideUp(sizes.head_dim, kTiles * kTile<S>);
}

template <typename S, int kTiles>
constexpr Item ItemOf(const Sizes& sizes, int64_t rows, int64_t index) {
  const int64_t columns = DivideUp(sizes.head_dim, kTiles * kTile<S>);
  const int64_t tiles = DivideUp(rows, kTile<S>);
  const int64_t head = index / columns / tiles;
  return {head / sizes.kv_heads, head % sizes.kv_heads,
          index / columns % tiles * kTile<S>,
          index % columns * kTiles * kTile<S>};
}

__device__ inline KeyTile KeysOf(const Sizes& sizes, int64_t batch,
                                 int64_t kv_head, int64_t first) {
  return {(batch * sizes.kv_length * sizes.kv_heads + kv_head) * sizes.head_dim,
          sizes.kv_heads * sizes.head_dim, first, sizes.kv_length};
}

// Calls function(keys) for the tiles of keys that a tile of queries meets.
template <typename S, typename Function>
__device__ void ForEachKeyTile(const Sizes& sizes, const QueryTile& queries,
                               int64_t kv_head, Function function) {
  for (int64_t first = 0; first < sizes.kv_length; first += kTile<S>) {
    const KeyTile keys = KeysOf(sizes, queries.batch, kv_head, first);
    if (Meet<S>(sizes, queries, keys)) function(keys);
  }
}

// Calls function(products) with the products that suit the GPU.
template <typename T, typename Function>
__device__ void WithProducts(Function function) {
  gpu::IfTensorCores<T>([&](auto has_tensor_cores) {
    function(std::conditional_t<decltype(has_tensor_cores)::value,
                                TensorCoreProducts<T>, ScalarProducts<T>>());
  });
}

template <typename Products, int kTiles>
__device__ void ForwardBlocks(const Forward& problem) {
  using T = typename Products::Element;
  using S = typename Products::S;
  using Columns = typename Products::template Columns<kTiles>;
  constexpr S kNone = -std::numeric_limits<S>::infinity();
  GPU_DYNAMIC_SHARED(typename Products::Shared, shared);
  const Sizes& sizes = problem.sizes;
  const int64_t group = Group(sizes);
  const int64_t rows = sizes.q_length * group;
  for (int64_t index = blockIdx.x; index < Items<S, kTiles>(sizes, rows);
       index += gridDim.x) {
    const Item item = ItemOf<S, kTiles>(sizes, rows, index);
    const QueryTile queries = {item.batch, item.kv_head * group, group,
                               item.first_row};
    SetRows(problem, queries, shared->rows);
    Columns output(item.first_column, sizes.head_dim);
    // Of a row, the greatest score so far, and the sum of exp(score - max).
    S max[kPerThread<S>];
    S sum[kPerThread<S>];
    for (int i = 0; i < kPerThread<S>; ++i) {
      max[i] = kNone;
      sum[i] = S(0);
    }

    ForEachKeyTile<S>(sizes, queries, item.kv_head, [&](const KeyTile& keys) {
      Part<S> scores;
      Products::QueriesTimesKeys(problem.query, problem.key, keys,
                                 sizes.head_dim, *shared, scores);
      ToScores<T>(problem, keys, shared->rows, scores);
      S factor[kPerThread<S>];
      for (int i = 0; i < kPerThread<S>; ++i) {
        S new_max = max[i];
        for (const S score : scores.values[i]) {
          if (score > new_max) new_max = score;
        }
        new_max = RowMax(new_max);
        // While there is no score, exp(-inf - 0) is what it should be.
        const S base = new_max == kNone ? S(0) : new_max;
        S new_sum = S(0);
        for (S& score : scores.values[i]) {
          score = exp(score - base);
          new_sum += score;
        }
        factor[i] = exp(max[i] - base);
        sum[i] = sum[i] * factor[i] + RowSum(new_sum);
        max[i] = new_max;
      }
      Products::SetFactor(scores, *shared);
      output.ScaleAndAddProduct(
          factor, problem.value,
          [&](int first) { return KeyOffsets(keys, first); }, *shared);
    });

    output.ForEachSum(*shared, [&](int i, int64_t column, S value) {
      const int64_t offset = shared->rows[RowOf(i)].offset;
      if (offset < 0) return;
      static_cast<T*>(problem.output)[offset + column] =
          static_cast<T>(sum[i] == S(0) ? S(0) : value / sum[i]);
    });
    if (item.first_column > 0 || ThreadColumn() > 0) continue;
    for (int i = 0; i < kPerThread<S>; ++i) {
      const QueryRow<S>& row = shared->rows[RowOf(i)];
      if (row.offset < 0) continue;
      static_cast<S*>(problem.log_sum_exp)[row.log_sum_exp_offset] =
          max[i] + log(sum[i]);
    }
  }
}

// The probabilities of a tile, and the gradients of its scores; zeros where a
// query does not see a key.
template <typename Products, typename S>
__device__ void Gradients(const Backward& problem, const KeyTile& keys,
                          typename Products::Shared& shared,
                          Part<S>& probabilities, Part<S>& score_grads) {
  using T = typename Products::Element;
  const Forward& forward = problem.forward;
  const int64_t head_dim = forward.sizes.head_dim;
  Products::QueriesTimesKeys(forward.query, forward.key, keys, head_dim, shared,
                             probabilities);
  Products::QueriesTimesKeys(problem.output_grad, forward.value, keys, head_dim,
                             shared, score_grads);
  ToScores<T>(forward, keys, shared.rows, probabilities);
  ForEach(probabilities, [&](int i, int j, S& p) {
    const QueryRow<S>& row = shared.rows[RowOf(i)];
    const int64_t key = keys.first + ColumnOf(j);
    S& gradient = score_grads.values[i][j];
    if (key < row.visible.begin || key >= row.visible.end) {
      p = S(0);
      gradient = S(0);
    } else {
      p = exp(p - row.log_sum_exp);
      gradient = p * (gradient - row.delta);
    }
  });
}

template <typename Products, int kTiles>
__device__ void QueryGradBlocks(const Backward& problem) {
  using T = typename Products::Element;
  using S = typename Products::S;
  using Columns = typename Products::template Columns<kTiles>;
  GPU_DYNAMIC_SHARED(typename Products::Shared, shared);
  const Sizes& sizes = problem.forward.sizes;
  const int64_t group = Group(sizes);
  const int64_t rows = sizes.q_length * group;
  for (int64_t index = blockIdx.x; index < Items<S, kTiles>(sizes, rows);
       index += gridDim.x) {
    const Item item = ItemOf<S, kTiles>(sizes, rows, index);
    const QueryTile queries = {item.batch, item.kv_head * group, group,
                               item.first_row};
    SetGradientRows<T>(problem, queries, shared->rows);
    Columns grad(item.first_column, sizes.head_dim);
    ForEachKeyTile<S>(sizes, queries, item.kv_head, [&](const KeyTile& keys) {
      Part<S> probabilities;
      Part<S> score_grads;
      Gradients<Products>(problem, keys, *shared, probabilities, score_grads);
      Products::SetFactor(score_grads, *shared);
      grad.template AddProduct<false>(
          problem.forward.key,
          [&](int first) { return KeyOffsets(keys, first); }, *shared);
    });
    grad.ForEachSum(*shared, [&](int i, int64_t column, S value) {
      const int64_t offset = shared->rows[RowOf(i)].offset;
      if (offset < 0) return;
      static_cast<T*>(problem.query_grad)[offset + column] =
          static_cast<T>(static_cast<S>(problem.forward.scale) * value);
    });
  }
}

template <typename Products, int kTiles>
__device__ void KeyGradBlocks(const Backward& problem) {
  using T = typename Products::Element;
  using S = typename Products::S;
  using Columns = typename Products::template Columns<kTiles>;
  GPU_DYNAMIC_SHARED(typename Products::Shared, shared);
  const Sizes& sizes = problem.forward.sizes;
  const int64_t group = Group(sizes);
  const int64_t items = Items<S, kTiles>(sizes, sizes.kv_length);
  for (int64_t index = blockIdx.x; index < items; index += gridDim.x) {
    const Item item = ItemOf<S, kTiles>(sizes, sizes.kv_length, index);
    const KeyTile keys =
        KeysOf(sizes, item.batch, item.kv_head, item.first_row);
    Columns key_grad(item.first_column, sizes.head_dim);
    Columns value_grad(item.first_column, sizes.head_dim);
    const auto offsets = [&](int first) {
      return QueryOffsets(shared->rows, first);
    };
    for (int64_t row = 0; row < sizes.q_length * group; row += kTile<S>) {
      const QueryTile queries = {item.batch, item.kv_head * group, group, row};
      if (!Meet<S>(sizes, queries, keys)) continue;
      SetGradientRows<T>(problem, queries, shared->rows);
      Part<S> probabilities;
      Part<S> score_grads;
      Gradients<Products>(problem, keys, *shared, probabilities, score_grads);
      Products::SetFactor(probabilities, *shared);
      value_grad.template AddProduct<true>(problem.output_grad, offsets,
                                           *shared);
      __syncthreads();
      Products::SetFactor(score_grads, *shared);
      key_grad.template AddProduct<true>(problem.forward.query, offsets,
                                         *shared);
    }
    const auto store = [&](Columns& sums, S factor, void* output) {
      sums.ForEachSum(*shared, [&](int i, int64_t column, S value) {
        const int64_t offset = KeyOffsets(keys)(RowOf(i));
        if (offset < 0) return;
        static_cast<T*>(output)[offset + column] =
            static_cast<T>(factor * value);
      });
    };
    store(key_grad, static_cast<S>(problem.forward.scale), problem.key_grad);
    store(value_grad, S(1), problem.value_grad);
  }
}

// Which indices of one dimension of the scores are summed up for some of the
// bias: all of them where it is broadcast, otherwise `step` of them.
constexpr Range Summed(int64_t stride, int64_t item, int64_t step,
                       int64_t size) {
  return stride == 0 ? Range{0, size}
                     : Range{item * step, std::min(item * step + step, size)};
}
constexpr int64_t SummedItems(int64_t stride, int64_t step, int64_t size) {
  return stride == 0 ? 1 : DivideUp(size, step);
}

// How a bias's gradient is divided into tiles.
struct BiasItems {
  int64_t batches;
  int64_t heads;
  int64_t queries;
  int64_t keys;
};
template <typename S>
constexpr BiasItems BiasItemsOf(const Sizes& sizes, const Bias& bias) {
  return {SummedItems(bias.batch_stride, 1, sizes.batch),
          SummedItems(bias.head_stride, 1, sizes.heads),
          SummedItems(bias.query_stride, kTile<S>, sizes.q_length),
          SummedItems(bias.key_stride, kTile<S>, sizes.kv_length)};
}

// Writes the sums of a tile, over the dimensions along which it is broadcast.
template <typename T, int kStride, typename S>
__device__ void WriteBiasGrad(const Bias& bias, int64_t offset,
                              const Range& queries, const Range& keys,
                              const S* matrix, T* output) {
  const bool one_row = bias.query_stride == 0;
  const bool one_column = bias.key_stride == 0;
  const int rows = one_row ? 1 : static_cast<int>(queries.end - queries.begin);
  const int columns = one_column ? 1 : static_cast<int>(keys.end - keys.begin);
  for (int i = threadIdx.x; i < rows * columns; i += kBlockThreads) {
    const int row = i / columns;
    const int column = i % columns;
    S sum = S(0);
    for (int k = 0; k < (one_row ? kTile<S> : 1); ++k) {
      for (int l = 0; l < (one_column ? kTile<S> : 1); ++l) {
        sum += matrix[(row + k) * kStride + column + l];
      }
    }
    output[offset + (queries.begin + row) * bias.query_stride +
           (keys.begin + column) * bias.key_stride] = static_cast<T>(sum);
  }
}

template <typename Products>
__device__ void BiasGradBlocks(const Backward& problem) {
  using T = typename Products::Element;
  using S = typename Products::S;
  GPU_DYNAMIC_SHARED(typename Products::Shared, shared);
  const Sizes& sizes = problem.forward.sizes;
  const Bias& bias = problem.forward.bias;
  const BiasItems items = BiasItemsOf<S>(sizes, bias);
  const int64_t count =
      items.batches * items.heads * items.queries * items.keys;
  for (int64_t index = blockIdx.x; index < count; index += gridDim.x) {
    const int64_t head_index = index / items.keys / items.queries;
    const Range batches =
        Summed(bias.batch_stride, head_index / items.heads, 1, sizes.batch);
    const Range heads =
        Summed(bias.head_stride, head_index % items.heads, 1, sizes.heads);
    const Range queries =
        Summed(bias.query_stride, index / items.keys % items.queries, kTile<S>,
               sizes.q_length);
    const Range keys =
        Summed(bias.key_stride, index % items.keys, kTile<S>, sizes.kv_length);
    Part<S> sums;
    SetZero(sums);
    for (int64_t batch = batches.begin; batch < batches.end; ++batch) {
      for (int64_t head = heads.begin; head < heads.end; ++head) {
        for (int64_t query = queries.begin; query < queries.end;
             query += kTile<S>) {
          const QueryTile query_tile = {batch, head, 1, query};
          SetGradientRows<T>(problem, query_tile, shared->rows);
          for (int64_t key = keys.begin; key < keys.end; key += kTile<S>) {
            const KeyTile key_tile =
                KeysOf(sizes, batch, head / Group(sizes), key);
            if (!Meet<S>(sizes, query_tile, key_tile)) continue;
            Part<S> probabilities;
            Part<S> score_grads;
            Gradients<Products>(problem, key_tile, *shared, probabilities,
                                score_grads);
            ForEach(score_grads,
                    [&](int i, int j, S value) { sums.values[i][j] += value; });
          }
        }
      }
    }
    __syncthreads();
    Store<Products::kMatrixStride>(sums, shared->matrix);
    __syncthreads();
    WriteBiasGrad<T, Products::kMatrixStride>(
        bias,
        batches.begin * bias.batch_stride + heads.begin * bias.head_stride,
        queries, keys, shared->matrix, static_cast<T*>(problem.bias_grad));
  }
}

template <typename T, int kTiles>
__global__ void __launch_bounds__(kBlockThreads)
    ForwardKernel(Forward problem) {
  WithProducts<T>([&](auto products) {
    ForwardBlocks<decltype(products), kTiles>(problem);
  });
}

template <typename T, int kTiles>
__global__ void __launch_bounds__(kBlockThreads)
    QueryGradKernel(Backward problem) {
  WithProducts<T>([&](auto products) {
    QueryGradBlocks<decltype(products), kTiles>(problem);
  });
}

template <typename T, int kTiles>
__global__ void __launch_bounds__(kBlockThreads)
    KeyGradKernel(Backward problem) {
  WithProducts<T>([&](auto products) {
    KeyGradBlocks<decltype(products), kTiles>(problem);
  });
}

template <typename T>
__global__ void __launch_bounds__(kBlockThreads)
    BiasGradKernel(Backward problem) {
  WithProducts<T>(
      [&](auto products) { BiasGradBlocks<decltype(products)>(problem); });
}

// For any GPU: which one it is shows in the kernel only.
template <typename T>
constexpr size_t SharedBytes() {
  size_t bytes = sizeof(typename ScalarProducts<T>::Shared);
#if GPU_WMMA
  if constexpr (gpu::kTensorCoresFrom<T> > 0) {
    bytes = std::max(bytes, sizeof(typename TensorCoreProducts<T>::Shared));
  }
#endif
  return bytes;
}

// Launches a kernel for so many items.
template <typename T, typename Problem>
gpu::Error LaunchItems(gpu::Stream stream, void (*kernel)(Problem),
                       const Problem& problem, int64_t items) {
  if (items == 0) return cudaSuccess;
  return gpu::Launch(kernel,
                     static_cast<unsigned>(std::min(items, kGpuMostBlocks)),
                     kBlockThreads, SharedBytes<T>(), stream, problem);
}

// Wider heads than of two tiles are divided among blocks, each of which
// computes all scores.
template <typename T, int kTiles>
gpu::Error Forwards(gpu::Stream stream, const Forward& problem) {
  const Sizes& sizes = problem.sizes;
  return LaunchItems<T>(
      stream, ForwardKernel<T, kTiles>, problem,
      Items<gpu::ComputeType<T>, kTiles>(sizes, sizes.q_length * Group(sizes)));
}

template <typename T, int kTiles>
gpu::Error Backwards(gpu::Stream stream, const Backward& problem) {
  using S = gpu::ComputeType<T>;
  const Sizes& sizes = problem.forward.sizes;
  const gpu::Error error =
      LaunchItems<T>(stream, QueryGradKernel<T, kTiles>, problem,
                     Items<S, kTiles>(sizes, sizes.q_length * Group(sizes)));
  if (error != cudaSuccess) return error;
  return LaunchItems<T>(stream, KeyGradKernel<T, kTiles>, problem,
                        Items<S, kTiles>(sizes, sizes.kv_length));
}

template <typename T>
gpu::Error BiasGrad(gpu::Stream stream, const Backward& problem) {
  if (problem.bias_grad == nullptr) return cudaSuccess;
  const BiasItems items = BiasItemsOf<gpu::ComputeType<T>>(
      problem.forward.sizes, problem.forward.bias);
  return LaunchItems<T>(
      stream, BiasGradKernel<T>, problem,
      items.batches * items.heads * items.queries * items.keys);
}

// Returns function(T()) for the type of elements.
template <typename Function>
gpu::Error ForType(gpu::Type type, Function function) {
  switch (type) {
    case gpu::Type::kHalf:
      return function(gpu::Half());
    case gpu::Type::kBFloat16:
      return function(gpu::BFloat16());
    case gpu::Type::kFloat:
      return function(float());
    case gpu::Type::kDouble:
      return function(double());
    default:
      return cudaErrorInvalidValue;
  }
}

template <typename T>
bool IsNarrow(const Sizes& sizes) {
  return sizes.head_dim <= kTile<gpu::ComputeType<T>>;
}

}  // namespace

gpu::Error LaunchForward(gpu::Stream stream, gpu::Type type,
                         const Forward& problem) {
  return ForType(type, [&](auto zero) {
    using T = decltype(zero);
    return IsNarrow<T>(problem.sizes) ? Forwards<T, 1>(stream, problem)
                                      : Forwards<T, 2>(stream, problem);
  });
}

gpu::Error LaunchBackward(gpu::Stream stream, gpu::Type type,
                          const Backward& problem) {
  return ForType(type, [&](auto zero) {
    using T = decltype(zero);
    const gpu::Error error = IsNarrow<T>(problem.forward.sizes)
                                 ? Backwards<T, 1>(stream, problem)
                                 : Backwards<T, 2>(stream, problem);
    if (error != cudaSuccess) return error;
    return BiasGrad<T>(stream, problem);
  });
}

}  // namespace flash_attention
}  // namespace tensorflow_custom_ops
