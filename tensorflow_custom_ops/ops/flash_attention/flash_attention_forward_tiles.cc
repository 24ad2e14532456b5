// SPDX-License-Identifier: Apache-2.0
// The forward pass, compiled once for each instruction set; FLASH_ATTENTION_ISA
// is its name. A function that two of these objects have under one name would
// be kept once by the linker, and crash processors that lack its instructions.
// So Eigen gets another namespace in each, and no header with functions of its
// own is included but Eigen's and those that are for these sources alone.
// isa_symbols_test checks the result.
#include "tensorflow_custom_ops/core/isa_namespace.h"

#define Eigen ISA_NAME(Eigen, FLASH_ATTENTION_ISA)
#define FLASH_ATTENTION_STRING_(a) #a
#define FLASH_ATTENTION_STRING(a) FLASH_ATTENTION_STRING_(a)

#include <cmath>
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

// The memory of a task.
template <typename E>
struct ForwardMemory {
  using S = SumOf<E>;

  ForwardMemory(const Sizes& sizes, int64_t rows, Workspace& workspace)
      : depth(Elements<E>(sizes.head_dim)),
        width(RoundUp(sizes.head_dim, kWidth<S>)),
        query(workspace.Take<E>(RoundUp(rows, kTileRows) * depth)),
        output(workspace.Take<S>(RoundUp(rows, kTileRows) * width)),
        max(workspace.Take<S>(rows)),
        sum(workspace.Take<S>(rows)),
        keys(workspace.Take<E>(kBlockKeys * depth)),
        key_panels(workspace.Take<E>(kBlockKeys * depth)),
        value_panels(workspace.Take<E>(Elements<E>(kBlockKeys) *
                                       RoundUp(sizes.head_dim, kPanel<S>))),
        scores(workspace.Take<S>(kBlockRows * kScoresStride)) {}

  int64_t depth;    // Of queries and keys.
  int64_t width;    // Of the output's rows.
  E* query;         // [rows, depth], scaled if numbers are
  S* output;        // [rows, width], as if `max` were the greatest score
  S* max;           // [rows], the greatest scores so far
  S* sum;           // [rows], of exp(score - max)
  E* keys;          // Of a block.
  E* key_panels;    // Keys are columns.
  E* value_panels;  // Values are rows.
  S* scores;        // [kBlockRows, kScoresStride]
};

// Replaces scores by exp(score - max) as elements, from the row's first on,
// adds them to `sum`, and updates `max`. Returns what earlier results must be
// multiplied by for the new maximum.
template <typename E, typename S>
S UpdateSoftmax(const ScoreRow<S>& row, S& max, S& sum) {
  using P = Packet<S>;
  constexpr int64_t kW = kWidth<S>;
  constexpr S kNone = -std::numeric_limits<S>::infinity();
  FillInvisible(row, kNone);
  P maxima = packets::pset1<P>(max);
  for (int64_t i = row.columns.begin; i < row.columns.end; i += kW) {
    maxima = packets::pmax(maxima, packets::ploadu<P>(row.scores + i));
  }
  const S new_max = packets::predux_max(maxima);
  // While there is no score, exp(-inf - 0) is what it should be.
  const S base = new_max == kNone ? S(0) : new_max;
  const P bases = packets::pset1<P>(base);
  P sums = packets::pset1<P>(S(0));
  for (int64_t i = row.columns.begin; i < row.columns.end; i += kW) {
    const P p = Exp(packets::psub(packets::ploadu<P>(row.scores + i), bases));
    sums = packets::padd(sums, p);
    // Elements are no larger than scores, and take the place of earlier ones.
    StoreNumbers(p, i, reinterpret_cast<E*>(row.scores));
  }
  const S factor = std::exp(max - base);
  sum = sum * factor + packets::predux(sums);
  max = new_max;
  return factor;
}

template <typename T, typename E>
void AttendBlock(const Forward& problem, const ForwardTask& task,
                 int64_t first_key, int64_t keys,
                 const ForwardMemory<E>& memory) {
  using S = SumOf<E>;
  const Sizes& sizes = problem.sizes;
  const int64_t group = Group(sizes);
  const BiasRows<T> bias(problem.bias, task.batch, task.kv_head, group);
  for (int64_t block = 0; block < task.rows; block += kBlockRows) {
    const int64_t rows =
        task.rows - block < kBlockRows ? task.rows - block : kBlockRows;
    Range columns =
        InBlock(VisibleToRows(sizes, task.row + block, rows), first_key, keys);
    if (columns.begin >= columns.end) continue;
    columns.begin -= columns.begin % kPanel<S>;
    Product<E>(rows, columns.end - columns.begin, memory.depth,
               {memory.query + block * memory.depth, memory.depth, 1},
               memory.key_panels + columns.begin * memory.depth,
               kPanel<S> * memory.depth,
               {memory.scores + columns.begin, kScoresStride,
                /*accumulate=*/false, Scale<E>(problem.scale).products});
    for (int64_t i = 0; i < rows; ++i) {
      const int64_t row = task.row + block + i;
      Range visible = InBlock(Visible(sizes, row / group), first_key, keys);
      const ScoreRow<S> scores = {memory.scores + i * kScoresStride, columns,
                                  visible};
      bias.Add(row, first_key, scores);
      const S factor = UpdateSoftmax<E>(scores, memory.max[block + i],
                                        memory.sum[block + i]);
      if (factor != S(1)) {
        Row<S>(memory.output + (block + i) * memory.width, memory.width) *=
            factor;
      }
    }
    const int64_t first = Elements<E>(columns.begin);
    Product<E>(
        rows, sizes.head_dim, Elements<E>(columns.end) - first,
        {reinterpret_cast<const E*>(memory.scores) + first, kScoresStride, 1},
        memory.value_panels + first * kPanel<S>,
        kPanel<S> * Elements<E>(kBlockKeys),
        {memory.output + block * memory.width, memory.width,
         /*accumulate=*/true});
  }
}

