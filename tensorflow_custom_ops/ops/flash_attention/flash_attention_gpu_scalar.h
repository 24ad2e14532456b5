// SPDX-License-Identifier: Apache-2.0
// For flash_attention_gpu.cu.cc: products of tiles on any GPU.
#ifndef TENSORFLOW_CUSTOM_OPS_OPS_FLASH_ATTENTION_FLASH_ATTENTION_GPU_SCALAR_H_
#define TENSORFLOW_CUSTOM_OPS_OPS_FLASH_ATTENTION_FLASH_ATTENTION_GPU_SCALAR_H_

#include <cstdint>

#include "tensorflow_custom_ops/core/gpu/device.h"
#include "tensorflow_custom_ops/ops/flash_attention/flash_attention_gpu_tiles.h"

namespace tensorflow_custom_ops {
namespace flash_attention {

// Each thread multiplies and adds for its elements of a tile, in the type that
// it has in registers.
template <typename T>
struct ScalarProducts {
  using Element = T;
  using S = gpu::ComputeType<T>;

  // Terms of a sum that are in shared memory at a time.
  static constexpr int kDepth = 32;
  // The distances of rows in shared memory: odd, so that the elements of a
  // column are in different banks.
  static constexpr int kDepthStride = kDepth + 1;
  static constexpr int kMatrixStride = kTile<S> + 1;

  // What the threads of a block share.
  struct Shared {
    QueryRow<S> rows[kTile<S>];
    S left[kTile<S> * kDepthStride];
    S right[kTile<S> * kDepthStride];
    S matrix[kTile<S> * kMatrixStride];
  };
  static_assert(sizeof(Shared) <= kSharedBytes);

  // A matrix in shared memory, as a factor of a product: where the element in a
  // row (or column) of the product and of a term begins.
  struct Factor {
    const S* data;
    int stride;
    int term_stride;
  };

  // Copies some columns of kRows rows to shared memory, with zeros where there
  // are none. offset(row) is where a row begins in the array, -1 if there is
  // none.
  template <int kRows, int kColumns, int kStride, typename Offset>
  static __device__ void Load(const T* array, int64_t first_column,
                              int64_t columns, Offset offset, S* output) {
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

  // sums += left * right, kDepth terms of it.
  static __device__ void MultiplyAdd(const Factor& left, const Factor& right,
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
  static __device__ void QueriesTimesKeys(const void* queries, const void* keys,
                                          const KeyTile& key_tile,
                                          int64_t head_dim, Shared& shared,
                                          Part<S>& products) {
    SetZero(products);
    for (int64_t first = 0; first < head_dim; first += kDepth) {
      __syncthreads();
      Load<kTile<S>, kDepth, kDepthStride>(
          static_cast<const T*>(queries), first, head_dim,
          QueryOffsets(shared.rows), shared.left);
      Load<kTile<S>, kDepth, kDepthStride>(static_cast<const T*>(keys), first,
                                           head_dim, KeyOffsets(key_tile),
                                           shared.right);
      __syncthreads();
      MultiplyAdd({shared.left, kDepthStride, 1},
                  {shared.right, kDepthStride, 1}, products);
    }
  }

  // Makes a tile the left factor of Columns::AddProduct.
  static __device__ void SetFactor(Part<S>& part, Shared& shared) {
    Store<kMatrixStride>(part, shared.matrix);
  }

  // Columns of a result with head_dim columns: kTiles tiles of them.
  template <int kTiles>
  struct Columns {
    __device__ Columns(int64_t first, int64_t head_dim)
        : first(first), head_dim(head_dim) {
      for (Part<S>& part : sums) SetZero(part);
    }

    // sums += factor * rows, or the transpose of the factor. offsets(first)
    // gives the argument of Load for the rows from `first` on.
    template <bool kTransposed, typename Offsets>
    __device__ void AddProduct(const void* array, Offsets offsets,
                               Shared& shared) {
      for (int term = 0; term < kTile<S>; term += kDepth) {
        GPU_UNROLL
        for (int tile = 0; tile < kTiles; ++tile) {
          __syncthreads();
          Load<kDepth, kTile<S>, kMatrixStride>(
              static_cast<const T*>(array), first + tile * kTile<S>, head_dim,
              offsets(term), shared.right);
          __syncthreads();
          const int stride = kTransposed ? 1 : kMatrixStride;
          const int term_stride = kTransposed ? kMatrixStride : 1;
          MultiplyAdd({shared.matrix + term * term_stride, stride, term_stride},
                      {shared.right, 1, kMatrixStride}, sums[tile]);
        }
      }
    }

    // sums = sums * row_factors + factor * rows, where row_factors are those of
    // the rows that the thread has elements of.
    template <typename Offsets>
    __device__ void ScaleAndAddProduct(const S (&row_factors)[kPerThread<S>],
                                       const void* array, Offsets offsets,
                                       Shared& shared) {
      for (Part<S>& part : sums) {
        ForEach(part, [&](int i, int, S& sum) { sum *= row_factors[i]; });
      }
      AddProduct<false>(array, offsets, shared);
    }

    // Calls function(i, column, sum) for the elements of this thread that there
    // are.
    template <typename Function>
    __device__ void ForEachSum(Shared&, Function function) {
      GPU_UNROLL
      for (int tile = 0; tile < kTiles; ++tile) {
        ForEach(sums[tile], [&](int i, int j, S sum) {
          const int64_t column = first + tile * kTile<S> + ColumnOf(j);
          if (column < head_dim) function(i, column, sum);
        });
      }
    }

    int64_t first;
    int64_t head_dim;
    Part<S> sums[kTiles];
  };
};

}  // namespace flash_attention
}  // namespace tensorflow_custom_ops

#endif  // TENSORFLOW_CUSTOM_OPS_OPS_FLASH_ATTENTION_FLASH_ATTENTION_GPU_SCALAR_H_
