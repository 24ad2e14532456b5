// SPDX-License-Identifier: Apache-2.0
// The backward pass, compiled once for each instruction set; see
// flash_attention_forward_tiles.cc.
#include "tensorflow_custom_ops/core/isa_namespace.h"

#define Eigen ISA_NAME(Eigen, FLASH_ATTENTION_ISA)
#define FLASH_ATTENTION_STRING_(a) #a
#define FLASH_ATTENTION_STRING(a) FLASH_ATTENTION_STRING_(a)

#include <limits>

#include "Eigen/Core"
#include "tensorflow_custom_ops/ops/flash_attention/flash_attention_blocks.h"
#include "tensorflow_custom_ops/ops/flash_attention/flash_attention_problem.h"
#include "tensorflow_custom_ops/ops/flash_attention/flash_attention_product.h"
#include "tensorflow_custom_ops/ops/flash_attention/flash_attention_tiles.h"

namespace tensorflow_custom_ops {
namespace flash_attention {
namespace FLASH_ATTENTION_ISA {
namespace {

// Of a block's scores, from one row to the next, as elements.
template <typename E>
constexpr int64_t kScoreElements = Elements<E>(kScoresStride);

template <typename S>
int64_t RowWidth(const Sizes& sizes) {
  return RoundUp(sizes.head_dim, kWidth<S>);
}

// The memory of a task. Rows are those of a block of queries, and keys those of
// a block of keys.
template <typename E>
struct BackwardMemory {
  using S = SumOf<E>;

  BackwardMemory(const Sizes& sizes, Workspace& workspace)
      : depth(Elements<E>(sizes.head_dim)), width(RowWidth<S>(sizes)) {
    const int64_t panels = RoundUp(sizes.head_dim, kPanel<S>);
    const int64_t row_panels = Elements<E>(kBlockRows) * panels;
    query = workspace.Take<E>(kBlockRows * depth);
    query_panels = workspace.Take<E>(row_panels);
    output_grad = workspace.Take<E>(kBlockRows * depth);
    output_grad_panels = workspace.Take<E>(row_panels);
    log_sum_exp = workspace.Take<S>(kBlockRows);
    delta = workspace.Take<S>(kBlockRows);
    keys = workspace.Take<E>(kBlockKeys * depth);
    key_panels = workspace.Take<E>(kBlockKeys * depth);
    key_row_panels = workspace.Take<E>(Elements<E>(kBlockKeys) * panels);
    value_panels = workspace.Take<E>(kBlockKeys * depth);
    key_grad = workspace.Take<S>((kBlockKeys + kTileRows) * width);
    value_grad = workspace.Take<S>((kBlockKeys + kTileRows) * width);
    probabilities = workspace.Take<S>(kBlockRows * kScoresStride);
    score_grads = workspace.Take<S>(kBlockRows * kScoresStride);
    if constexpr (kIsSum<E>) {
      score_grad_rows = score_grads;
    } else {
      score_grad_rows = workspace.Take<E>(kBlockRows * kScoreElements<E>);
    }
  }

