// SPDX-License-Identifier: Apache-2.0
// Writes what functors do as XLA's operations, for all elementwise ops.
#include "tensorflow_custom_ops/core/elementwise/xla.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "tensorflow/core/framework/tensor_shape.h"
#include "tensorflow_custom_ops/core/elementwise/kernel_common.h"
#include "tensorflow_custom_ops/core/elementwise/traced.h"
#include "tensorflow_custom_ops/core/xla_dynamic.h"
#include "tensorflow_custom_ops/core/xla_lowering.h"
#include "xla/hlo/builder/lib/constants.h"
#include "xla/hlo/builder/lib/math.h"
#include "xla/hlo/builder/xla_builder.h"
#include "xla/shape.h"
#include "xla/shape_util.h"

namespace tensorflow_custom_ops {
namespace elementwise {
namespace {

using fn::Operation;
using xla::XlaOp;

// Nodes are numbers of XLA's operations.
class XlaTracer : public fn::Tracer {
 public:
  explicit XlaTracer(bool is_integral) : is_integral_(is_integral) {}

  fn::Node Add(XlaOp op) {
    ops_.push_back(op);
    return static_cast<fn::Node>(ops_.size()) - 1;
  }
  XlaOp Get(fn::Node node) const { return ops_[node]; }

  // A scalar of the type of the first node, which XLA's operations broadcast.
  fn::Node Constant(double value) override {
    // XLA makes no integer of a double.
    return Add(is_integral_
                   ? xla::ScalarLike(ops_[0], static_cast<int64_t>(value))
                   : xla::ScalarLike(ops_[0], value));
  }
  fn::Node Apply(Operation operation, const fn::Node* nodes) override {
    return Add(Write(operation, nodes));
  }

 private:
  XlaOp Write(Operation operation, const fn::Node* nodes) const {
    const XlaOp x = Get(nodes[0]);
    const auto second = [&] { return Get(nodes[1]); };
    switch (operation) {
      case Operation::kNegate:
        return xla::Neg(x);
      case Operation::kAdd:
        return xla::Add(x, second());
      case Operation::kSubtract:
        return xla::Sub(x, second());
      case Operation::kMultiply:
        return xla::Mul(x, second());
      case Operation::kDivide:
        return xla::Div(x, second());
      case Operation::kLess:
        return xla::Lt(x, second());
      case Operation::kLessEqual:
        return xla::Le(x, second());
      case Operation::kEqual:
        return xla::Eq(x, second());
      case Operation::kSelect:
        return xla::Select(x, second(), Get(nodes[2]));
      case Operation::kMax:
        return xla::Max(x, second());
      case Operation::kMin:
        return xla::Min(x, second());
      case Operation::kAbs:
        return xla::Abs(x);
      case Operation::kSign:
        return xla::Sign(x);
      case Operation::kFloor:
        return xla::Floor(x);
      case Operation::kRound:
        return xla::RoundNearestEven(x);
      case Operation::kExp:
        return xla::Exp(x);
      case Operation::kExpm1:
        return xla::Expm1(x);
      case Operation::kLog:
        return xla::Log(x);
      case Operation::kLog1p:
        return xla::Log1p(x);
      case Operation::kSqrt:
        return xla::Sqrt(x);
      case Operation::kRsqrt:
        return xla::Rsqrt(x);
      case Operation::kPow:
        return xla::Pow(x, second());
      case Operation::kTanh:
        return xla::Tanh(x);
      case Operation::kSigmoid:
        return xla::Logistic(x);
      case Operation::kSin:
        return xla::Sin(x);
      case Operation::kCos:
        return xla::Cos(x);
      case Operation::kErf:
        return xla::Erf(x);
      case Operation::kErfc:
        return xla::Erfc(x);
    }
    return XlaOp();  // There are no others.
  }

