// SPDX-License-Identifier: Apache-2.0
// Blocks of attention's arrays in the cache, for the sources that are compiled
// for each instruction set: how they get there, and what is done to them beside
// matrix products.
#ifndef TENSORFLOW_CUSTOM_OPS_OPS_FLASH_ATTENTION_FLASH_ATTENTION_BLOCKS_H_
#define TENSORFLOW_CUSTOM_OPS_OPS_FLASH_ATTENTION_FLASH_ATTENTION_BLOCKS_H_

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "Eigen/Core"
#include "tensorflow_custom_ops/ops/flash_attention/flash_attention_pairs.h"
#include "tensorflow_custom_ops/ops/flash_attention/flash_attention_problem.h"
#include "tensorflow_custom_ops/ops/flash_attention/flash_attention_product.h"
#include "tensorflow_custom_ops/ops/flash_attention/flash_attention_tiles.h"

namespace tensorflow_custom_ops {
namespace flash_attention {
namespace FLASH_ATTENTION_ISA {
namespace {

// Queries and keys of a block: multiples of kTileRows, and the keys of all
// panels.
constexpr int64_t kBlockRows = kRowsMultiple;
constexpr int64_t kBlockKeys = kKeysMultiple;
// Of a block of scores. Not a multiple of a large power of two, or the elements
// of a column would share few sets of the innermost cache.
constexpr int64_t kScoresStride = kBlockKeys + 16;

// What arrays of type T are multiplied as. Other types than bfloat16 gain
// nothing by the instructions for pairs: for those there is no code with them.
#ifdef __AVX512BF16__
template <typename T>
constexpr bool kHasCode = std::is_same_v<T, Eigen::bfloat16>;
template <typename T>
using ElementOf = Pair;
#else
template <typename T>
constexpr bool kHasCode = true;
template <typename T>
using ElementOf = std::conditional_t<std::is_same_v<T, double>, double, float>;
#endif

// Elements that are numbers of their own, of the type of sums.
template <typename E>
constexpr bool kIsSum = std::is_same_v<E, SumOf<E>>;

// What queries are multiplied by, and what their products with keys are, so
// that these are scores. Pairs would be rounded another time.
template <typename E>
struct Scale {
  explicit Scale(double scale)
      : queries(kIsSum<E> ? static_cast<SumOf<E>>(scale) : 1),
        products(kIsSum<E> ? 1 : static_cast<SumOf<E>>(scale)) {}

  SumOf<E> queries;
  SumOf<E> products;
};

// Hands out parts of the memory that a task is given, or only counts them.
class Workspace {
 public:
  explicit Workspace(void* data) : data_(static_cast<char*>(data)) {}

  template <typename S>
  S* Take(int64_t n) {
    S* const part = reinterpret_cast<S*>(data_ + used_);
    used_ += RoundUp(n * static_cast<int64_t>(sizeof(S)), kWorkspaceAlignment);
    return part;
  }

  int64_t used() const { return used_; }

 private:
  char* data_;
  int64_t used_ = 0;
};

template <typename S>
using Row = Eigen::Map<Eigen::Array<S, 1, Eigen::Dynamic>>;
template <typename S>
using ConstRow = Eigen::Map<const Eigen::Array<S, 1, Eigen::Dynamic>>;

// Where the rows of one (batch, key head) are in the queries and what has
// their shape. Those of the heads that share the key head lie together: row r
// is the query r / group of head r % group.
struct QueryRows {
  QueryRows(const Sizes& sizes, int64_t batch, int64_t kv_head)
      : group(Group(sizes)),
        head_dim(sizes.head_dim),
        start((batch * sizes.q_length * sizes.heads + kv_head * group) *
              head_dim),
        query_stride(sizes.heads * head_dim) {}

  int64_t Offset(int64_t row) const {
    return start + row / group * query_stride + row % group * head_dim;
  }

  int64_t group;
  int64_t head_dim;
  int64_t start;
  int64_t query_stride;
};

// A number of keys, or of values, of one (batch, key head).
template <typename T>
struct KeyRows {
  KeyRows(const Sizes& sizes, const void* array, int64_t batch, int64_t kv_head,
          int64_t first, int64_t count)
      : stride(sizes.kv_heads * sizes.head_dim),
        data(static_cast<const T*>(array) +
             (batch * sizes.kv_length + first) * stride +
             kv_head * sizes.head_dim),
        count(count) {}

