// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "tensorflow/core/platform/tensor_float_32_utils.h"
#include "tensorflow_custom_ops/core/shape.h"
#include "tensorflow_custom_ops/core/xla_dynamic.h"
#include "tensorflow_custom_ops/core/xla_lowering.h"
#include "tensorflow_custom_ops/ops/fused_dense/fused_dense_shape.h"
#include "xla/hlo/builder/lib/constants.h"
#include "xla/hlo/builder/xla_builder.h"
#include "xla/shape.h"
#include "xla/shape_util.h"
#include "xla/xla_data.pb.h"

namespace tensorflow_custom_ops {
namespace {

// For a name that the op's definition allows.
xla::XlaOp Activate(const std::string& activation, xla::XlaOp x) {
  if (activation == "relu") return xla::Max(x, xla::ScalarLike(x, 0));
  if (activation == "tanh") return xla::Tanh(x);
  if (activation == "sigmoid") return xla::Logistic(x);
  return x;
}

constexpr const char* kInputs[] = {"input", "weights", "bias"};

absl::Status LowerFusedDense(XlaLoweringContext& context) {
  std::string activation;
  absl::Status status = context.GetAttr("activation", &activation);
  if (!status.ok()) return status;
  Shape shapes[3];
  xla::PrimitiveType type;
  for (int i = 0; i < 3; ++i) {
    const absl::StatusOr<xla::Shape> shape = context.InputShape(i);
    if (!shape.ok()) return shape.status();
    // A batch may have a size that is known when it runs only.
    const int fixed_from = i == 0 ? shape->dimensions().size() - 1 : 0;
    for (int d = std::max(fixed_from, 0);
         d < static_cast<int>(shape->dimensions().size()); ++d) {
      if (!shape->is_dynamic_dimension(d)) continue;
      return absl::InvalidArgumentError(absl::StrCat(
          "FusedDense: under XLA, the last dimension of input and those of "
          "weights and bias must be known while it compiles, but ",
          kInputs[i], " has ", xla::ShapeUtil::HumanString(*shape)));
    }
    status = CheckNotEmptyIfDynamic("FusedDense", kInputs[i], *shape);
    if (!status.ok()) return status;
    shapes[i] = std::vector<int64_t>(shape->dimensions().begin(),
                                     shape->dimensions().end());
    type = shape->element_type();
  }
  status = fused_dense::CheckShapes(shapes[0], shapes[1], shapes[2]);
  if (!status.ok()) return status;

  // As in the CPU kernel, half types are summed in float and rounded once.
  const xla::PrimitiveType sum_type = type == xla::F64 ? xla::F64 : xla::F32;
  const int64_t last = shapes[0]->size() - 1;
  xla::DotDimensionNumbers contraction;
  contraction.add_lhs_contracting_dimensions(last);
  contraction.add_rhs_contracting_dimensions(0);
  // As TensorFlow's own matrix product.
  const auto precision = tsl::tensor_float_32_execution_enabled()
                             ? xla::PrecisionConfig::DEFAULT
                             : xla::PrecisionConfig::HIGHEST;
  xla::PrecisionConfig precisions;
  precisions.add_operand_precision(precision);
  precisions.add_operand_precision(precision);
  const xla::XlaOp product = xla::DotGeneral(
      context.Input(0), context.Input(1), contraction, &precisions, sum_type);
  const xla::XlaOp bias = xla::ConvertElementType(context.Input(2), sum_type);
  const xla::XlaOp sum = xla::Add(product, bias, {last});
  context.SetOutput(0,
                    xla::ConvertElementType(Activate(activation, sum), type));
  return absl::OkStatus();
}

REGISTER_XLA_LOWERING("FusedDense", LowerFusedDense);

}  // namespace
}  // namespace tensorflow_custom_ops
