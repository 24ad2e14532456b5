// SPDX-License-Identifier: Apache-2.0
// What the kernel asks of the code that is compiled for one instruction set.
// Plain types only: that code shares no header with TensorFlow.
#ifndef TENSORFLOW_CUSTOM_OPS_OPS_FUSED_DENSE_FUSED_DENSE_TILES_H_
#define TENSORFLOW_CUSTOM_OPS_OPS_FUSED_DENSE_FUSED_DENSE_TILES_H_

#include <cstdint>

#include "tensorflow_custom_ops/ops/fused_dense/fused_dense_problem.h"

namespace tensorflow_custom_ops {
namespace fused_dense {

// A part of the output: `rows` rows from `row` on, and the like for units.
struct Tile {
  int64_t row;
  int64_t rows;
  int64_t unit;
  int64_t units;
};

// Computes one tile, in the calling thread.
using ComputeTile = void (*)(const Problem& problem, const Tile& tile);

// The code for one instruction set.
struct TileFunctions {
  const char* isa;
  ComputeTile half;
  ComputeTile bfloat16;
  ComputeTile float32;
  ComputeTile float64;
};

// What every processor of the architecture has.
namespace baseline {
extern const TileFunctions kTileFunctions;
}
#ifdef __x86_64__
namespace avx2 {
extern const TileFunctions kTileFunctions;
}
namespace avx512 {
extern const TileFunctions kTileFunctions;
}
#endif

}  // namespace fused_dense
}  // namespace tensorflow_custom_ops

#endif  // TENSORFLOW_CUSTOM_OPS_OPS_FUSED_DENSE_FUSED_DENSE_TILES_H_
