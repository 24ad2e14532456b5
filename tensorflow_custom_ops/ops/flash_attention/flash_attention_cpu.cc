// SPDX-License-Identifier: Apache-2.0
#include "tensorflow_custom_ops/ops/flash_attention/flash_attention_cpu.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>

#include "Eigen/Core"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "tensorflow/core/platform/logging.h"
#include "tensorflow_custom_ops/core/isa.h"
#include "tensorflow_custom_ops/ops/flash_attention/flash_attention_problem.h"
#include "tensorflow_custom_ops/ops/flash_attention/flash_attention_tiles.h"

namespace tensorflow_custom_ops {
namespace flash_attention {
namespace {

constexpr const ForwardTiles* kForwardTiles[] = {
    &baseline::kForwardTiles,
#ifdef __x86_64__
    &avx2::kForwardTiles,
    &avx512::kForwardTiles,
    &avx512_bf16::kForwardTiles,
#endif
};

constexpr const BackwardTiles* kBackwardTiles[] = {
    &baseline::kBackwardTiles,
#ifdef __x86_64__
    &avx2::kBackwardTiles,
    &avx512::kBackwardTiles,
    &avx512_bf16::kBackwardTiles,
#endif
};

template <typename T, typename Functions>
Functions FunctionsFor(const Tiles<Functions>& tiles) {
  if constexpr (std::is_same_v<T, Eigen::half>) return tiles.half;
  if constexpr (std::is_same_v<T, Eigen::bfloat16>) return tiles.bfloat16;
  if constexpr (std::is_same_v<T, float>) return tiles.float32;
  if constexpr (std::is_same_v<T, double>) return tiles.float64;
}

// The functions for this processor, of those for all instruction sets.
template <typename T, typename Functions, int n>
absl::StatusOr<Functions> Select(const char* op,
                                 const Tiles<Functions>* const (&all)[n]) {
  const absl::StatusOr<Isa> isa = SelectIsa();
  if (!isa.ok()) return isa.status();
  int i = static_cast<int>(*isa);
  while (FunctionsFor<T>(*all[i]).run == nullptr) --i;
  VLOG(1) << op << ": the code for " << all[i]->isa;
  return FunctionsFor<T>(*all[i]);
}

// The type of sums.
template <typename T>
using SumType = std::conditional_t<std::is_same_v<T, double>, double, float>;

int64_t DivideUp(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Memory that is aligned as tasks want it.
struct Free {
  void operator()(void* data) const {
    ::operator delete(data, std::align_val_t(kWorkspaceAlignment));
  }
};
using Memory = std::unique_ptr<void, Free>;

Memory Allocate(int64_t bytes) {
  return Memory(::operator new(bytes, std::align_val_t(kWorkspaceAlignment),
                               std::nothrow));
}

absl::Status OutOfMemory(int64_t bytes) {
  return absl::ResourceExhaustedError(absl::StrCat(
      "FlashAttention: out of memory: cannot allocate ", bytes, " bytes"));
}

// Calls body(index, workspace) for each index, each time with a workspace of
// this size that no other call has at that time.
absl::Status ForEach(int64_t total, int64_t cycles, int64_t workspace_bytes,
                     ParallelFor parallel_for,
                     absl::FunctionRef<void(int64_t, void*)> body) {
  std::atomic<bool> out_of_memory{false};
  parallel_for(total, cycles, [&](int64_t begin, int64_t end) {
    const Memory workspace = Allocate(workspace_bytes);
    if (workspace == nullptr) {
      out_of_memory = true;
      return;
    }
    for (int64_t i = begin; i < end; ++i) body(i, workspace.get());
  });
  return out_of_memory ? OutOfMemory(workspace_bytes) : absl::OkStatus();
}

// About how long it takes to multiply `products` matrices with `rows` queries
// and `keys` keys, with AVX2.
int64_t Cycles(const Sizes& sizes, int products, int64_t rows, int64_t keys) {
  if (sizes.causal) keys = keys / 2 + 1;
  // Twice the largest window would overflow.
  if (sizes.window > 0 && sizes.window < keys / 2) keys = 2 * sizes.window;
  const double multiplications = static_cast<double>(rows) *
                                 static_cast<double>(keys + 1) *
                                 static_cast<double>(sizes.head_dim + 16);
  return static_cast<int64_t>(multiplications * products / 16) + 1;
}

// How many rows a task of the forward pass has. Keys and values are packed for
// each task, so it should have many; but queries and outputs are to stay in the
// cache, and all threads are to have something to do.
int64_t RowsOfTask(const Sizes& sizes, int64_t element_bytes) {
  constexpr int64_t kCacheBytes = 1 << 19;
  constexpr int64_t kManyTasks = 64;
  const int64_t fit = kCacheBytes / (2 * sizes.head_dim * element_bytes);
  const int64_t all = sizes.batch * sizes.q_length * sizes.heads;
  const int64_t rows = std::min(fit, DivideUp(all, kManyTasks));
  return std::max<int64_t>(DivideUp(rows, kRowsMultiple), 2) * kRowsMultiple;
}

}  // namespace

template <typename T>
absl::Status RunForward(const Forward& problem, ParallelFor parallel_for) {
  const auto functions = Select<T>("FlashAttention", kForwardTiles);
  if (!functions.ok()) return functions.status();
  const Sizes& sizes = problem.sizes;
  const int64_t rows = sizes.q_length * Group(sizes);
  if (rows == 0) return absl::OkStatus();
  const int64_t task_rows =
      std::min(rows, RowsOfTask(sizes, sizeof(SumType<T>)));
  const int64_t tasks = DivideUp(rows, task_rows);
  return ForEach(sizes.batch * sizes.kv_heads * tasks,
                 Cycles(sizes, 2, task_rows, sizes.kv_length),
                 functions->workspace_bytes(sizes, task_rows), parallel_for,
                 [&](int64_t index, void* workspace) {
                   const int64_t row = index % tasks * task_rows;
                   const int64_t head = index / tasks;
                   functions->run(problem,
                                  {head / sizes.kv_heads, head % sizes.kv_heads,
                                   row, std::min(task_rows, rows - row)},
                                  workspace);
                 });
}

namespace {

// How the backward pass is divided, by nothing but the sizes: the parts of the
// keys decide the order in which the gradients of queries are summed up. What
// adds to the same elements of the bias's gradient is one item, which one
// thread does in order.
class Division {
 public:
  Division(const Sizes& sizes, const Bias& bias, bool bias_grad)
      : sizes_(sizes),
        key_blocks_(DivideUp(sizes.kv_length, kKeysMultiple)),
        one_batch_(bias_grad && bias.batch_stride == 0),
        one_head_(bias_grad && bias.head_stride == 0),
        one_part_(bias_grad && bias.key_stride == 0) {
    const int64_t heads = batch_items() * head_items();
    parts_ =
        std::clamp<int64_t>(DivideUp(kManyItems, std::max<int64_t>(heads, 1)),
                            1, std::max<int64_t>(key_blocks_, 1));
  }