  int64_t stride;
  const T* data;
  int64_t count;
};

// e to the power of x, which is not much greater than 0; 0 where that is below
// 3e-38, and NaN for NaN.
inline Packet<double> Exp(Packet<double> x) { return packets::pexp(x); }

inline Packet<float> Exp(Packet<float> x) {
  using P = Packet<float>;
  using Integers = typename packets::unpacket_traits<P>::integer_packet;
  using packets::pmadd;
  using packets::pset1;
  // x = n * log(2) + r, with n rounded to the nearest integer. The sum with
  // this number has n + 127 in its last bits, the exponent of a float 2 ** n.
  const P shift = pset1<P>(12582912.f + 127.f);
  const P shifted = pmadd(x, pset1<P>(1.44269504f), shift);
  const P n = packets::psub(shifted, shift);
  P r = pmadd(n, pset1<P>(-0.693359375f), x);
  r = pmadd(n, pset1<P>(2.12194440e-4f), r);
  const P power = packets::preinterpret<P>(packets::plogical_shift_left<23>(
      packets::preinterpret<Integers>(shifted)));
  // exp(r) = 1 + r + r ** 2 * q(r), of least relative error, 3e-9.
  P q = pmadd(r, pset1<P>(1.38145394e-3f), pset1<P>(8.36874545e-3f));
  q = pmadd(r, q, pset1<P>(4.16683890e-2f));
  q = pmadd(r, q, pset1<P>(0.166665211f));
  q = pmadd(r, q, pset1<P>(0.49999994f));
  const P y = pmadd(packets::pmul(r, r), q, packets::padd(r, pset1<P>(1.f)));
  const P zero = packets::pcmp_lt(x, pset1<P>(-86.6f));
  return packets::pandnot(packets::pmul(y, power), zero);
}

template <typename E>
void SetZero(E* elements, int64_t n) {
  std::memset(elements, 0, n * sizeof(E));
}

// The numbers of one vector, of a row at `i`, as elements.
template <typename S>
void StoreNumbers(Packet<S> numbers, int64_t i, S* row) {
  packets::pstoreu(row + i, numbers);
}

// output = factor * row, computed in the type of the factor.
template <typename T, typename S, typename U>
void ConvertRow(const T* row, int64_t n, S factor, U* output) {
  Row<U>(output, n) =
      (ConstRow<T>(row, n).template cast<S>() * factor).template cast<U>();
}

// A row of numbers, times a factor, as elements. That of pairs must be 1.
template <typename T, typename E>
void LoadRow(const T* row, int64_t n, SumOf<E> factor, E* elements) {
  if constexpr (kIsSum<E>) {
    ConvertRow(row, n, factor, elements);
  } else {
    LoadRow(row, n, elements);
  }
}

// Panels whose rows are the given ones: panel p has the columns from p * kPanel
// on, of all rows. Panels are panel_rows rows apart.
template <typename T, typename S>
void PackRows(const T* rows, int64_t stride, int64_t count, int64_t columns,
              int64_t panel_rows, S* panels) {
  for (int64_t column = 0; column < columns; column += kPanel<S>) {
    const int64_t width =
        columns - column < kPanel<S> ? columns - column : kPanel<S>;
    for (int64_t i = 0; i < count; ++i) {
      S* const output = panels + i * kPanel<S>;
      Row<S>(output, width) =
          ConstRow<T>(rows + i * stride + column, width).template cast<S>();
      Row<S>(output + width, kPanel<S> - width).setZero();
    }
    panels += panel_rows * kPanel<S>;
  }
}

// Panels whose columns are the given rows.
template <typename E>
void PackColumns(const E* rows, int64_t stride, int64_t count, int64_t depth,
                 E* panels) {
  // Of the elements' size. It is only moved.
  using S = SumOf<E>;
  static_assert(sizeof(S) == sizeof(E));
  constexpr int64_t kW = kWidth<S>;
  for (int64_t first = 0; first < count; first += kW) {
    E* const output =
        panels + first / kPanel<S> * kPanel<S> * depth + first % kPanel<S>;
    const int64_t width = count - first < kW ? count - first : kW;
    int64_t k = 0;
    if (width == kW) {
      for (; k + kW <= depth; k += kW) {
        packets::PacketBlock<Packet<S>, kW> block;
        for (int64_t i = 0; i < kW; ++i) {
          block.packet[i] = packets::ploadu<Packet<S>>(
              reinterpret_cast<const S*>(rows + (first + i) * stride + k));
        }
        packets::ptranspose(block);
        for (int64_t i = 0; i < kW; ++i) {
          packets::pstoreu(reinterpret_cast<S*>(output + (k + i) * kPanel<S>),
                           block.packet[i]);
        }
      }
    }
    for (; k < depth; ++k) {
      for (int64_t i = 0; i < kW; ++i) {
        output[k * kPanel<S> + i] =
            i < width ? rows[(first + i) * stride + k] : E{};
      }
    }
  }
}

// The same of keys or values, which are elements or not. `scratch` has room for
// them.
template <typename T, typename E>
void PackKeyColumns(const KeyRows<T>& keys, int64_t head_dim, E* scratch,
                    E* panels) {
  if constexpr (std::is_same_v<T, E>) {
    PackColumns(keys.data, keys.stride, keys.count, head_dim, panels);
  } else {
    const int64_t depth = Elements<E>(head_dim);
    for (int64_t i = 0; i < keys.count; ++i) {
      LoadRow(keys.data + i * keys.stride, head_dim, SumOf<E>(1),
              scratch + i * depth);
    }
    PackColumns<E>(scratch, depth, keys.count, depth, panels);
  }
}

// Of one query, the scores of a block's keys from `begin` to `end`; those
// outside of `visible` are none.
template <typename S>
struct ScoreRow {
  S* scores;
  Range columns;
  Range visible;
};

// Sets the scores that are none, and those that follow and that a product or a
// vector takes with them, to `value`.
template <typename S>
void FillInvisible(const ScoreRow<S>& row, S value) {
  Row<S>(row.scores + row.columns.begin, row.visible.begin - row.columns.begin)
      .setConstant(value);
  Row<S>(row.scores + row.visible.end,
         RoundUp(row.columns.end, kWidth<S>) + kTileRows - row.visible.end)
      .setConstant(value);
}

// The bias of one batch and key head.
template <typename T>
class BiasRows {
 public:
  BiasRows(const Bias& bias, int64_t batch, int64_t kv_head, int64_t group)
      : bias_(bias),
        group_(group),
        start_(batch * bias.batch_stride + kv_head * group * bias.head_stride) {
  }