  int64_t depth;          // Of queries, keys and the output's gradients.
  int64_t width;          // Of a row of a gradient.
  E* query;               // [rows, depth], scaled if numbers are
  E* query_panels;        // Queries are rows.
  E* output_grad;         // [rows, depth]
  E* output_grad_panels;  // The output's gradients are rows.
  S* log_sum_exp;         // [rows]
  S* delta;               // [rows], of output * output_grad
  E* keys;                // A scratch.
  E* key_panels;          // Keys are columns.
  E* key_row_panels;      // Keys are rows.
  E* value_panels;        // Values are columns.
  S* key_grad;            // [keys, width]
  S* value_grad;          // [keys, width]
  S* probabilities;       // [rows, kScoresStride], or scores
  S* score_grads;         // [rows, kScoresStride], or those of probabilities
  E* score_grad_rows;     // [rows, kScoreElements]
};

// A block of queries and one of keys.
struct Block {
  int64_t row;
  int64_t rows;
  int64_t key;
  // Those of the keys that any of the queries sees.
  Range columns;
};

template <typename T, typename E>
void LoadKeys(const Backward& problem, const BackwardTask& task, int64_t first,
              int64_t count, const BackwardMemory<E>& memory) {
  const Sizes& sizes = problem.forward.sizes;
  const KeyRows<T> keys(sizes, problem.forward.key, task.batch, task.kv_head,
                        first, count);
  PackKeyColumns(keys, sizes.head_dim, memory.keys, memory.key_panels);
  PackRows(keys.data, keys.stride, count, sizes.head_dim, kBlockKeys,
           memory.key_row_panels);
  const KeyRows<T> values(sizes, problem.forward.value, task.batch,
                          task.kv_head, first, count);
  PackKeyColumns(values, sizes.head_dim, memory.keys, memory.value_panels);
}

template <typename T, typename E>
void LoadRows(const Backward& problem, const BackwardTask& task,
              const Block& block, const BackwardMemory<E>& memory) {
  using S = SumOf<E>;
  const Sizes& sizes = problem.forward.sizes;
  const int64_t head_dim = sizes.head_dim;
  const QueryRows rows(sizes, task.batch, task.kv_head);
  const auto* const query = static_cast<const T*>(problem.forward.query);
  const auto* const output = static_cast<const T*>(problem.forward.output);
  const auto* const output_grad = static_cast<const T*>(problem.output_grad);
  const auto* const log_sum_exp =
      static_cast<const S*>(problem.forward.log_sum_exp);
  for (int64_t i = 0; i < block.rows; ++i) {
    const int64_t row = block.row + i;
    const int64_t offset = rows.Offset(row);
    LoadRow(query + offset, head_dim, Scale<E>(problem.forward.scale).queries,
            memory.query + i * memory.depth);
    LoadRow(output_grad + offset, head_dim, S(1),
            memory.output_grad + i * memory.depth);
    memory.delta[i] =
        (ConstRow<T>(output + offset, head_dim).template cast<S>() *
         ConstRow<T>(output_grad + offset, head_dim).template cast<S>())
            .sum();
    const int64_t head = task.kv_head * rows.group + row % rows.group;
    const S lse =
        log_sum_exp[(task.batch * sizes.heads + head) * sizes.q_length +
                    row / rows.group];
    // Of a query that sees nothing: exp(-inf - 0) is what it should be.
    memory.log_sum_exp[i] =
        lse == -std::numeric_limits<S>::infinity() ? S(0) : lse;
  }
  const auto pack = [&](const E* rows, E* panels) {
    PackRows(reinterpret_cast<const typename Operand<E>::Number*>(rows),
             memory.depth * Operand<E>::kNumbers, block.rows, head_dim,
             kBlockRows, panels);
  };
  pack(memory.query, memory.query_panels);
  pack(memory.output_grad, memory.output_grad_panels);
}

// From scores and gradients of probabilities to probabilities and gradients of
// scores. What is not visible gets zeros in the end, also where the query is
// not finite.
template <typename S>
void BackwardRow(const ScoreRow<S>& row, S log_sum_exp, S delta,
                 S* score_grads) {
  using P = Packet<S>;
  const P log_sum_exps = packets::pset1<P>(log_sum_exp);
  const P deltas = packets::pset1<P>(delta);
  for (int64_t i = row.columns.begin; i < row.columns.end; i += kWidth<S>) {
    const P p =
        Exp(packets::psub(packets::ploadu<P>(row.scores + i), log_sum_exps));
    const P gradient = packets::ploadu<P>(score_grads + i);
    packets::pstoreu(row.scores + i, p);
    packets::pstoreu(score_grads + i,
                     packets::pmul(p, packets::psub(gradient, deltas)));
  }
  FillInvisible(row, S(0));
  FillInvisible(ScoreRow<S>{score_grads, row.columns, row.visible}, S(0));
}

// Makes elements of a block's probabilities and gradients of scores: of each
// column in the place of the numbers, and of each row of score_grad_rows.
template <typename E>
void MakeElements(const Block& block, const BackwardMemory<E>& memory) {
  if constexpr (!kIsSum<E>) {
    // With those that a product takes with them.
    const Range columns = {
        block.columns.begin,
        RoundUp(block.columns.end, kWidth<float>) + kTileRows};
    for (int64_t i = 0; i < block.rows; ++i) {
      for (int64_t j = columns.begin; j < block.columns.end;
           j += kWidth<float>) {
        StoreNumbers(packets::ploadu<Packet<float>>(memory.score_grads +
                                                    i * kScoresStride + j),
                     j, memory.score_grad_rows + i * kScoreElements<E>);
      }
    }
    PairRows(block.rows, columns, memory.probabilities, kScoresStride);
    PairRows(block.rows, columns, memory.score_grads, kScoresStride);
  }
}

template <typename T, typename E>
void ComputeBlock(const Backward& problem, const BackwardTask& task,
                  const Block& block, int64_t block_keys,
                  const BackwardMemory<E>& memory) {
  using S = SumOf<E>;
  const Sizes& sizes = problem.forward.sizes;
  const int64_t depth = memory.depth;
  const int64_t begin = block.columns.begin;
  const int64_t columns = block.columns.end - begin;
  const auto product = [&](const E* rows, const E* panels, S factor,
                           S* output) {
    Product<E>(block.rows, columns, depth, {rows, depth, 1},
               panels + begin * depth, kPanel<S> * depth,
               {output + begin, kScoresStride, /*accumulate=*/false, factor});
  };
  product(memory.query, memory.key_panels,
          Scale<E>(problem.forward.scale).products, memory.probabilities);
  product(memory.output_grad, memory.value_panels, S(1), memory.score_grads);

  const BiasRows<T> bias(problem.forward.bias, task.batch, task.kv_head,
                         Group(sizes));
  for (int64_t i = 0; i < block.rows; ++i) {
    const int64_t row = block.row + i;
    const ScoreRow<S> scores = {
        memory.probabilities + i * kScoresStride, block.columns,
        InBlock(Visible(sizes, row / Group(sizes)), block.key, block_keys)};
    S* const score_grads = memory.score_grads + i * kScoresStride;
    bias.Add(row, block.key, scores);
    BackwardRow(scores, memory.log_sum_exp[i], memory.delta[i], score_grads);
    bias.AddGradient(row, block.key, scores.visible, score_grads,
                     static_cast<S*>(problem.bias_grad));
  }

  MakeElements(block, memory);

  // Transposed: keys are rows.
  const auto transposed = [&](const S* scores, const E* panels, S* output) {
    Product<E>(columns, sizes.head_dim, Elements<E>(block.rows),
               {reinterpret_cast<const E*>(scores) + begin, 1,
                Operand<E>::kNumbers * kScoresStride},
               panels, kPanel<S> * Elements<E>(kBlockRows),
               {output + begin * memory.width, memory.width,
                /*accumulate=*/true});
  };
  transposed(memory.probabilities, memory.output_grad_panels,
             memory.value_grad);
  transposed(memory.score_grads, memory.query_panels, memory.key_grad);
  const int64_t first = Elements<E>(begin);
  Product<E>(block.rows, sizes.head_dim, Elements<E>(block.columns.end) - first,
             {memory.score_grad_rows + first, kScoreElements<E>, 1},
             memory.key_row_panels + first * kPanel<S>,
             kPanel<S> * Elements<E>(kBlockKeys),
             {static_cast<S*>(task.query_grad) + block.row * memory.width,
              memory.width, /*accumulate=*/true});
}

template <typename T, typename S>
void WriteKeyGrads(const Sizes& sizes, const BackwardTask& task, int64_t first,
                   int64_t count, const S* sums, int64_t width, S factor,
                   void* array) {
  const KeyRows<T> rows(sizes, array, task.batch, task.kv_head, first, count);
  T* const output = const_cast<T*>(rows.data);
  for (int64_t i = 0; i < count; ++i) {
    ConvertRow(sums + i * width, sizes.head_dim, factor,
               output + i * rows.stride);
  }
}

// Rows of one batch and key head, with room for whole tiles.
int64_t PaddedRows(const Sizes& sizes) {
  return RoundUp(sizes.q_length * Group(sizes), kTileRows);
}

template <typename T>
int64_t QueryGradElements(const Sizes& sizes) {
  return PaddedRows(sizes) * RowWidth<SumOf<ElementOf<T>>>(sizes);
}

template <typename T>
int64_t BackwardWorkspaceBytes(const Sizes& sizes) {
  Workspace workspace(nullptr);
  BackwardMemory<ElementOf<T>>(sizes, workspace);
  return workspace.used();
}

template <typename T>
void RunBackward(const Backward& problem, const BackwardTask& task,
                 void* data) {
  using E = ElementOf<T>;
  using S = SumOf<E>;
  const Sizes& sizes = problem.forward.sizes;
  Workspace workspace(data);
  const BackwardMemory<E> memory(sizes, workspace);
  const int64_t rows = sizes.q_length * Group(sizes);
  Row<S>(static_cast<S*>(task.query_grad), QueryGradElements<T>(sizes))
      .setZero();
  // Rows that there are not are in no sum, but they are computed with.
  SetZero(memory.query, kBlockRows * memory.depth);
  SetZero(memory.output_grad, kBlockRows * memory.depth);
  SetZero(memory.score_grad_rows, kBlockRows * kScoreElements<E>);

  for (int64_t first = task.keys.begin; first < task.keys.end;
       first += kBlockKeys) {
    const int64_t keys =
        task.keys.end - first < kBlockKeys ? task.keys.end - first : kBlockKeys;
    LoadKeys<T>(problem, task, first, keys, memory);
    Row<S>(memory.key_grad, kBlockKeys * memory.width).setZero();
    Row<S>(memory.value_grad, kBlockKeys * memory.width).setZero();
    for (int64_t row = 0; row < rows; row += kBlockRows) {
      Block block = {row, rows - row < kBlockRows ? rows - row : kBlockRows,
                     first, Range{}};
      block.columns =
          InBlock(VisibleToRows(sizes, row, block.rows), first, keys);
      if (block.columns.begin >= block.columns.end) continue;
      block.columns.begin -= block.columns.begin % kPanel<S>;
      LoadRows<T>(problem, task, block, memory);
      ComputeBlock<T>(problem, task, block, keys, memory);
    }
    WriteKeyGrads<T>(sizes, task, first, keys, memory.key_grad, memory.width,
                     Scale<E>(problem.forward.scale).products,
                     problem.key_grad);
    WriteKeyGrads<T>(sizes, task, first, keys, memory.value_grad, memory.width,
                     S(1), problem.value_grad);
  }
}

template <typename T>
void AddQueryGrads(const Backward& problem, const QueryGradTask& task) {
  using S = SumOf<ElementOf<T>>;
  const Sizes& sizes = problem.forward.sizes;
  const int64_t width = RowWidth<S>(sizes);
  const int64_t part_size = QueryGradElements<T>(sizes);
  const QueryRows rows(sizes, task.batch, task.kv_head);
  for (int64_t row = 0; row < sizes.q_length * Group(sizes); ++row) {
    S* const parts = static_cast<S*>(task.query_grads) + row * width;
    // In place of the first part.
    Row<S> sum(parts, width);
    for (int64_t i = 1; i < task.parts; ++i) {
      sum += ConstRow<S>(parts + i * part_size, width);
    }
    ConvertRow(sum.data(), sizes.head_dim,
               static_cast<S>(problem.forward.scale),
               static_cast<T*>(problem.query_grad) + rows.Offset(row));
  }
}

template <typename T>
constexpr BackwardFunctions FunctionsFor() {
  if constexpr (kHasCode<T>) {
    return {BackwardWorkspaceBytes<T>, QueryGradElements<T>, RunBackward<T>,
            AddQueryGrads<T>};
  } else {
    return {};
  }
}

}  // namespace

const BackwardTiles kBackwardTiles = {
    FLASH_ATTENTION_STRING(FLASH_ATTENTION_ISA), FunctionsFor<Eigen::half>(),
    FunctionsFor<Eigen::bfloat16>(), FunctionsFor<float>(),
    FunctionsFor<double>()};

}  // namespace FLASH_ATTENTION_ISA
}  // namespace flash_attention
}  // namespace tensorflow_custom_ops