  // Of the keys.
  int64_t parts() const { return parts_; }

  int64_t items() const { return batch_items() * head_items() * part_items(); }

  // The number of tasks of an item.
  int64_t tasks() const {
    return items() == 0 ? 0 : sizes_.batch * sizes_.kv_heads * parts_ / items();
  }

  // Calls body(batch, kv_head, part) for the tasks of an item.
  void ForEachTask(
      int64_t item,
      absl::FunctionRef<void(int64_t, int64_t, int64_t)> body) const {
    const Range batches =
        ItemRange(item / part_items() / head_items(), one_batch_, sizes_.batch);
    const Range heads = ItemRange(item / part_items() % head_items(), one_head_,
                                  sizes_.kv_heads);
    const Range parts = ItemRange(item % part_items(), one_part_, parts_);
    for (int64_t batch = batches.begin; batch < batches.end; ++batch) {
      for (int64_t head = heads.begin; head < heads.end; ++head) {
        for (int64_t part = parts.begin; part < parts.end; ++part) {
          body(batch, head, part);
        }
      }
    }
  }

  Range Keys(int64_t part) const {
    return {FirstKey(part), FirstKey(part + 1)};
  }

 private:
  static constexpr int64_t kManyItems = 16;

  static Range ItemRange(int64_t index, bool all, int64_t size) {
    return all ? Range{0, size} : Range{index, index + 1};
  }

  int64_t batch_items() const { return one_batch_ ? 1 : sizes_.batch; }
  int64_t head_items() const { return one_head_ ? 1 : sizes_.kv_heads; }
  int64_t part_items() const { return one_part_ ? 1 : parts_; }

  int64_t FirstKey(int64_t part) const {
    return std::min(key_blocks_ * part / parts_ * kKeysMultiple,
                    sizes_.kv_length);
  }