  // Adds the bias to the scores of a row's visible keys, of which the first of
  // the block has this index.
  template <typename S>
  void Add(int64_t row, int64_t first_key, const ScoreRow<S>& scores) const {
    if (bias_.data == nullptr) return;
    const int64_t begin = scores.visible.begin;
    const int64_t n = scores.visible.end - begin;
    const T* const bias = static_cast<const T*>(bias_.data) + Offset(row) +
                          (first_key + begin) * bias_.key_stride;
    Row<S> output(scores.scores + begin, n);
    if (bias_.key_stride == 0) {
      output += static_cast<S>(*bias);
    } else {
      output += ConstRow<T>(bias, n).template cast<S>();
    }
  }

  // Adds the gradients of these scores to that of the bias, if it is wanted.
  template <typename S>
  void AddGradient(int64_t row, int64_t first_key, Range visible,
                   const S* score_grads, S* bias_grad) const {
    if (bias_grad == nullptr) return;
    const int64_t n = visible.end - visible.begin;
    S* const output = bias_grad + Offset(row) +
                      (first_key + visible.begin) * bias_.key_stride;
    const ConstRow<S> gradients(score_grads + visible.begin, n);
    if (bias_.key_stride == 0) {
      *output += gradients.sum();
    } else {
      Row<S>(output, n) += gradients;
    }
  }

 private:
  int64_t Offset(int64_t row) const {
    return start_ + row % group_ * bias_.head_stride +
           row / group_ * bias_.query_stride;
  }

  const Bias& bias_;
  int64_t group_;
  int64_t start_;
};

// The part of a range that is in a block of keys, counted from its first.
inline Range InBlock(Range keys, int64_t first, int64_t count) {
  const auto clamp = [&](int64_t key) {
    const int64_t column = key - first;
    return column < 0 ? 0 : column > count ? count : column;
  };
  return {clamp(keys.begin), clamp(keys.end)};
}

// The keys that the rows of a block see.
inline Range VisibleToRows(const Sizes& sizes, int64_t first, int64_t rows) {
  const int64_t group = Group(sizes);
  return VisibleToAny(sizes, first / group, (first + rows - 1) / group);
}

}  // namespace
}  // namespace FLASH_ATTENTION_ISA
}  // namespace flash_attention
}  // namespace tensorflow_custom_ops

#endif  // TENSORFLOW_CUSTOM_OPS_OPS_FLASH_ATTENTION_FLASH_ATTENTION_BLOCKS_H_
