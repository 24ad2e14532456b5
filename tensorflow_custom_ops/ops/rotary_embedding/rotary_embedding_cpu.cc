// SPDX-License-Identifier: Apache-2.0
#include "tensorflow_custom_ops/ops/rotary_embedding/rotary_embedding_cpu.h"

#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tensorflow_custom_ops/core/isa.h"
#include "tensorflow_custom_ops/ops/rotary_embedding/rotary_embedding_frequency.h"
#include "tensorflow_custom_ops/ops/rotary_embedding/rotary_embedding_tiles.h"

#define DECLARE_TILES(isa)                                              \
  namespace tensorflow_custom_ops_##isa {                               \
    extern const tensorflow_custom_ops::rotary_embedding::TileFunctions \
        kRotaryEmbeddingTiles;                                          \
  }
DECLARE_TILES(baseline)
#ifdef __x86_64__
DECLARE_TILES(avx2)
DECLARE_TILES(avx512)
#endif
#undef DECLARE_TILES

namespace tensorflow_custom_ops {
namespace rotary_embedding {
namespace {

constexpr const TileFunctions* kTileFunctions[] = {
    &tensorflow_custom_ops_baseline::kRotaryEmbeddingTiles,
#ifdef __x86_64__
    &tensorflow_custom_ops_avx2::kRotaryEmbeddingTiles,
    &tensorflow_custom_ops_avx512::kRotaryEmbeddingTiles,
#endif
};

TurnRows TileFunction(const TileFunctions& functions, Type type) {
  switch (type) {
    case Type::kHalf:
      return functions.half;
    case Type::kBFloat16:
      return functions.bfloat16;
    case Type::kDouble:
      return functions.float64;
    default:
      return functions.float32;
  }
}

}  // namespace

absl::Status RunOnCpu(const Problem& problem, Type type,
                      ParallelFor parallel_for) {
  const absl::StatusOr<const TileFunctions*> functions = ForIsa(kTileFunctions);
  if (!functions.ok()) return functions.status();
  const TurnRows turn_rows = TileFunction(**functions, type);
  absl::InlinedVector<double, 128> frequencies(problem.rotary_dim / 2);
  for (size_t i = 0; i < frequencies.size(); ++i) {
    frequencies[i] = Frequency(problem.base, problem.rotary_dim, i);
  }
  // With AVX2, of an element and of the cosine and sine of a pair.
  constexpr int64_t kCyclesPerElement = 1;
  constexpr int64_t kCyclesPerPair = 10;
  const int64_t cycles =
      problem.heads * problem.head_dim * kCyclesPerElement +
      problem.rotary_dim / 2 * kCyclesPerPair / problem.repeats + 1;
  parallel_for(problem.count * problem.repeats, cycles,
               [&](int64_t begin, int64_t end) {
                 turn_rows(problem, frequencies.data(), begin, end);
               });
  return absl::OkStatus();
}

}  // namespace rotary_embedding
}  // namespace tensorflow_custom_ops