  const bool is_integral_;
  std::vector<XlaOp> ops_;
};

// An input in the shape to which all are broadcast. XLA's own broadcasting
// wants dimensions of size 1 taken out first.
absl::StatusOr<XlaOp> BroadcastInput(XlaOp input, const xla::Shape& shape,
                                     const tensorflow::TensorShape& to) {
  if (absl::c_equal(shape.dimensions(), to.dim_sizes())) return input;
  std::vector<int64_t> kept, positions;
  const int offset = to.dims() - static_cast<int>(shape.dimensions().size());
  for (int i = offset; i < to.dims(); ++i) {
    if (shape.dimensions(i - offset) != to.dim_size(i)) continue;
    kept.push_back(to.dim_size(i));
    positions.push_back(i);
  }
  return xla::BroadcastInDim(xla::Reshape(input, kept), to.dim_sizes(),
                             positions);
}

absl::Status Lower(const Signature& signature, TraceFunction trace,
                   XlaLoweringContext& context) {
  Computation computation;
  absl::Status status =
      ReadComputation(signature, context.Node(), &computation);
  if (!status.ok()) return status;

  std::vector<xla::Shape> shapes;
  std::vector<tensorflow::TensorShape> sizes;
  for (int i = 0; i < static_cast<int>(computation.inputs.size()); ++i) {
    absl::StatusOr<xla::Shape> shape = context.InputShape(i);
    if (!shape.ok()) return shape.status();
    // The gradient's shape is that of the output.
    if (shape->is_dynamic() && signature.inputs > 1) {
      return absl::InvalidArgumentError(absl::StrCat(
          computation.op, ": under XLA, ",
          absl::StrJoin(computation.inputs, " and "),
          " must have sizes that are known while it compiles, but ",
          computation.inputs[i], " has ", xla::ShapeUtil::HumanString(*shape),
          ": whether they fit would not be checked"));
    }
    status =
        CheckNotEmptyIfDynamic(computation.op, computation.inputs[i], *shape);
    if (!status.ok()) return status;
    sizes.emplace_back();
    status = tensorflow::TensorShape::BuildTensorShape(shape->dimensions(),
                                                       &sizes.back());
    if (!status.ok()) return status;
    shapes.push_back(*std::move(shape));
  }
  std::vector<const tensorflow::TensorShape*> pointers;
  for (const tensorflow::TensorShape& size : sizes) pointers.push_back(&size);
  Broadcast broadcast;
  status = MakeBroadcast(signature, computation, pointers, &broadcast);
  if (!status.ok()) return status;

  // The half types are computed in float, and rounded once.
  const xla::PrimitiveType type = shapes[0].element_type();
  const bool is_half = type == xla::F16 || type == xla::BF16;
  XlaTracer tracer(type == xla::S32 || type == xla::S64);
  std::vector<fn::Node> inputs;
  for (size_t i = 0; i < shapes.size(); ++i) {
    absl::StatusOr<XlaOp> input =
        BroadcastInput(context.Input(i), shapes[i], broadcast.shape);
    if (!input.ok()) return input.status();
    inputs.push_back(tracer.Add(
        is_half ? xla::ConvertElementType(*input, xla::F32) : *input));
  }
  fn::Node outputs[kMaxInputs];
  trace(computation.is_gradient ? computation.derivative : kValue, &tracer,
        inputs.data(), computation.attributes.data(), outputs);
  for (int i = 0; i < computation.NumOutputs(); ++i) {
    XlaOp output = tracer.Get(outputs[i]);
    absl::StatusOr<xla::Shape> shape = output.builder()->GetShape(output);
    if (!shape.ok()) return shape.status();
    // What is the same for all elements is a scalar so far.
    if (shape->dimensions().empty()) {
      output = xla::Add(output, xla::ZerosLike(tracer.Get(inputs[0])));
    }
    context.SetOutput(i,
                      is_half ? xla::ConvertElementType(output, type) : output);
  }
  return absl::OkStatus();
}

}  // namespace

XlaRegistrar::XlaRegistrar(const Signature& signature, TraceFunction trace) {
  const auto lower = [signature, trace](XlaLoweringContext& context) {
    return Lower(signature, trace, context);
  };
  for (const std::string& name : OpNames(signature)) {
    XlaLoweringRegistrar(name.c_str(), lower);
  }
}

}  // namespace elementwise
}  // namespace tensorflow_custom_ops
