// SPDX-License-Identifier: Apache-2.0
#include "tensorflow_custom_ops/ops/fused_dense/fused_dense_kernel.h"

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/register_types.h"
#include "tensorflow/core/platform/logging.h"
#include "tensorflow/core/util/work_sharder.h"
#include "tensorflow_custom_ops/core/isa.h"
#include "tensorflow_custom_ops/ops/fused_dense/fused_dense_tiles.h"

namespace tensorflow_custom_ops {
namespace {

using fused_dense::ComputeTile;
using fused_dense::Problem;
using fused_dense::Tile;
using fused_dense::TileFunctions;
using tensorflow::OpKernelConstruction;
using tensorflow::OpKernelContext;

constexpr const TileFunctions* kTileFunctions[] = {
    &fused_dense::baseline::kTileFunctions,
#ifdef __x86_64__
    &fused_dense::avx2::kTileFunctions,
    &fused_dense::avx512::kTileFunctions,
#endif
};

template <typename T>
ComputeTile TileFunction(const TileFunctions& functions) {
  if constexpr (std::is_same_v<T, Eigen::half>) return functions.half;
  if constexpr (std::is_same_v<T, Eigen::bfloat16>) return functions.bfloat16;
  if constexpr (std::is_same_v<T, float>) return functions.float32;
  if constexpr (std::is_same_v<T, double>) return functions.float64;
}

// Parts of 0...total-1, as even as multiples of `multiple` can be, and of size
// `most`, rounded up to such a multiple, at most.
struct Parts {
  Parts(int64_t total, int64_t most, int64_t multiple) : total(total) {
    const int64_t parts = (total + most - 1) / most;
    size = (total + parts - 1) / parts;
    size = (size + multiple - 1) / multiple * multiple;
    count = (total + size - 1) / size;
  }
  int64_t Begin(int64_t part) const { return part * size; }
  int64_t Size(int64_t part) const {
    return std::min(size, total - part * size);
  }

  int64_t total;
  int64_t size;
  int64_t count;
};

// The tiles of an output. They depend on nothing but the shapes, and each is
// computed by one thread: results do not depend on the number of threads.
struct Tiling {
  // Where a larger tile would not be faster: its rows and columns of the inputs
  // are brought into the cache once for each tile.
  static constexpr int64_t kMost = 256;
  // Widths of vectors, and of the matrix product's inner blocks, divide this.
  static constexpr int64_t kMultiple = 16;
  static constexpr int64_t kFewestUnits = 64;
  // Multiplications that keep a thread busy for some ten microseconds.
  static constexpr int64_t kEnough = 1 << 20;

  static int64_t MostUnits(int64_t rows, int64_t in) {
    const double enough =
        static_cast<double>(kEnough) /
        (static_cast<double>(rows) * std::max<int64_t>(in, 1));
    return std::clamp(static_cast<int64_t>(std::min<double>(enough, kMost)),
                      kFewestUnits, kMost);
  }

  Tiling(int64_t rows, int64_t in, int64_t units)
      : rows(rows, kMost, kMultiple),
        units(units, MostUnits(this->rows.Size(0), in), kMultiple) {}

  int64_t count() const { return rows.count * units.count; }

  Tile Get(int64_t index) const {
    // Neighbours share their columns of weights, which are the larger part.
    const int64_t row = index % rows.count;
    const int64_t unit = index / rows.count;
    return {rows.Begin(row), rows.Size(row), units.Begin(unit),
            units.Size(unit)};
  }

  Parts rows;
  Parts units;
};

template <typename T>
class FusedDenseCpuKernel : public FusedDenseKernel {
 public:
  explicit FusedDenseCpuKernel(OpKernelConstruction* context)
      : FusedDenseKernel(context) {
    const absl::StatusOr<const TileFunctions*> functions =
        ForIsa(kTileFunctions);
    OP_REQUIRES_OK(context, functions.status());
    VLOG(1) << "FusedDense: the code for " << (*functions)->isa;
    compute_tile_ = TileFunction<T>(**functions);
  }

 protected:
  absl::Status Run(OpKernelContext* context, const Problem& problem,
                   int64_t rows) override {
    const Tiling tiling(rows, problem.in, problem.units);
    const double multiplications = static_cast<double>(tiling.rows.Size(0)) *
                                   tiling.units.Size(0) * (problem.in + 1);
    // In cycles, with AVX2.
    const int64_t cost = static_cast<int64_t>(multiplications / 16) + 1;
    const auto& workers = *context->device()->tensorflow_cpu_worker_threads();
    tensorflow::Shard(workers.num_threads, workers.workers, tiling.count(),
                      cost, [&](int64_t begin, int64_t end) {
                        for (int64_t i = begin; i < end; ++i) {
                          compute_tile_(problem, tiling.Get(i));
                        }
                      });
    return absl::OkStatus();
  }

 private:
  ComputeTile compute_tile_;
};

#define REGISTER_FUSED_DENSE(T)                               \
  REGISTER_KERNEL_BUILDER(Name("FusedDense")                  \
                              .Device(tensorflow::DEVICE_CPU) \
                              .TypeConstraint<T>("T"),        \
                          FusedDenseCpuKernel<T>);
TF_CALL_half(REGISTER_FUSED_DENSE);
TF_CALL_bfloat16(REGISTER_FUSED_DENSE);
TF_CALL_float(REGISTER_FUSED_DENSE);
TF_CALL_double(REGISTER_FUSED_DENSE);
#undef REGISTER_FUSED_DENSE

}  // namespace
}  // namespace tensorflow_custom_ops
