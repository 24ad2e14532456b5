// SPDX-License-Identifier: Apache-2.0
// The matrix product, compiled once for each instruction set; FUSED_DENSE_ISA
// is its name. A function that two of these objects have under one name would
// be kept once by the linker, and crash processors that lack its instructions.
// So Eigen gets another namespace in each, and no header with functions of its
// own is included but Eigen's. isa_symbols_test checks the result.
#include "tensorflow_custom_ops/core/isa_namespace.h"

#define Eigen ISA_NAME(Eigen, FUSED_DENSE_ISA)
#define FUSED_DENSE_STRING_(a) #a
#define FUSED_DENSE_STRING(a) FUSED_DENSE_STRING_(a)

#include "Eigen/Core"
#include "tensorflow_custom_ops/ops/fused_dense/fused_dense_tiles.h"

namespace tensorflow_custom_ops {
namespace fused_dense {
namespace FUSED_DENSE_ISA {
namespace {

using Eigen::Index;

template <typename T>
using Matrix =
    Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <typename T>
using MatrixMap = Eigen::Map<Matrix<T>, Eigen::Unaligned, Eigen::OuterStride<>>;
template <typename T>
using ConstMatrixMap =
    Eigen::Map<const Matrix<T>, Eigen::Unaligned, Eigen::OuterStride<>>;
template <typename T>
using Row = Eigen::Map<Eigen::Array<T, 1, Eigen::Dynamic>>;
template <typename T>
using ConstRow = Eigen::Map<const Eigen::Array<T, 1, Eigen::Dynamic>>;

// The arrays of a problem, as far as a tile is concerned.
template <typename T>
struct Arrays {
  Arrays(const Problem& problem, const Tile& tile)
      : input(static_cast<const T*>(problem.input) + tile.row * problem.in,
              tile.rows, problem.in, Eigen::OuterStride<>(problem.in)),
        weights(static_cast<const T*>(problem.weights) + tile.unit, problem.in,
                tile.units, Eigen::OuterStride<>(problem.units)),
        bias(static_cast<const T*>(problem.bias) + tile.unit, tile.units),
        output(static_cast<T*>(problem.output) + tile.row * problem.units +
                   tile.unit,
               tile.rows, tile.units, Eigen::OuterStride<>(problem.units)) {}

  ConstMatrixMap<T> input;
  ConstMatrixMap<T> weights;
  ConstRow<T> bias;
  MatrixMap<T> output;
};

template <typename T>
void Activate(Activation activation, Row<T> row) {
  switch (activation) {
    case Activation::kLinear:
      break;
    case Activation::kRelu:
      row = row.template max<Eigen::PropagateNaN>(T(0));
      break;
    case Activation::kTanh:
      row = row.tanh();
      break;
    case Activation::kSigmoid:
      row = row.logistic();
      break;
  }
}

// float and double: the output is where the sums are formed.
template <typename T>
void Compute(const Problem& problem, const Tile& tile) {
  Arrays<T> arrays(problem, tile);
  arrays.output.array().rowwise() = arrays.bias;
  arrays.output.noalias() += arrays.input * arrays.weights;
  for (Index i = 0; i < tile.rows; ++i) {
    Activate<T>(problem.activation, Row<T>(&arrays.output(i, 0), tile.units));
  }
}

// half and bfloat16: sums and activation are float, and rounded once.
template <typename T>
void ComputeInFloat(const Problem& problem, const Tile& tile) {
  // Bounds what the converted inputs of a tile take to some megabytes.
  constexpr Index kDepth = 1024;
  Arrays<T> arrays(problem, tile);
  Matrix<float> output(tile.rows, tile.units);
  output.array().rowwise() = arrays.bias.template cast<float>();
  for (Index k = 0; k < problem.in; k += kDepth) {
    const Index depth = k + kDepth < problem.in ? kDepth : problem.in - k;
    const Matrix<float> input =
        arrays.input.middleCols(k, depth).template cast<float>();
    const Matrix<float> weights =
        arrays.weights.middleRows(k, depth).template cast<float>();
    output.noalias() += input * weights;
  }
  for (Index i = 0; i < tile.rows; ++i) {
    Row<float> row(&output(i, 0), tile.units);
    Activate<float>(problem.activation, row);
    Row<T>(&arrays.output(i, 0), tile.units) = row.template cast<T>();
  }
}

}  // namespace

const TileFunctions kTileFunctions = {
    FUSED_DENSE_STRING(FUSED_DENSE_ISA), ComputeInFloat<Eigen::half>,
    ComputeInFloat<Eigen::bfloat16>, Compute<float>, Compute<double>};

}  // namespace FUSED_DENSE_ISA
}  // namespace fused_dense
}  // namespace tensorflow_custom_ops