template <typename T, typename E>
void WriteOutput(const Forward& problem, const ForwardTask& task,
                 const ForwardMemory<E>& memory) {
  using S = SumOf<E>;
  const Sizes& sizes = problem.sizes;
  const QueryRows rows(sizes, task.batch, task.kv_head);
  for (int64_t i = 0; i < task.rows; ++i) {
    const int64_t row = task.row + i;
    const int64_t head = task.kv_head * rows.group + row % rows.group;
    const S sum = memory.sum[i];
    Row<T> output(static_cast<T*>(problem.output) + rows.Offset(row),
                  sizes.head_dim);
    if (sum == S(0)) {
      output.setZero();
    } else {
      output = (Row<S>(memory.output + i * memory.width, sizes.head_dim) / sum)
                   .template cast<T>();
    }
    static_cast<S*>(
        problem
            .log_sum_exp)[(task.batch * sizes.heads + head) * sizes.q_length +
                          row / rows.group] = memory.max[i] + std::log(sum);
  }
}

template <typename T>
int64_t ForwardWorkspaceBytes(const Sizes& sizes, int64_t rows) {
  Workspace workspace(nullptr);
  ForwardMemory<ElementOf<T>>(sizes, rows, workspace);
  return workspace.used();
}

template <typename T>
void RunForward(const Forward& problem, const ForwardTask& task, void* data) {
  using E = ElementOf<T>;
  using S = SumOf<E>;
  const Sizes& sizes = problem.sizes;
  Workspace workspace(data);
  const ForwardMemory<E> memory(sizes, task.rows, workspace);
  const QueryRows rows(sizes, task.batch, task.kv_head);
  const int64_t padded_rows = RoundUp(task.rows, kTileRows);
  for (int64_t i = 0; i < task.rows; ++i) {
    LoadRow(static_cast<const T*>(problem.query) + rows.Offset(task.row + i),
            sizes.head_dim, Scale<E>(problem.scale).queries,
            memory.query + i * memory.depth);
  }
  SetZero(memory.query + task.rows * memory.depth,
          (padded_rows - task.rows) * memory.depth);
  Row<S>(memory.output, padded_rows * memory.width).setZero();
  Row<S>(memory.max, task.rows)
      .setConstant(-std::numeric_limits<S>::infinity());
  Row<S>(memory.sum, task.rows).setZero();

  const Range visible = VisibleToRows(sizes, task.row, task.rows);
  // Blocks begin at the same keys in all tasks, so that a query's result does
  // not depend on which others are in its task.
  for (int64_t first = visible.begin / kBlockKeys * kBlockKeys;
       first < visible.end; first += kBlockKeys) {
    const int64_t keys =
        visible.end - first < kBlockKeys ? visible.end - first : kBlockKeys;
    const KeyRows<T> key_rows(sizes, problem.key, task.batch, task.kv_head,
                              first, keys);
    PackKeyColumns(key_rows, sizes.head_dim, memory.keys, memory.key_panels);
    const KeyRows<T> value_rows(sizes, problem.value, task.batch, task.kv_head,
                                first, keys);
    PackRows(value_rows.data, value_rows.stride, keys, sizes.head_dim,
             kBlockKeys, memory.value_panels);
    AttendBlock<T>(problem, task, first, keys, memory);
  }
  WriteOutput<T>(problem, task, memory);
}

template <typename T>
constexpr ForwardFunctions FunctionsFor() {
  if constexpr (kHasCode<T>) {
    return {ForwardWorkspaceBytes<T>, RunForward<T>};
  } else {
    return {};
  }
}

}  // namespace

const ForwardTiles kForwardTiles = {
    FLASH_ATTENTION_STRING(FLASH_ATTENTION_ISA), FunctionsFor<Eigen::half>(),
    FunctionsFor<Eigen::bfloat16>(), FunctionsFor<float>(),
    FunctionsFor<double>()};

}  // namespace FLASH_ATTENTION_ISA
}  // namespace flash_attention
}  // namespace tensorflow_custom_ops
