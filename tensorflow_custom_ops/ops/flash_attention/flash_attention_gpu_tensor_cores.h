// SPDX-License-Identifier: Apache-2.0
// For flash_attention_gpu.cu.cc: products of tiles by tensor cores.
#ifndef TENSORFLOW_CUSTOM_OPS_OPS_FLASH_ATTENTION_FLASH_ATTENTION_GPU_TENSOR_CORES_H_
#define TENSORFLOW_CUSTOM_OPS_OPS_FLASH_ATTENTION_FLASH_ATTENTION_GPU_TENSOR_CORES_H_

#include <cstdint>
#include <type_traits>

#include "tensorflow_custom_ops/core/gpu/device.h"
#include "tensorflow_custom_ops/core/gpu/tensor_cores.h"
#include "tensorflow_custom_ops/core/gpu/vector.h"
#include "tensorflow_custom_ops/ops/flash_attention/flash_attention_gpu_tiles.h"

namespace tensorflow_custom_ops {
namespace flash_attention {

// The same functions as those of ScalarProducts, for half types. Factors of
// products are rounded to T, and sums are float.
template <typename T>
struct TensorCoreProducts;

#if GPU_WMMA

template <typename T>
struct TensorCoreProducts {
  using Element = T;
  using S = float;

  // Of a product of tensor cores, which a warp computes.
  static constexpr int kSquare = 16;
  // A warp has the squares of a tile in one row and some columns of it.
  static constexpr int kSquares = kTile<S> / kSquare;
  static constexpr int kSquaresOfWarp =
      kSquares * kSquares / (kBlockThreads / kWarp);

  // The distances of rows in shared memory. They are multiples of 16 bytes, as
  // tensor cores and vectors need them, and a row begins four banks after the
  // one before, so that eight rows of 16 bytes are in different banks.
  static constexpr int kStride = kTile<S> + 8;
  static constexpr int kMatrixStride = kTile<S> + 4;
  static constexpr int kRowFactorsStride = kSquare + 4;

  // Squares begin at multiples of that.
  static constexpr int kSquareAlignment = 32;

  struct Shared {
    QueryRow<S> rows[kTile<S>];
    union {
      alignas(kSquareAlignment) T left[kTile<S> * kStride];
      // Columns of one row's factor each: as tensor cores load them.
      alignas(kSquareAlignment) S row_factors[kTile<S> * kRowFactorsStride];
    };
    alignas(kSquareAlignment) T right[kTile<S> * kStride];
    alignas(kSquareAlignment) T factor[kTile<S> * kStride];
    alignas(kSquareAlignment) S matrix[kTile<S> * kMatrixStride];
  };
  static_assert(sizeof(Shared) <= kSharedBytes);

  using Sums = nvcuda::wmma::fragment<nvcuda::wmma::accumulator, kSquare,
                                      kSquare, kSquare, S>;
  template <typename Layout>
  using Left = nvcuda::wmma::fragment<nvcuda::wmma::matrix_a, kSquare, kSquare,
                                      kSquare, T, Layout>;
  template <typename Layout>
  using Right = nvcuda::wmma::fragment<nvcuda::wmma::matrix_b, kSquare, kSquare,
                                       kSquare, T, Layout>;
  using ByRow = nvcuda::wmma::row_major;
  using ByColumn = nvcuda::wmma::col_major;

  // Where the squares of this thread's warp are in a tile.
  static __device__ int SquareRow() {
    return threadIdx.x / kWarp % kSquares * kSquare;
  }
  static __device__ int SquareColumn(int square) {
    return (threadIdx.x / kWarp / kSquares * kSquaresOfWarp + square) * kSquare;
  }

  // Copies a tile's columns of its rows to shared memory, with zeros where
  // there are none. offset(row) is where a row begins in the array, -1 if there
  // is none.
  template <typename Offset>
  static __device__ void Load(const void* array, int64_t first_column,
                              int64_t columns, Offset offset, T* output) {
    constexpr int kWidth = gpu::kVectorWidth<T>;
    if (columns % kWidth == 0 &&
        reinterpret_cast<uintptr_t>(array) % gpu::kVectorBytes == 0) {
      LoadVectors<kWidth>(array, first_column, columns, offset, output);
    } else {
      LoadVectors<1>(array, first_column, columns, offset, output);
    }
  }

  template <int kWidth, typename Offset>
  static __device__ void LoadVectors(const void* array, int64_t first_column,
                                     int64_t columns, Offset offset,
                                     T* output) {
    using Vector = gpu::Vector<T, kWidth>;
    constexpr int kVectors = kTile<S> / kWidth;
    for (int i = threadIdx.x; i < kTile<S> * kVectors; i += kBlockThreads) {
      const int row = i / kVectors;
      const int column = i % kVectors * kWidth;
      const int64_t start = offset(row);
      Vector vector;
      if (start >= 0 && first_column + column < columns) {
        vector = *reinterpret_cast<const Vector*>(
            static_cast<const T*>(array) + start + first_column + column);
      } else {
        for (T& value : vector.values) value = static_cast<T>(0.f);
      }
      *reinterpret_cast<Vector*>(output + row * kStride + column) = vector;
    }
  }

