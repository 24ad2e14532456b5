// SPDX-License-Identifier: Apache-2.0
//
// Stands in for <mma.h>: tensor cores by nvcuda::wmma, as far as kernels use
// them, which is tiles of 16 x 16 x 16 of types of 16 bits, added up in float.
//
// As on a GPU, a tile is spread over the 32 lanes of a warp, each of which has
// some elements of it, and all lanes must come. So each lane here loads and
// stores its own elements, for the sanitizers to see. The launch ends with
// cudaErrorLaunchFailure where
//   * lanes do not meet in a function, or the warp has fewer than 32 lanes;
//   * lanes pass different addresses, distances of rows, or layouts;
//   * an address is not a multiple of 32 bytes, or the distance of rows not one
//     of 16 bytes.
// A fragment that nothing was loaded into has NaN. Which lane has which element
// is not specified: it depends on the order of the threads.
//
// What differs from a GPU: sums are rounded after each term, and their order is
// fixed. matrix_a and matrix_b have 8 elements for a lane, which are 16 in some
// of CUDA's fragments.
#ifndef TOOLS_CUDA_EMULATOR_WMMA_H_
#define TOOLS_CUDA_EMULATOR_WMMA_H_

#include <cstddef>
#include <limits>
#include <type_traits>

#include "tools/cuda_emulator/cuda_emulator.h"

namespace cuda_emulator {

// Parameters that say where a function is called.
#define CUDA_EMULATOR_CALLER \
  const char *file = __builtin_FILE(), int line = __builtin_LINE()

// Each lane of a warp has so many elements of a tile.
constexpr int kTileElementsOfLane = 16 * 16 / 32;

// Those of a lane.
struct TileProduct {
  float a[kTileElementsOfLane];
  float b[kTileElementsOfLane];
  float sum[kTileElementsOfLane];
};

// sum += a * b. All lanes of a warp call it, each with its own elements.
void MultiplyTiles(const Place& place, TileProduct* product);

// Checks what all lanes must pass alike.
void CheckMatrix(const Place& place, const void* address, size_t element_bytes,
                 unsigned row_distance, bool row_major);

// The element of a tile that a lane has at an index of its fragment.
struct TileElement {
  int row;
  int column;
};
TileElement TileElementOf(unsigned lane, int index);

// Where it is in memory.
inline size_t TileOffset(unsigned lane, int index, unsigned row_distance,
                         bool row_major) {
  const TileElement element = TileElementOf(lane, index);
  const int outer = row_major ? element.row : element.column;
  const int inner = row_major ? element.column : element.row;
  return size_t{row_distance} * static_cast<unsigned>(outer) +
         static_cast<unsigned>(inner);
}

}  // namespace cuda_emulator

namespace nvcuda {
namespace wmma {

struct matrix_a;
struct matrix_b;
struct accumulator;
struct row_major;
struct col_major;
enum layout_t { mem_row_major, mem_col_major };

template <typename Use, int m, int n, int k, typename T, typename Layout = void>
class fragment {
  static constexpr bool kIsFactor =
      std::is_same<Use, matrix_a>::value || std::is_same<Use, matrix_b>::value;
  static_assert(m == 16 && n == 16 && k == 16, "only 16 x 16 x 16 is emulated");
  static_assert(kIsFactor ? sizeof(T) == 2 && !std::is_integral<T>::value
                          : std::is_same<T, float>::value,
                "only products of half types, in float, are emulated");
  static_assert(std::is_same<Layout, row_major>::value ||
                        std::is_same<Layout, col_major>::value
                    ? kIsFactor
                    : !kIsFactor,
                "factors have a layout, accumulators have none");

 public:
  fragment() {
    for (T& value : x) {
      value = static_cast<T>(std::numeric_limits<float>::quiet_NaN());
    }
  }

  static constexpr int num_elements = cuda_emulator::kTileElementsOfLane;
  T x[num_elements];
};

template <typename Use, typename T, typename Layout>
void fill_fragment(fragment<Use, 16, 16, 16, T, Layout>& fragment,
                   cuda_emulator::Plain<T> value) {
  for (T& element : fragment.x) element = value;
}

template <typename Use, typename T, typename Layout>
void load_matrix_sync(fragment<Use, 16, 16, 16, T, Layout>& fragment,
                      const cuda_emulator::Plain<T>* address, unsigned ldm,
                      CUDA_EMULATOR_CALLER) {
  constexpr bool kRowMajor = std::is_same<Layout, row_major>::value;
  cuda_emulator::CheckMatrix({"load_matrix_sync", file, line}, address,
                             sizeof(T), ldm, kRowMajor);
  const unsigned lane = cuda_emulator::current_indices.lane;
  for (int i = 0; i < fragment.num_elements; ++i) {
    fragment.x[i] = address[cuda_emulator::TileOffset(lane, i, ldm, kRowMajor)];
  }
}

inline void load_matrix_sync(fragment<accumulator, 16, 16, 16, float>& fragment,
                             const float* address, unsigned ldm,
                             layout_t layout, CUDA_EMULATOR_CALLER) {
  const bool row_major = layout == mem_row_major;
  cuda_emulator::CheckMatrix({"load_matrix_sync", file, line}, address,
                             sizeof(float), ldm, row_major);
  const unsigned lane = cuda_emulator::current_indices.lane;
  for (int i = 0; i < fragment.num_elements; ++i) {
    fragment.x[i] = address[cuda_emulator::TileOffset(lane, i, ldm, row_major)];
  }
}

inline void store_matrix_sync(
    float* address, const fragment<accumulator, 16, 16, 16, float>& fragment,
    unsigned ldm, layout_t layout, CUDA_EMULATOR_CALLER) {
  const bool row_major = layout == mem_row_major;
  cuda_emulator::CheckMatrix({"store_matrix_sync", file, line}, address,
                             sizeof(float), ldm, row_major);
  const unsigned lane = cuda_emulator::current_indices.lane;
  for (int i = 0; i < fragment.num_elements; ++i) {
    address[cuda_emulator::TileOffset(lane, i, ldm, row_major)] = fragment.x[i];
  }
}

// d = a * b + c
template <typename T, typename LayoutA, typename LayoutB>
void mma_sync(fragment<accumulator, 16, 16, 16, float>& d,
              const fragment<matrix_a, 16, 16, 16, T, LayoutA>& a,
              const fragment<matrix_b, 16, 16, 16, T, LayoutB>& b,
              const fragment<accumulator, 16, 16, 16, float>& c,
              CUDA_EMULATOR_CALLER) {
  cuda_emulator::TileProduct product;
  for (int i = 0; i < d.num_elements; ++i) {
    product.a[i] = static_cast<float>(a.x[i]);
    product.b[i] = static_cast<float>(b.x[i]);
    product.sum[i] = c.x[i];
  }
  cuda_emulator::MultiplyTiles({"mma_sync", file, line}, &product);
  for (int i = 0; i < d.num_elements; ++i) d.x[i] = product.sum[i];
}

}  // namespace wmma
}  // namespace nvcuda

#undef CUDA_EMULATOR_CALLER

#endif  // TOOLS_CUDA_EMULATOR_WMMA_H_
