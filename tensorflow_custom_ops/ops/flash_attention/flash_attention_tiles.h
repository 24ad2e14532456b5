// SPDX-License-Identifier: Apache-2.0
// What the kernels ask of the code that is compiled for one instruction set.
// Plain types only: that code shares no header with TensorFlow.
#ifndef TENSORFLOW_CUSTOM_OPS_OPS_FLASH_ATTENTION_FLASH_ATTENTION_TILES_H_
#define TENSORFLOW_CUSTOM_OPS_OPS_FLASH_ATTENTION_FLASH_ATTENTION_TILES_H_

#include <cstdint>

#include "tensorflow_custom_ops/ops/flash_attention/flash_attention_problem.h"

namespace tensorflow_custom_ops {
namespace flash_attention {

// Of the memory that a task is given.
constexpr int64_t kWorkspaceAlignment = 64;

// Tasks best have a multiple of so many rows.
constexpr int64_t kRowsMultiple = 96;

// A part of the forward pass: some rows of one batch and key head, which are
// the queries of all heads that share it, those of a position together.
struct ForwardTask {
  int64_t batch;
  int64_t kv_head;
  int64_t row;
  int64_t rows;
};

// How to run tasks in the calling thread. The workspace is for one of
// them at a time.
struct ForwardFunctions {
  int64_t (*workspace_bytes)(const Sizes& sizes, int64_t rows);
  void (*run)(const Forward& problem, const ForwardTask& task, void* workspace);
};

// A part of the backward pass: all rows of one batch and key head, and some of
// the keys, from a multiple of kKeysMultiple on. It writes the gradients of the
// keys and values, adds to that of the bias, and writes those of the queries,
// as far as they come from these keys, to query_grad: query_grad_elements() of
// the type of log_sum_exp.
struct BackwardTask {
  int64_t batch;
  int64_t kv_head;
  Range keys;
  void* query_grad;
};

// Blocks of keys are so large.
constexpr int64_t kKeysMultiple = 384;

// What is left to do for the queries of one batch and key head: to add up what
// `parts` tasks have written, one after another.
struct QueryGradTask {
  int64_t batch;
  int64_t kv_head;
  int64_t parts;
  void* query_grads;
};

struct BackwardFunctions {
  int64_t (*workspace_bytes)(const Sizes& sizes);
  int64_t (*query_grad_elements)(const Sizes& sizes);
  void (*run)(const Backward& problem, const BackwardTask& task,
              void* workspace);
  void (*add_query_grads)(const Backward& problem, const QueryGradTask& task);
};

// The code for one instruction set. A type for which it has none gets that for
// the instruction set before.
template <typename Functions>
struct Tiles {
  const char* isa;
  Functions half;
  Functions bfloat16;
  Functions float32;
  Functions float64;
};
using ForwardTiles = Tiles<ForwardFunctions>;
using BackwardTiles = Tiles<BackwardFunctions>;

// What every processor of the architecture has.
namespace baseline {
extern const ForwardTiles kForwardTiles;
extern const BackwardTiles kBackwardTiles;
}  // namespace baseline
#ifdef __x86_64__
namespace avx2 {
extern const ForwardTiles kForwardTiles;
extern const BackwardTiles kBackwardTiles;
}  // namespace avx2
namespace avx512 {
extern const ForwardTiles kForwardTiles;
extern const BackwardTiles kBackwardTiles;
}  // namespace avx512
namespace avx512_bf16 {
extern const ForwardTiles kForwardTiles;
extern const BackwardTiles kBackwardTiles;
}  // namespace avx512_bf16
#endif

}  // namespace flash_attention
}  // namespace tensorflow_custom_ops

#endif  // TENSORFLOW_CUSTOM_OPS_OPS_FLASH_ATTENTION_FLASH_ATTENTION_TILES_H_
