// SPDX-License-Identifier: Apache-2.0
// The normalisations of rows, and what one computes, for the code of all
// devices: plain types only.
#ifndef TENSORFLOW_CUSTOM_OPS_CORE_NORMALIZATION_NORM_H_
#define TENSORFLOW_CUSTOM_OPS_CORE_NORMALIZATION_NORM_H_

#include <cstdint>

namespace tensorflow_custom_ops {
namespace normalization {

// With x, or the sum of x and a residual, as s:
//   kRms:          y = s / sqrt(mean(s^2) + epsilon) * scale
//   kRmsResidual:  the same, of the sum
//   kLayer:        y = (s - mean(s)) / sqrt(var(s) + epsilon) * scale + offset
enum class Norm { kRms, kRmsResidual, kLayer };

// The name of an op, or of its gradient.
constexpr const char* OpName(Norm norm, bool is_gradient = false) {
  switch (norm) {
    case Norm::kRms:
      return is_gradient ? "RmsNormGrad" : "RmsNorm";
    case Norm::kRmsResidual:
      return is_gradient ? "RmsNormResidualGrad" : "RmsNormResidual";
    case Norm::kLayer:
      return is_gradient ? "LayerNormGrad" : "LayerNorm";
  }
  return nullptr;
}

constexpr bool HasResidual(Norm norm) { return norm == Norm::kRmsResidual; }
constexpr bool HasOffset(Norm norm) { return norm == Norm::kLayer; }

// Arrays of [rows, n] or [n] elements, all of one type. An array of rows that
// is written may be one that is read.
struct Forward {
  Norm norm;
  int64_t rows;
  int64_t n;
  double epsilon;
  const void* x;
  const void* residual;  // or nullptr
  const void* scale;
  const void* offset;  // or nullptr
  void* y;
  void* sum;  // of x and residual; or nullptr
};

// The gradients, for what comes back for y, and for the sum.
struct Backward {
  Norm norm;
  int64_t rows;
  int64_t n;
  double epsilon;
  const void* x;  // the sum, where there is a residual
  const void* scale;
  const void* grad;
  const void* sum_grad;  // or nullptr
  void* x_grad;
  void* scale_grad;
  void* offset_grad;  // or nullptr
};

// The gradients of scale and offset are sums over all rows. They are formed in
// blocks of rows, and then over the blocks. What is a block depends on the
// number of rows and on the kind of device only, and so do the results: not on
// the number of threads, nor on their order.
struct Blocks {
  // `enough` blocks suffice for all threads.
  constexpr Blocks(int64_t rows, int64_t enough)
      : rows(rows), size(Size((rows + enough - 1) / enough)) {}

  constexpr int64_t count() const { return (rows + size - 1) / size; }
  constexpr int64_t Begin(int64_t block) const { return block * size; }
  constexpr int64_t End(int64_t block) const {
    return block * size + size < rows ? block * size + size : rows;
  }

  int64_t rows;
  int64_t size;

 private:
  // The sums of a block take as much memory as one row.
  static constexpr int64_t kFewestRows = 4;
  // With more, the sums become less exact.
  static constexpr int64_t kMostRows = 64;

  static constexpr int64_t Size(int64_t wanted) {
    return wanted < kFewestRows ? kFewestRows
           : wanted > kMostRows ? kMostRows
                                : wanted;
  }
};

// How many sums a column of a block has.
constexpr int NumSums(Norm norm) { return HasOffset(norm) ? 2 : 1; }

}  // namespace normalization
}  // namespace tensorflow_custom_ops

#endif  // TENSORFLOW_CUSTOM_OPS_CORE_NORMALIZATION_NORM_H_
