// SPDX-License-Identifier: Apache-2.0
// Matrix products of blocks that fit into the cache, for the sources that are
// compiled for each instruction set. The right matrix is packed.
#ifndef TENSORFLOW_CUSTOM_OPS_OPS_FLASH_ATTENTION_FLASH_ATTENTION_PRODUCT_H_
#define TENSORFLOW_CUSTOM_OPS_OPS_FLASH_ATTENTION_FLASH_ATTENTION_PRODUCT_H_

#include <cstdint>

#include "Eigen/Core"

#if defined(__GNUC__) && !defined(__clang__)
// Vectors are arguments of Eigen's templates, which need not know that they may
// alias anything.
#pragma GCC diagnostic ignored "-Wignored-attributes"
#endif

namespace tensorflow_custom_ops {
namespace flash_attention {
namespace FLASH_ATTENTION_ISA {
namespace {

namespace packets = Eigen::internal;

template <typename S>
using Packet = typename packets::packet_traits<S>::type;
template <typename S>
constexpr int64_t kWidth = packets::packet_traits<S>::size;

// A tile of a product has so many rows and vectors: most of the registers are
// its sums, the others a row of the right matrix and an element of the left.
constexpr int64_t kTileRows = 6;
constexpr int64_t kTileVectors =
    EIGEN_ARCH_DEFAULT_NUMBER_OF_REGISTERS >= 32 ? 4 : 2;

// Columns of a panel, the unit of packed matrices: its rows lie one after
// another. Columns that a matrix does not have are zeros.
template <typename S>
constexpr int64_t kPanel = kTileVectors * kWidth<S>;

// Rows of a panel that stay in the innermost cache while rows of the left
// matrix come and go.
constexpr int64_t kDepth = 128;

constexpr int64_t RoundUp(int64_t n, int64_t multiple) {
  return (n + multiple - 1) / multiple * multiple;
}

// The left matrix: element (i, k) is data[i * row_stride + k * depth_stride].
template <typename S>
struct Left {
  const S* data;
  int64_t row_stride;
  int64_t depth_stride;
};

template <typename S, int64_t kVectors>
inline void ProductTile(const Left<S>& left, int64_t depth, const S* panel,
                        bool accumulate, S* output, int64_t output_stride) {
  constexpr int64_t kW = kWidth<S>;
  Packet<S> sums[kTileRows][kVectors];
#pragma GCC unroll 8
  for (int64_t i = 0; i < kTileRows; ++i) {
#pragma GCC unroll 8
    for (int64_t j = 0; j < kVectors; ++j) {
      sums[i][j] =
          accumulate
              ? packets::ploadu<Packet<S>>(output + i * output_stride + j * kW)
              : packets::pset1<Packet<S>>(S(0));
    }
  }
  const S* element = left.data;
  for (int64_t k = 0; k < depth; ++k) {
    Packet<S> right[kVectors];
#pragma GCC unroll 8
    for (int64_t j = 0; j < kVectors; ++j) {
      right[j] = packets::ploadu<Packet<S>>(panel + j * kW);
    }
#pragma GCC unroll 8
    for (int64_t i = 0; i < kTileRows; ++i) {
      const Packet<S> x =
          packets::pset1<Packet<S>>(element[i * left.row_stride]);
#pragma GCC unroll 8
      for (int64_t j = 0; j < kVectors; ++j) {
        sums[i][j] = packets::pmadd(x, right[j], sums[i][j]);
      }
    }
    panel += kPanel<S>;
    element += left.depth_stride;
  }
#pragma GCC unroll 8
  for (int64_t i = 0; i < kTileRows; ++i) {
#pragma GCC unroll 8
    for (int64_t j = 0; j < kVectors; ++j) {
      packets::pstoreu(output + i * output_stride + j * kW, sums[i][j]);
    }
  }
}

// The function for a panel of which so many columns are wanted.
template <typename S>
auto ProductTileFor(int64_t columns) {
  switch ((columns + kWidth<S> - 1) / kWidth<S>) {
    case 1:
      return ProductTile<S, 1>;
    case 2:
      return ProductTile<S, 2>;
    case 3:
      return ProductTile < S, kTileVectors == 4 ? 3 : 2 > ;
    default:
      return ProductTile<S, kTileVectors>;
  }
}

// output = left * right, or += where it accumulates, for rows rounded up to
// kTileRows and columns rounded up to kWidth: there must be as much room. The
// panels of the right matrix are panel_stride apart. Each element is a sum in
// the order of k, whatever the other sizes are.
template <typename S>
void Product(int64_t rows, int64_t columns, int64_t depth, const Left<S>& left,
             const S* panels, int64_t panel_stride, bool accumulate, S* output,
             int64_t output_stride) {
  for (int64_t column = 0; column < columns; column += kPanel<S>) {
    const auto tile = ProductTileFor<S>(columns - column);
    for (int64_t k = 0; k < depth; k += kDepth) {
      for (int64_t row = 0; row < rows; row += kTileRows) {
        tile({left.data + row * left.row_stride + k * left.depth_stride,
              left.row_stride, left.depth_stride},
             depth - k < kDepth ? depth - k : kDepth, panels + k * kPanel<S>,
             accumulate || k > 0, output + row * output_stride + column,
             output_stride);
      }
    }
    panels += panel_stride;
  }
}

}  // namespace
}  // namespace FLASH_ATTENTION_ISA
}  // namespace flash_attention
}  // namespace tensorflow_custom_ops

#endif  // TENSORFLOW_CUSTOM_OPS_OPS_FLASH_ATTENTION_FLASH_ATTENTION_PRODUCT_H_
