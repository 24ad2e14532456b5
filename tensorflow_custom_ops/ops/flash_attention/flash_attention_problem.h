// SPDX-License-Identifier: Apache-2.0
// What is computed, for the code of all devices: plain types only.
#ifndef TENSORFLOW_CUSTOM_OPS_OPS_FLASH_ATTENTION_FLASH_ATTENTION_PROBLEM_H_
#define TENSORFLOW_CUSTOM_OPS_OPS_FLASH_ATTENTION_FLASH_ATTENTION_PROBLEM_H_

#include <cstdint>

namespace tensorflow_custom_ops {
namespace flash_attention {

// A range of keys.
struct Range {
  int64_t begin;
  int64_t end;
};

// The sizes, and which keys a query sees. Arrays are row-major:
//   query and output [batch, q_length, heads, head_dim]
//   key and value    [batch, kv_length, kv_heads, head_dim]
//   log_sum_exp      [batch, heads, q_length]
struct Sizes {
  int64_t batch;
  int64_t heads;
  int64_t kv_heads;
  int64_t q_length;
  int64_t kv_length;
  int64_t head_dim;
  bool causal;
  // How many keys a query sees to its left, itself included, and where it is
  // not causal also to its right; 0 is all.
  int64_t window;
};

// These functions are static: they are also compiled for single instruction
// sets, and the linker must not choose one of those copies for all.

// Query heads that share a key head.
static constexpr int64_t Group(const Sizes& sizes) {
  return sizes.heads / sizes.kv_heads;
}

// The keys that a query sees. The last query is at the last key.
static constexpr Range Visible(const Sizes& sizes, int64_t query) {
  const int64_t position = query + sizes.kv_length - sizes.q_length;
  int64_t begin = 0;
  int64_t end = sizes.kv_length;
  if (sizes.causal && position + 1 < end) end = position + 1;
  if (sizes.window > 0) {
    if (position >= sizes.window) begin = position - sizes.window + 1;
    if (end - position > sizes.window) end = position + sizes.window;
  }
  if (end < begin) end = begin;
  return {begin, end};
}

// The keys that any of some queries sees: a range, for each query sees a range
// that begins and ends no earlier than that of the query before.
static constexpr Range VisibleToAny(const Sizes& sizes, int64_t first,
                                    int64_t last) {
  return {Visible(sizes, first).begin, Visible(sizes, last).end};
}

// Scores are scale * query . key + bias. The element of the bias for batch b,
// head h, query i and key j is at the sum of b, h, i and j times its stride: 0
// where it is broadcast.
struct Bias {
  const void* data;  // Null: none.
  int64_t batch_stride;
  int64_t head_stride;
  int64_t query_stride;
  int64_t key_stride;
};

struct Forward {
  Sizes sizes;
  double scale;
  const void* query;
  const void* key;
  const void* value;
  Bias bias;
  void* output;
  void* log_sum_exp;  // float, or double where the others are.
};

// Gradients of the forward pass, whose output and log_sum_exp are inputs.
struct Backward {
  Forward forward;
  const void* output_grad;
  void* query_grad;
  void* key_grad;
  void* value_grad;
  // With the strides of the bias, and the type of log_sum_exp. Zeros at first.
  // Null: not wanted.
  void* bias_grad;
};

}  // namespace flash_attention
}  // namespace tensorflow_custom_ops

#endif  // TENSORFLOW_CUSTOM_OPS_OPS_FLASH_ATTENTION_FLASH_ATTENTION_PROBLEM_H_