  const Sizes& sizes_;
  const int64_t key_blocks_;
  const bool one_batch_;
  const bool one_head_;
  const bool one_part_;
  int64_t parts_;
};

// The backward pass, with a gradient of the bias that has the type of sums.
template <typename T>
absl::Status RunTasks(const BackwardFunctions& functions,
                      const Backward& problem, ParallelFor parallel_for) {
  using S = SumType<T>;
  const Sizes& sizes = problem.forward.sizes;
  const Division division(sizes, problem.forward.bias,
                          problem.bias_grad != nullptr);
  const int64_t heads = sizes.batch * sizes.kv_heads;
  const int64_t part_elements = functions.query_grad_elements(sizes);
  const int64_t head_elements = division.parts() * part_elements;
  const int64_t bytes = heads * head_elements * static_cast<int64_t>(sizeof(S));
  const Memory memory = Allocate(bytes);
  if (memory == nullptr) return OutOfMemory(bytes);
  S* const query_grads = static_cast<S*>(memory.get());

  const int64_t rows = sizes.q_length * Group(sizes);
  const int64_t task_cycles =
      Cycles(sizes, 5, rows, sizes.kv_length / division.parts());
  const absl::Status status = ForEach(
      division.items(), division.tasks() * task_cycles,
      functions.workspace_bytes(sizes), parallel_for,
      [&](int64_t item, void* workspace) {
        division.ForEachTask(item, [&](int64_t batch, int64_t head,
                                       int64_t part) {
          S* const query_grad =
              query_grads + (batch * sizes.kv_heads + head) * head_elements +
              part * part_elements;
          functions.run(problem, {batch, head, division.Keys(part), query_grad},
                        workspace);
        });
      });
  if (!status.ok()) return status;
  parallel_for(heads, head_elements / 4 + 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      functions.add_query_grads(
          problem, {i / sizes.kv_heads, i % sizes.kv_heads, division.parts(),
                    query_grads + i * head_elements});
    }
  });
  return absl::OkStatus();
}

// Where there is no query, all gradients are 0.
template <typename T>
void SetToZero(const Backward& problem, int64_t bias_elements) {
  const Sizes& sizes = problem.forward.sizes;
  const int64_t elements =
      sizes.batch * sizes.kv_length * sizes.kv_heads * sizes.head_dim;
  std::fill_n(static_cast<T*>(problem.key_grad), elements, T(0));
  std::fill_n(static_cast<T*>(problem.value_grad), elements, T(0));
  std::fill_n(static_cast<T*>(problem.bias_grad), bias_elements, T(0));
}

}  // namespace

template <typename T>
absl::Status RunBackward(const Backward& problem, int64_t bias_elements,
                         ParallelFor parallel_for) {
  using S = SumType<T>;
  const Sizes& sizes = problem.forward.sizes;
  if (sizes.batch == 0 || sizes.q_length == 0 || sizes.heads == 0) {
    // Other dimensions may then be larger than any loop should be long.
    SetToZero<T>(problem, bias_elements);
    return absl::OkStatus();
  }
  const auto functions = Select<T>("FlashAttentionGrad", kBackwardTiles);
  if (!functions.ok()) return functions.status();
  if (problem.bias_grad == nullptr) {
    return RunTasks<T>(*functions, problem, parallel_for);
  }
  if constexpr (std::is_same_v<T, S>) {
    std::fill_n(static_cast<S*>(problem.bias_grad), bias_elements, S(0));
    return RunTasks<T>(*functions, problem, parallel_for);
  } else {
    // Rounded once, after all of them are added.
    std::unique_ptr<S[]> sums(new (std::nothrow) S[bias_elements]());
    if (sums == nullptr) return OutOfMemory(bias_elements * sizeof(S));
    Backward in_sums = problem;
    in_sums.bias_grad = sums.get();
    const absl::Status status = RunTasks<T>(*functions, in_sums, parallel_for);
    if (!status.ok()) return status;
    T* const output = static_cast<T*>(problem.bias_grad);
    parallel_for(bias_elements, 2, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) output[i] = static_cast<T>(sums[i]);
    });
    return absl::OkStatus();
  }
}

#define DEFINE_RUN(T)                                               \
  template absl::Status RunForward<T>(const Forward&, ParallelFor); \
  template absl::Status RunBackward<T>(const Backward&, int64_t, ParallelFor)
DEFINE_RUN(Eigen::half);
DEFINE_RUN(Eigen::bfloat16);
DEFINE_RUN(float);
DEFINE_RUN(double);
#undef DEFINE_RUN

}  // namespace flash_attention
}  // namespace tensorflow_custom_ops
