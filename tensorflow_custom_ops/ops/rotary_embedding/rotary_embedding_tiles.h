// SPDX-License-Identifier: Apache-2.0
// What the kernel asks of the code that is compiled for one instruction set.
// Plain types only: that code shares no header with TensorFlow.
#ifndef TENSORFLOW_CUSTOM_OPS_OPS_ROTARY_EMBEDDING_ROTARY_EMBEDDING_TILES_H_
#define TENSORFLOW_CUSTOM_OPS_OPS_ROTARY_EMBEDDING_ROTARY_EMBEDDING_TILES_H_

#include <cstdint>

#include "tensorflow_custom_ops/ops/rotary_embedding/rotary_embedding_problem.h"

namespace tensorflow_custom_ops {
namespace rotary_embedding {

// Turns rows begin...end-1 in the calling thread, counted such that the rows of
// one position follow each other: row p * repeats + r is repeat r of position
// p. `frequencies` are the angles of the pairs at position 1.
using TurnRows = void (*)(const Problem& problem, const double* frequencies,
                          int64_t begin, int64_t end);

// The code for one instruction set.
struct TileFunctions {
  const char* isa;
  TurnRows half;
  TurnRows bfloat16;
  TurnRows float32;
  TurnRows float64;
};

}  // namespace rotary_embedding
}  // namespace tensorflow_custom_ops

#endif  // TENSORFLOW_CUSTOM_OPS_OPS_ROTARY_EMBEDDING_ROTARY_EMBEDDING_TILES_H_
