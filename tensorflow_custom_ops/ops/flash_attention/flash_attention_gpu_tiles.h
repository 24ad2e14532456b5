// SPDX-License-Identifier: Apache-2.0
// For flash_attention_gpu.cu.cc: tiles of attention's matrices, and their
// products, as a block of threads computes them by way of shared memory.
#ifndef TENSORFLOW_CUSTOM_OPS_OPS_FLASH_ATTENTION_FLASH_ATTENTION_GPU_TILES_H_
#define TENSORFLOW_CUSTOM_OPS_OPS_FLASH_ATTENTION_FLASH_ATTENTION_GPU_TILES_H_

#include <cstdint>
#include <limits>

#include "tensorflow_custom_ops/core/gpu/device.h"
#include "tensorflow_custom_ops/ops/flash_attention/flash_attention_problem.h"

namespace tensorflow_custom_ops {
namespace flash_attention {

constexpr int kWarp = 32;
constexpr unsigned kAllLanes = 0xffffffff;

// A block is a square of threads. The thread in row y and column x of it has
// the elements (y + kSide * i, x + kSide * j) of a tile, for all i and j.
constexpr int kSide = 16;
constexpr int kBlockThreads = kSide * kSide;

// Rows and columns of a tile, of which three fit into 48 KiB.
template <typename S>
constexpr int kTile = sizeof(S) == 8 ? 32 : 64;

// Of each dimension of a tile, how many elements a thread has.
template <typename S>
constexpr int kPerThread = kTile<S> / kSide;

// The elements of a thread, in registers.
template <typename S>
struct Part {
  S values[kPerThread<S>][kPerThread<S>];
};

// Terms of a sum that are in shared memory at a time.
constexpr int kDepth = 32;

// The distances of rows in shared memory: odd, so that the elements of a column
// are in different banks.
constexpr int kDepthStride = kDepth + 1;
template <typename S>
constexpr int kTileStride = kTile<S> + 1;

// A row of a tile: a query of one head. Where there is none, it sees no key.
template <typename S>
struct QueryRow {
  int64_t offset;  // Of its first element; -1 where there is none.
  int64_t log_sum_exp_offset;
  int64_t bias_offset;
  Range visible;
  S log_sum_exp;  // For the backward pass, like the next.
  S delta;        // The sum of output * output_grad.
};

// What the threads of a block share.
template <typename S>
struct Shared {
  QueryRow<S> rows[kTile<S>];
  S left[kTile<S> * kDepthStride];
  S right[kTile<S> * kDepthStride];
  S matrix[kTile<S> * kTileStride<S>];
};
static_assert(sizeof(Shared<float>) <= 48 << 10);
static_assert(sizeof(Shared<double>) <= 48 << 10);

// The queries of some heads that share a key head: row r is query r / heads of
// head first_head + r % heads.
struct QueryTile {
  int64_t batch;
  int64_t first_head;
  int64_t heads;
  int64_t first_row;
};

// Keys, or values.
struct KeyTile {
  int64_t offset;  // Of the first element of key 0.
  int64_t stride;
  int64_t first;
  int64_t length;  // Of all keys.
};

__device__ inline int ThreadRow() { return threadIdx.x / kSide; }
__device__ inline int ThreadColumn() { return threadIdx.x % kSide; }

// The rows and columns of the elements that a thread has.
__device__ inline int RowOf(int i) { return ThreadRow() + kSide * i; }
__device__ inline int ColumnOf(int j) { return ThreadColumn() + kSide * j; }

// Of the values of the threads in a row, which get it all.
template <typename S>
__device__ S RowSum(S value) {
  for (int distance = kSide / 2; distance > 0; distance /= 2) {
    value += __shfl_xor_sync(kAllLanes, value, distance, kSide);
  }
  return value;
}
template <typename S>
__device__ S RowMax(S value) {
  for (int distance = kSide / 2; distance > 0; distance /= 2) {
    const S other = __shfl_xor_sync(kAllLanes, value, distance, kSide);
    if (other > value) value = other;
  }
  return value;
}

// Calls function(i, j, value) for the elements of a thread.
template <typename S, typename Function>
__device__ void ForEach(Part<S>& part, Function function) {
  for (int i = 0; i < kPerThread<S>; ++i) {
    for (int j = 0; j < kPerThread<S>; ++j) function(i, j, part.values[i][j]);
  }
}

template <typename S>
__device__ void SetZero(Part<S>& part) {
  ForEach(part, [](int, int, S& value) { value = S(0); });
}

template <typename S>
__device__ void Store(Part<S>& part, S* matrix) {
  ForEach(part, [&](int i, int j, S value) {
    matrix[RowOf(i) * kTileStride<S> + ColumnOf(j)] = value;
  });
}

// Whether any row of a tile sees any key of another.
template <typename S>
__device__ bool Meet(const Sizes& sizes, const QueryTile& queries,
                     const KeyTile& keys) {
  const int64_t rows = sizes.q_length * queries.heads;
  int64_t last_row = queries.first_row + kTile<S> - 1;
  if (last_row >= rows) last_row = rows - 1;
  const Range visible = VisibleToAny(sizes, queries.first_row / queries.heads,
                                     last_row / queries.heads);
  return visible.begin < keys.first + kTile<S> && visible.end > keys.first;
}

// Sets shared.rows, of what the forward pass needs.
template <typename S>
__device__ void SetRows(const Forward& problem, const QueryTile& queries,
                        Shared<S>& shared) {
  const Sizes& sizes = problem.sizes;
  __syncthreads();
  for (int i = threadIdx.x; i < kTile<S>; i += kBlockThreads) {
    const int64_t row = queries.first_row + i;
    const int64_t query = row / queries.heads;
    const int64_t head = queries.first_head + row % queries.heads;
    QueryRow<S>& output = shared.rows[i];
    if (query < sizes.q_length) {
      output.offset =
          ((queries.batch * sizes.q_length + query) * sizes.heads + head) *
          sizes.head_dim;
      output.log_sum_exp_offset =
          (queries.batch * sizes.heads + head) * sizes.q_length + query;
      output.bias_offset = queries.batch * problem.bias.batch_stride +
                           head * problem.bias.head_stride +
                           query * problem.bias.query_stride;
      output.visible = Visible(sizes, query);
    } else {
      output.offset = -1;
      output.visible = {0, 0};
    }
  }
  __syncthreads();
}

// The same for the backward pass.
template <typename T, typename S>
__device__ void SetGradientRows(const Backward& problem,
                                const QueryTile& queries, Shared<S>& shared) {
  constexpr S kNone = -std::numeric_limits<S>::infinity();
  SetRows(problem.forward, queries, shared);
  const auto* const output = static_cast<const T*>(problem.forward.output);
  const auto* const output_grad = static_cast<const T*>(problem.output_grad);
  const int lane = threadIdx.x % kWarp;
  for (int i = threadIdx.x / kWarp; i < kTile<S>; i += kBlockThreads / kWarp) {
    QueryRow<S>& row = shared.rows[i];
    S delta = S(0);
    if (row.offset >= 0) {
      for (int64_t k = lane; k < problem.forward.sizes.head_dim; k += kWarp) {
        delta += static_cast<S>(output[row.offset + k]) *
                 static_cast<S>(output_grad[row.offset + k]);
      }
    }
    for (int distance = kWarp / 2; distance > 0; distance /= 2) {
      delta += __shfl_xor_sync(kAllLanes, delta, distance);
    }
    if (lane == 0 && row.offset >= 0) {
      const S log_sum_exp = static_cast<const S*>(
          problem.forward.log_sum_exp)[row.log_sum_exp_offset];
      // Of a query that sees nothing: exp(-inf - 0) is what it should be.
      row.log_sum_exp = log_sum_exp == kNone ? S(0) : log_sum_exp;
      row.delta = delta;
    }
  }
  __syncthreads();
}

// Copies some columns of kRows rows to shared memory, with zeros where there
// are none. offset(row) is where a row begins in the array, -1 if there is
// none.
template <int kRows, int kColumns, int kStride, typename T, typename S,
          typename Offset>
__device__ void Load(const T* array, int64_t first_column, int64_t columns,
                     Offset offset, S* output) {
  for (int i = threadIdx.x; i < kRows * kColumns; i += kBlockThreads) {
    const int row = i / kColumns;
    const int column = i % kColumns;
    const int64_t start = offset(row);
    output[row * kStride + column] =
        start >= 0 && first_column + column < columns
            ? static_cast<S>(array[start + first_column + column])
            : S(0);
  }
}

// Where queries and keys begin, for Load: `first` is a row of the tile.
template <typename S>
__device__ auto QueryOffsets(const Shared<S>& shared, int first = 0) {
  return [&shared, first](int row) { return shared.rows[first + row].offset; };
}
__device__ inline auto KeyOffsets(const KeyTile& keys, int first = 0) {
  return [&keys, first](int row) {
    const int64_t key = keys.first + first + row;
    return key < keys.length ? keys.offset + key * keys.stride : int64_t{-1};
  };
}

// A matrix in shared memory, as a factor of a product: where the element in a
// row (or column) of the product and of a term begins.
template <typename S>
struct Factor {
  const S* data;
  int stride;
  int term_stride;
};

// sums += left * right, kDepth terms of it.
template <typename S>
__device__ void MultiplyAdd(const Factor<S>& left, const Factor<S>& right,
                            Part<S>& sums) {
  for (int k = 0; k < kDepth; ++k) {
    S x[kPerThread<S>];
    S y[kPerThread<S>];
    for (int i = 0; i < kPerThread<S>; ++i) {
      x[i] = left.data[RowOf(i) * left.stride + k * left.term_stride];
      y[i] = right.data[ColumnOf(i) * right.stride + k * right.term_stride];
    }
    ForEach(sums, [&](int i, int j, S& sum) { sum += x[i] * y[j]; });
  }
}

// products = queries * keys^T, where queries may be what has their shape, and
// keys may be values.
template <typename T, typename S>
__device__ void QueriesTimesKeys(const void* queries, const void* keys,
                                 const KeyTile& key_tile, int64_t head_dim,
                                 Shared<S>& shared, Part<S>& products) {
  SetZero(products);
  for (int64_t first = 0; first < head_dim; first += kDepth) {
    __syncthreads();
    Load<kTile<S>, kDepth, kDepthStride>(static_cast<const T*>(queries), first,
                                         head_dim, QueryOffsets(shared),
                                         shared.left);
    Load<kTile<S>, kDepth, kDepthStride>(static_cast<const T*>(keys), first,
                                         head_dim, KeyOffsets(key_tile),
                                         shared.right);
    __syncthreads();
    MultiplyAdd<S>({shared.left, kDepthStride, 1},
                   {shared.right, kDepthStride, 1}, products);
  }
}

// Makes products to scores; -inf is for keys that a query does not see.
template <typename T, typename S>
__device__ void ToScores(const Forward& problem, const KeyTile& keys,
                         const Shared<S>& shared, Part<S>& products) {
  ForEach(products, [&](int i, int j, S& value) {
    const QueryRow<S>& row = shared.rows[RowOf(i)];
    const int64_t key = keys.first + ColumnOf(j);
    if (key < row.visible.begin || key >= row.visible.end) {
      value = -std::numeric_limits<S>::infinity();
      return;
    }
    value *= static_cast<S>(problem.scale);
    if (problem.bias.data != nullptr) {
      value += static_cast<S>(static_cast<const T*>(
          problem.bias.data)[row.bias_offset + key * problem.bias.key_stride]);
    }
  });
}

// Columns of a result with head_dim columns: kTiles tiles of them.
template <typename S, int kTiles>
struct Columns {
  // sums += shared.matrix * rows, or its transpose. offsets(first) gives the
  // argument of Load for the rows from `first` on.
  template <bool kTransposed, typename T, typename Offsets>
  __device__ void AddProduct(const void* array, Offsets offsets,
                             Shared<S>& shared) {
    for (int term = 0; term < kTile<S>; term += kDepth) {
      for (int tile = 0; tile < kTiles; ++tile) {
        __syncthreads();
        Load<kDepth, kTile<S>, kTileStride<S>>(
            static_cast<const T*>(array), first + tile * kTile<S>, head_dim,
            offsets(term), shared.right);
        __syncthreads();
        const int stride = kTransposed ? 1 : kTileStride<S>;
        const int term_stride = kTransposed ? kTileStride<S> : 1;
        MultiplyAdd<S>(
            {shared.matrix + term * term_stride, stride, term_stride},
            {shared.right, 1, kTileStride<S>}, sums[tile]);
      }
    }
  }

  // Calls function(i, column, sum) for the elements of this thread that there
  // are.
  template <typename Function>
  __device__ void ForEachSum(Function function) {
    for (int tile = 0; tile < kTiles; ++tile) {
      ForEach(sums[tile], [&](int i, int j, S& sum) {
        const int64_t column = first + tile * kTile<S> + ColumnOf(j);
        if (column < head_dim) function(i, column, sum);
      });
    }
  }

  __device__ void SetZero() {
    for (Part<S>& part : sums) flash_attention::SetZero(part);
  }

  int64_t first;
  int64_t head_dim;
  Part<S> sums[kTiles];
};

}  // namespace flash_attention
}  // namespace tensorflow_custom_ops

#endif  // TENSORFLOW_CUSTOM_OPS_OPS_FLASH_ATTENTION_FLASH_ATTENTION_GPU_TILES_H_
