// SPDX-License-Identifier: Apache-2.0
// For flash_attention_gpu.cu.cc: tiles of attention's matrices, as a block of
// threads has them. Their products are in flash_attention_gpu_scalar.h and
// flash_attention_gpu_tensor_cores.h.
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

// What a block may have of shared memory without asking for more.
constexpr int kSharedBytes = 48 << 10;

// A block is a square of threads. The thread in row y and column x of it has
// the elements (y + kSide * i, x + kSide * j) of a tile, for all i and j.
constexpr int kSide = 16;
constexpr int kBlockThreads = kSide * kSide;

// Rows and columns of a tile.
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

// Copies a tile to shared memory, where its rows are kStride apart.
template <int kStride, typename S, typename T>
__device__ void Store(Part<S>& part, T* matrix) {
  ForEach(part, [&](int i, int j, S value) {
    matrix[RowOf(i) * kStride + ColumnOf(j)] = static_cast<T>(value);
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

// Sets the rows of a tile, of what the forward pass needs.
template <typename S>
__device__ void SetRows(const Forward& problem, const QueryTile& queries,
                        QueryRow<S>* rows) {
  const Sizes& sizes = problem.sizes;
  __syncthreads();
  for (int i = threadIdx.x; i < kTile<S>; i += kBlockThreads) {
    const int64_t row = queries.first_row + i;
    const int64_t query = row / queries.heads;
    const int64_t head = queries.first_head + row % queries.heads;
    QueryRow<S>& output = rows[i];
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
                                const QueryTile& queries, QueryRow<S>* rows) {
  constexpr S kNone = -std::numeric_limits<S>::infinity();
  SetRows(problem.forward, queries, rows);
  const auto* const output = static_cast<const T*>(problem.forward.output);
  const auto* const output_grad = static_cast<const T*>(problem.output_grad);
  const int lane = threadIdx.x % kWarp;
  for (int i = threadIdx.x / kWarp; i < kTile<S>; i += kBlockThreads / kWarp) {
    QueryRow<S>& row = rows[i];
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

// Where queries and keys begin in their arrays, -1 where there is none:
// functions of a row, of those from `first` on in the tile.
template <typename S>
__device__ auto QueryOffsets(const QueryRow<S>* rows, int first = 0) {
  return [rows, first](int row) { return rows[first + row].offset; };
}
__device__ inline auto KeyOffsets(const KeyTile& keys, int first = 0) {
  return [&keys, first](int row) {
    const int64_t key = keys.first + first + row;
    return key < keys.length ? keys.offset + key * keys.stride : int64_t{-1};
  };
}

// Makes products to scores; -inf is for keys that a query does not see.
template <typename T, typename S>
__device__ void ToScores(const Forward& problem, const KeyTile& keys,
                         const QueryRow<S>* rows, Part<S>& products) {
  ForEach(products, [&](int i, int j, S& value) {
    const QueryRow<S>& row = rows[RowOf(i)];
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

}  // namespace flash_attention
}  // namespace tensorflow_custom_ops

#endif  // TENSORFLOW_CUSTOM_OPS_OPS_FLASH_ATTENTION_FLASH_ATTENTION_GPU_TILES_H_
