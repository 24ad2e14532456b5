// SPDX-License-Identifier: Apache-2.0
#include "tensorflow_custom_ops/core/normalization/xla_hlo.h"

#include <cstddef>
#include <cstdint>
#include <numeric>

#include "absl/types/span.h"
#include "xla/hlo/builder/lib/arithmetic.h"
#include "xla/hlo/builder/lib/constants.h"
#include "xla/primitive_util.h"
#include "xla/xla_data.pb.h"

namespace tensorflow_custom_ops {
namespace normalization {
namespace {

using xla::XlaOp;

// Writes what one op computes, in float for half types. Names are those of the
// kernels.
class Emitter {
 public:
  Emitter(Norm norm, float epsilon, const xla::Shape& rows,
          xla::XlaBuilder* builder)
      : norm_(norm),
        epsilon_(epsilon),
        type_(rows.element_type()),
        wide_type_(type_ == xla::F64 ? xla::F64 : xla::F32),
        n_(rows.dimensions().back()),
        last_(static_cast<int64_t>(rows.dimensions().size()) - 1),
        row_axes_(last_),
        builder_(builder) {
    std::iota(row_axes_.begin(), row_axes_.end(), 0);
  }

  std::vector<XlaOp> Forward(const std::vector<XlaOp>& inputs) const {
    size_t next = 0;
    XlaOp x = Widen(inputs[next++]);
    XlaOp sum;
    if (HasResidual(norm_)) {
      sum = RoundToType(xla::Add(x, Widen(inputs[next++])));
      x = sum;
    }
    XlaOp y = PerColumn(xla::Mul, Normalized(x).values, inputs[next++]);
    if (HasOffset(norm_)) y = PerColumn(xla::Add, y, inputs[next]);
    if (HasResidual(norm_)) return {Narrow(y), Narrow(sum)};
    return {Narrow(y)};
  }

  std::vector<XlaOp> Backward(const std::vector<XlaOp>& inputs) const {
    const auto [normalized, inverse] = Normalized(Widen(inputs[0]));
    const XlaOp grad = Widen(inputs[2]);
    const XlaOp scaled = PerColumn(xla::Mul, grad, inputs[1]);
    const XlaOp of_x = MeanOfRows(xla::Mul(scaled, normalized));
    XlaOp x_grad = xla::Sub(scaled, PerRow(xla::Mul, normalized, of_x));
    if (HasOffset(norm_)) {
      x_grad = PerRow(xla::Sub, x_grad, MeanOfRows(scaled));
    }
    x_grad = PerRow(xla::Mul, x_grad, inverse);
    if (HasResidual(norm_)) x_grad = xla::Add(x_grad, Widen(inputs[3]));
    std::vector<XlaOp> outputs = {
        Narrow(x_grad), Narrow(Sum(xla::Mul(grad, normalized), row_axes_))};
    if (HasOffset(norm_)) outputs.push_back(Narrow(Sum(grad, row_axes_)));
    return outputs;
  }

 private:
  using Operation = XlaOp (*)(XlaOp, XlaOp, absl::Span<const int64_t>);

  struct Rows {
    XlaOp values;
    XlaOp inverse;  // one element for each row
  };

  Rows Normalized(XlaOp x) const {
    if (HasOffset(norm_)) {
      x = PerRow(xla::Sub, x, MeanOfRows(x));
      // What rounding the mean has left.
      x = PerRow(xla::Sub, x, MeanOfRows(x));
    }
    const XlaOp inverse =
        xla::Rsqrt(xla::Add(MeanOfRows(xla::Mul(x, x)), Constant(epsilon_)));
    return {PerRow(xla::Mul, x, inverse), inverse};
  }

  XlaOp Constant(double value) const {
    return xla::ConstantR0WithType(builder_, wide_type_, value);
  }

  XlaOp Sum(XlaOp values, const std::vector<int64_t>& axes) const {
    return xla::Reduce(values, Constant(0),
                       xla::CreateScalarAddComputation(wide_type_, builder_),
                       axes);
  }

  XlaOp MeanOfRows(XlaOp values) const {
    return xla::Div(Sum(values, {last_}), Constant(static_cast<double>(n_)));
  }

  // Of rows, and a value for each.
  XlaOp PerRow(Operation operation, XlaOp rows, XlaOp values) const {
    return operation(rows, values, row_axes_);
  }

  // Of rows, and an input with a value for each of their columns.
  XlaOp PerColumn(Operation operation, XlaOp rows, XlaOp input) const {
    return operation(rows, Widen(input), {last_});
  }

  XlaOp Widen(XlaOp value) const {
    return xla::ConvertElementType(value, wide_type_);
  }
  XlaOp Narrow(XlaOp value) const {
    return xla::ConvertElementType(value, type_);
  }

  // XLA may leave out two conversions that cancel out, but not this.
  XlaOp RoundToType(XlaOp value) const {
    if (type_ == wide_type_) return value;
    return xla::ReducePrecision(
        value, xla::primitive_util::ExponentWidth(type_),
        xla::primitive_util::SignificandWidth(type_) - 1);
  }

  const Norm norm_;
  const float epsilon_;
  const xla::PrimitiveType type_;
  const xla::PrimitiveType wide_type_;
  const int64_t n_;
  const int64_t last_;
  std::vector<int64_t> row_axes_;
  xla::XlaBuilder* const builder_;
};

}  // namespace

std::vector<XlaOp> EmitHlo(Norm norm, bool is_gradient, float epsilon,
                           const xla::Shape& rows,
                           const std::vector<XlaOp>& inputs) {
  const Emitter emitter(norm, epsilon, rows, inputs[0].builder());
  return is_gradient ? emitter.Backward(inputs) : emitter.Forward(inputs);
}

}  // namespace normalization
}  // namespace tensorflow_custom_ops
