// SPDX-License-Identifier: Apache-2.0
#include "tensorflow_custom_ops/core/normalization/cpu.h"

#include <algorithm>

#include "tensorflow_custom_ops/core/isa.h"

#define DECLARE_ROWS(isa)                                          \
  namespace tensorflow_custom_ops_##isa::normalization {           \
    extern const tensorflow_custom_ops::normalization::Rows kRows; \
  }
DECLARE_ROWS(baseline)
#ifdef __x86_64__
DECLARE_ROWS(avx2)
DECLARE_ROWS(avx512)
#endif
#undef DECLARE_ROWS

namespace tensorflow_custom_ops {
namespace normalization {
namespace {

constexpr const Rows* kRows[] = {
    &tensorflow_custom_ops_baseline::normalization::kRows,
#ifdef __x86_64__
    &tensorflow_custom_ops_avx2::normalization::kRows,
    &tensorflow_custom_ops_avx512::normalization::kRows,
#endif
};

// Measured with AVX-512, on rows that come from memory.
constexpr int64_t kCyclesPerRow = 50;
constexpr int64_t kCyclesPerElement = 1;
constexpr int64_t kCyclesPerElementBackward = 2;

// Enough for some tens of processors.
constexpr int64_t kEnoughBlocks = 64;

// Columns that one thread sums up over the blocks: whole cache lines.
constexpr int64_t kColumns = 256;

}  // namespace

absl::StatusOr<const Rows*> SelectRows() { return ForIsa(kRows); }

void RunForward(const RowFunctions& functions, const Forward& args,
                ParallelFor parallel_for) {
  parallel_for(
      args.rows, kCyclesPerRow + args.n * kCyclesPerElement,
      [&](int64_t begin, int64_t end) { functions.forward(args, begin, end); });
}

int64_t NumCpuSums(Norm norm, int64_t rows, int64_t n) {
  return Blocks(rows, kEnoughBlocks).count() * NumSums(norm) * n;
}

void RunBackward(const RowFunctions& functions, const Backward& args,
                 void* sums, int64_t bytes_per_sum, ParallelFor parallel_for) {
  const Blocks blocks(args.rows, kEnoughBlocks);
  const int64_t bytes_of_block = NumSums(args.norm) * args.n * bytes_per_sum;
  parallel_for(
      blocks.count(),
      blocks.size * (kCyclesPerRow + args.n * kCyclesPerElementBackward),
      [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          functions.backward(args, blocks.Begin(i), blocks.End(i),
                             static_cast<char*>(sums) + i * bytes_of_block);
        }
      });
  parallel_for((args.n - 1) / kColumns + 1,
               blocks.count() * NumSums(args.norm) * kColumns,
               [&](int64_t begin, int64_t end) {
                 functions.reduce(args, blocks.count(), begin * kColumns,
                                  std::min(end * kColumns, args.n), sums);
               });
}

}  // namespace normalization
}  // namespace tensorflow_custom_ops
