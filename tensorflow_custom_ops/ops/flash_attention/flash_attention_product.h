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

// How elements of a type are multiplied: numbers, of whose type the sums are,
// or pairs of bfloat16, in flash_attention_pairs.h.
template <typename E>
struct Operand {
  // What an element has, and how many of them: of a row of the left matrix, or
  // of a column of the right one.
  using Number = E;
  static constexpr int64_t kNumbers = 1;
  using Sum = E;

  static Packet<E> Load(const E* elements) {
    return packets::ploadu<Packet<E>>(elements);
  }
  static Packet<E> Broadcast(const E& element) {
    return packets::pset1<Packet<E>>(element);
  }
  static Packet<E> MultiplyAdd(Packet<E> x, Packet<E> y, Packet<E> sum) {
    return packets::pmadd(x, y, sum);
  }
};

template <typename E>
using SumOf = typename Operand<E>::Sum;

// The elements that so many numbers take.
template <typename E>
constexpr int64_t Elements(int64_t numbers) {
  return (numbers + Operand<E>::kNumbers - 1) / Operand<E>::kNumbers;
}

// The left matrix: element (i, k) is data[i * row_stride + k * depth_stride].
template <typename E>
struct Left {
  const E* data;
  int64_t row_stride;
  int64_t depth_stride;
};

// Where a product goes.
template <typename S>
struct Output {
  S* data;
  int64_t row_stride;
  // What is there is added to the product.
  bool accumulate;
  // The result is multiplied by this.
  S factor = S(1);
};

template <typename E, int64_t kVectors>
inline void ProductTile(const Left<E>& left, int64_t depth, const E* panel,
                        const Output<SumOf<E>>& output) {
  using S = SumOf<E>;
  using O = Operand<E>;
  constexpr int64_t kW = kWidth<S>;
  Packet<S> sums[kTileRows][kVectors];
#pragma GCC unroll 8
  for (int64_t i = 0; i < kTileRows; ++i) {
#pragma GCC unroll 8
    for (int64_t j = 0; j < kVectors; ++j) {
      sums[i][j] = output.accumulate
                       ? packets::ploadu<Packet<S>>(
                             output.data + i * output.row_stride + j * kW)
                       : packets::pset1<Packet<S>>(S(0));
    }
  }
  const E* element = left.data;
  for (int64_t k = 0; k < depth; ++k) {
    decltype(O::Load(panel)) right[kVectors];
#pragma GCC unroll 8
    for (int64_t j = 0; j < kVectors; ++j) right[j] = O::Load(panel + j * kW);
#pragma GCC unroll 8
    for (int64_t i = 0; i < kTileRows; ++i) {
      const auto x = O::Broadcast(element[i * left.row_stride]);
#pragma GCC unroll 8
      for (int64_t j = 0; j < kVectors; ++j) {
        sums[i][j] = O::MultiplyAdd(x, right[j], sums[i][j]);
      }
    }
    panel += kPanel<S>;
    element += left.depth_stride;
  }
  if (output.factor != S(1)) {
    const Packet<S> factor = packets::pset1<Packet<S>>(output.factor);
#pragma GCC unroll 8
    for (int64_t i = 0; i < kTileRows; ++i) {
#pragma GCC unroll 8
      for (int64_t j = 0; j < kVectors; ++j) {
        sums[i][j] = packets::pmul(sums[i][j], factor);
      }
    }
  }
#pragma GCC unroll 8
  for (int64_t i = 0; i < kTileRows; ++i) {
#pragma GCC unroll 8
    for (int64_t j = 0; j < kVectors; ++j) {
      packets::pstoreu(output.data + i * output.row_stride + j * kW,
                       sums[i][j]);
    }
  }
}

// The function for a panel of which so many columns are wanted.
template <typename E>
auto ProductTileFor(int64_t columns) {
  switch ((columns + kWidth<SumOf<E>> - 1) / kWidth<SumOf<E>>) {
    case 1:
      return ProductTile<E, 1>;
    case 2:
      return ProductTile<E, 2>;
    case 3:
      return ProductTile < E, kTileVectors == 4 ? 3 : 2 > ;
    default:
      return ProductTile<E, kTileVectors>;
  }
}

// output = factor * (left * right), or factor * (left * right + output) where
// it accumulates, for rows rounded up to kTileRows and columns rounded up to
// kWidth: there must be as much room. The depth is that of elements. The panels
// of the right matrix are panel_stride apart. Each number is a sum in the order
// of k, whatever the other sizes are.
template <typename E>
void Product(int64_t rows, int64_t columns, int64_t depth, const Left<E>& left,
             const E* panels, int64_t panel_stride,
             const Output<SumOf<E>>& output) {
  using S = SumOf<E>;
  for (int64_t column = 0; column < columns; column += kPanel<S>) {
    const auto tile = ProductTileFor<E>(columns - column);
    for (int64_t k = 0; k < depth; k += kDepth) {
      const bool is_last = depth - k <= kDepth;
      for (int64_t row = 0; row < rows; row += kTileRows) {
        tile({left.data + row * left.row_stride + k * left.depth_stride,
              left.row_stride, left.depth_stride},
             is_last ? depth - k : kDepth, panels + k * kPanel<S>,
             {output.data + row * output.row_stride + column, output.row_stride,
              output.accumulate || k > 0, is_last ? output.factor : S(1)});
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