  static __device__ void QueriesTimesKeys(const void* queries, const void* keys,
                                          const KeyTile& key_tile,
                                          int64_t head_dim, Shared& shared,
                                          Part<S>& products) {
    Sums sums[kSquaresOfWarp];
    for (Sums& square : sums) nvcuda::wmma::fill_fragment(square, 0.f);
    for (int64_t first = 0; first < head_dim; first += kTile<S>) {
      __syncthreads();
      Load(queries, first, head_dim, QueryOffsets(shared.rows), shared.left);
      Load(keys, first, head_dim, KeyOffsets(key_tile), shared.right);
      __syncthreads();
      // What is beyond the last column is zeros.
      for (int k = 0; k < kTile<S> && first + k < head_dim; k += kSquare) {
        Left<ByRow> left;
        nvcuda::wmma::load_matrix_sync(
            left, shared.left + SquareRow() * kStride + k, kStride);
        for (int i = 0; i < kSquaresOfWarp; ++i) {
          Right<ByColumn> right;
          nvcuda::wmma::load_matrix_sync(
              right, shared.right + SquareColumn(i) * kStride + k, kStride);
          nvcuda::wmma::mma_sync(sums[i], left, right, sums[i]);
        }
      }
    }
    StoreSums(sums, shared.matrix);
    __syncthreads();
    ForEach(products, [&](int i, int j, S& value) {
      value = shared.matrix[RowOf(i) * kMatrixStride + ColumnOf(j)];
    });
  }

  // To a tile in shared memory, for each thread to get its elements from.
  static __device__ void StoreSums(Sums (&sums)[kSquaresOfWarp], S* matrix) {
    for (int i = 0; i < kSquaresOfWarp; ++i) {
      nvcuda::wmma::store_matrix_sync(
          matrix + SquareRow() * kMatrixStride + SquareColumn(i), sums[i],
          kMatrixStride, nvcuda::wmma::mem_row_major);
    }
  }

  static __device__ void SetFactor(Part<S>& part, Shared& shared) {
    Store<kStride>(part, shared.factor);
  }

  template <int kTiles>
  struct Columns {
    __device__ Columns(int64_t first, int64_t head_dim)
        : first(first), head_dim(head_dim) {
      for (auto& tile : sums) {
        for (Sums& square : tile) nvcuda::wmma::fill_fragment(square, 0.f);
      }
    }

    template <bool kTransposed, typename Offsets>
    __device__ void AddProduct(const void* array, Offsets offsets,
                               Shared& shared) {
      Add<kTransposed, false>(array, offsets(0), shared);
    }

    template <typename Offsets>
    __device__ void ScaleAndAddProduct(const S (&row_factors)[kPerThread<S>],
                                       const void* array, Offsets offsets,
                                       Shared& shared) {
      // The queries, which were there, are multiplied.
      static_assert(kSide == kSquare);
      for (int i = 0; i < kPerThread<S>; ++i) {
        shared.row_factors[RowOf(i) * kRowFactorsStride + ThreadColumn()] =
            row_factors[i];
      }
      Add<false, true>(array, offsets(0), shared);
    }

    // The last product's right factor is no longer needed: all threads have
    // come to a barrier after it.
    template <bool kTransposed, bool kScaled, typename Offset>
    __device__ void Add(const void* array, Offset offset, Shared& shared) {
      GPU_UNROLL
      for (int tile = 0; tile < kTiles; ++tile) {
        if (tile > 0) __syncthreads();
        Load(array, first + tile * kTile<S>, head_dim, offset, shared.right);
        __syncthreads();
        if constexpr (kScaled) Scale(sums[tile], shared);
        for (int k = 0; k < kTile<S>; k += kSquare) {
          Left<std::conditional_t<kTransposed, ByColumn, ByRow>> left;
          nvcuda::wmma::load_matrix_sync(
              left,
              shared.factor + (kTransposed ? k * kStride + SquareRow()
                                           : SquareRow() * kStride + k),
              kStride);
          for (int i = 0; i < kSquaresOfWarp; ++i) {
            Right<ByRow> right;
            nvcuda::wmma::load_matrix_sync(
                right, shared.right + k * kStride + SquareColumn(i), kStride);
            nvcuda::wmma::mma_sync(sums[tile][i], left, right, sums[tile][i]);
          }
        }
      }
    }

    // Which element of a square a thread has is not specified, but it is the
    // same in all squares of sums.
    static __device__ void Scale(Sums (&tile)[kSquaresOfWarp],
                                 const Shared& shared) {
      Sums factors;
      nvcuda::wmma::load_matrix_sync(
          factors, shared.row_factors + SquareRow() * kRowFactorsStride,
          kRowFactorsStride, nvcuda::wmma::mem_row_major);
      for (Sums& square : tile) {
        for (int i = 0; i < square.num_elements; ++i) {
          square.x[i] *= factors.x[i];
        }
      }
    }

    template <typename Function>
    __device__ void ForEachSum(Shared& shared, Function function) {
      GPU_UNROLL
      for (int tile = 0; tile < kTiles; ++tile) {
        __syncthreads();
        StoreSums(sums[tile], shared.matrix);
        __syncthreads();
        for (int i = 0; i < kPerThread<S>; ++i) {
          for (int j = 0; j < kPerThread<S>; ++j) {
            const int64_t column = first + tile * kTile<S> + ColumnOf(j);
            if (column < head_dim) {
              function(i, column,
                       shared.matrix[RowOf(i) * kMatrixStride + ColumnOf(j)]);
            }
          }
        }
      }
    }

    int64_t first;
    int64_t head_dim;
    Sums sums[kTiles][kSquaresOfWarp];
  };
};

#endif  // GPU_WMMA

}  // namespace flash_attention
}  // namespace tensorflow_custom_ops

#endif  // TENSORFLOW_CUSTOM_OPS_OPS_FLASH_ATTENTION_FLASH_ATTENTION_GPU_TENSOR_CORES_H_
