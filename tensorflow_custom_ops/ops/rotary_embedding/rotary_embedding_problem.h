// SPDX-License-Identifier: Apache-2.0
// What is computed, for the code of all devices: plain types only.
#ifndef TENSORFLOW_CUSTOM_OPS_OPS_ROTARY_EMBEDDING_ROTARY_EMBEDDING_PROBLEM_H_
#define TENSORFLOW_CUSTOM_OPS_OPS_ROTARY_EMBEDDING_ROTARY_EMBEDDING_PROBLEM_H_

#include <cstdint>

namespace tensorflow_custom_ops {
namespace rotary_embedding {

// By this name XLA's code calls the kernel, whatever the device.
inline constexpr char kCustomCall[] = "tensorflow_custom_ops.RotaryEmbedding";

// Rows of heads, [repeats, count, heads, head_dim]: each row in which the
// second index is p is at position p. Of the first rotary_dim elements of each
// head, pair i turns by the angle position * base^(-2i / rotary_dim), or back.
struct Problem {
  const void* input;
  void* output;  // May be the input.
  // At most one is given, with `count` elements; else they are 0, 1, 2 ...
  const int32_t* positions32;
  const int64_t* positions64;
  int64_t repeats;
  int64_t count;
  int64_t heads;
  int64_t head_dim;
  int64_t rotary_dim;
  double base;
  // Whether elements 2i and 2i + 1 are pair i, or i and i + rotary_dim / 2.
  bool interleaved;
  bool inverse;
};

}  // namespace rotary_embedding
}  // namespace tensorflow_custom_ops

#endif  // TENSORFLOW_CUSTOM_OPS_OPS_ROTARY_EMBEDDING_ROTARY_EMBEDDING_PROBLEM_H_
