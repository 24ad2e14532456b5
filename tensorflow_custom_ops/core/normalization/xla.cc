// SPDX-License-Identifier: Apache-2.0
// A custom call of the ops' own kernels, which pass over memory once and use
// vector instructions for sums, as XLA's code for the CPU does not.
#include "tensorflow_custom_ops/core/normalization/xla.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "tensorflow_custom_ops/core/normalization/cpu.h"
#include "tensorflow_custom_ops/core/normalization/shape.h"
#include "tensorflow_custom_ops/core/normalization/xla_call.h"
#include "tensorflow_custom_ops/core/normalization/xla_hlo.h"
#include "tensorflow_custom_ops/core/xla_custom_call.h"
#include "tensorflow_custom_ops/core/xla_dynamic.h"
#include "xla/hlo/builder/xla_builder.h"
#include "xla/shape.h"
#include "xla/shape_util.h"

namespace tensorflow_custom_ops {
namespace normalization {
namespace {

// A node of a graph that is compiled.
struct Node {
  Norm norm;
  bool is_gradient;
  float epsilon;
  std::vector<xla::XlaOp> inputs;
  std::vector<xla::Shape> shapes;
};

#ifdef TENSORFLOW_CUSTOM_OPS_XLA_CUSTOM_CALLS

namespace ffi = xla::ffi;

// Calls body(functions, parallel_for), where parallel_for uses XLA's threads.
template <typename Body>
absl::Status OnCpu(ffi::ThreadPool pool, Type type, Body body) {
  const absl::StatusOr<const Rows*> rows = SelectRows();
  if (!rows.ok()) return rows.status();
  absl::Status status;
  body(RowFunctionsOf(**rows, type),
       [&](int64_t total, int64_t cycles,
           absl::FunctionRef<void(int64_t, int64_t)> work) {
         status.Update(XlaParallelFor(pool, total, cycles, work));
       });
  return status;
}

ffi::Error HandleForward(ffi::ThreadPool pool, ffi::RemainingArgs inputs,
                         ffi::RemainingRets outputs, int64_t norm,
                         float epsilon) {
  return RunXlaHandler([&] {
    const XlaCall call(inputs, outputs, norm, epsilon);
    return call.Run(&XlaCall::ForwardArgs, [&](Type type, const Forward& args) {
      return OnCpu(pool, type,
                   [&](const RowFunctions& functions, ParallelFor threads) {
                     RunForward(functions, args, threads);
                   });
    });
  });
}

ffi::Error HandleBackward(ffi::ThreadPool pool, ffi::RemainingArgs inputs,
                          ffi::RemainingRets outputs, int64_t norm,
                          float epsilon) {
  return RunXlaHandler([&] {
    const XlaCall call(inputs, outputs, norm, epsilon);
    return call.Run(&XlaCall::BackwardArgs, [&](Type type,
                                                const Backward& args) {
      const int64_t bytes_per_sum = BytesPerSum(type);
      // Not set to zero.
      const std::unique_ptr<char[]> sums(
          new char[NumCpuSums(args.norm, args.rows, args.n) * bytes_per_sum]);
      return OnCpu(
          pool, type, [&](const RowFunctions& functions, ParallelFor threads) {
            RunBackward(functions, args, sums.get(), bytes_per_sum, threads);
          });
    });
  });
}

#define BINDING               \
  ffi::Ffi::Bind()            \
      .Ctx<ffi::ThreadPool>() \
      .RemainingArgs()        \
      .RemainingRets()        \
      .Attr<int64_t>("norm")  \
      .Attr<float>("epsilon")
XLA_FFI_DEFINE_HANDLER(kForwardHandler, HandleForward, BINDING);
XLA_FFI_DEFINE_HANDLER(kBackwardHandler, HandleBackward, BINDING);
#undef BINDING

// References, so that they are never destroyed.
const XlaCustomCall& kForward = *new XlaCustomCall(
    RegisterXlaCustomCall(kForwardCall, kXlaCpu, kForwardHandler));
const XlaCustomCall& kBackward = *new XlaCustomCall(
    RegisterXlaCustomCall(kBackwardCall, kXlaCpu, kBackwardHandler));

absl::StatusOr<std::vector<xla::XlaOp>> EmitCall(const Node& node) {
  const xla::Shape& rows = node.shapes[0];
  std::vector<xla::Shape> results = {rows};
  if (node.is_gradient) {
    // Of scale, and of an offset.
    results.resize(1 + NumSums(node.norm), node.shapes[1]);
  } else if (HasResidual(node.norm)) {
    results.push_back(rows);
  }
  return EmitXlaCustomCall(
      node.is_gradient ? kBackward : kForward, node.inputs[0].builder(),
      node.inputs, results,
      {{"norm", static_cast<int64_t>(node.norm)}, {"epsilon", node.epsilon}});
}

#endif  // TENSORFLOW_CUSTOM_OPS_XLA_CUSTOM_CALLS

absl::StatusOr<std::vector<xla::XlaOp>> Emit(const Node& node,
                                             bool has_kernel) {
#ifdef TENSORFLOW_CUSTOM_OPS_XLA_CUSTOM_CALLS
  if (has_kernel && !node.shapes[0].is_dynamic()) return EmitCall(node);
#else
  (void)has_kernel;
#endif
  return EmitHlo(node.norm, node.is_gradient, node.epsilon, node.shapes[0],
                 node.inputs);
}

// Sizes that are not known while XLA compiles cannot be checked. There may be
// such a number of rows where only one input has rows, or that and its
// gradient.
absl::Status CheckDynamic(const Node& node) {
  const std::vector<Input> inputs = Inputs(node.norm, node.is_gradient);
  const char* const op = OpName(node.norm, node.is_gradient);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const xla::Shape& shape = node.shapes[i];
    const int64_t rank = shape.dimensions().size();
    const int64_t may_be_dynamic =
        inputs[i].is_rows && !HasResidual(node.norm) ? rank - 1 : 0;
    for (int64_t d = may_be_dynamic < 0 ? 0 : may_be_dynamic; d < rank; ++d) {
      if (!shape.is_dynamic_dimension(d)) continue;
      return absl::InvalidArgumentError(absl::StrCat(
          op, ": under XLA, ",
          HasResidual(node.norm) ? "all sizes" : "the last dimension",
          " must be known while it compiles, but ", inputs[i].name, " has ",
          xla::ShapeUtil::HumanString(shape)));
    }
    absl::Status status = CheckNotEmptyIfDynamic(op, inputs[i].name, shape);
    for (int64_t d = 0; inputs[i].is_rows && d < rank; ++d) {
      status.Update(CheckSameIsDynamic(op, inputs[i].name, shape,
                                       inputs[0].name, node.shapes[0], d));
    }
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status Lower(Norm norm, bool is_gradient, XlaLoweringContext& context) {
  Node node = {norm, is_gradient, 0, {}, {}};
  absl::Status status = context.GetAttr("epsilon", &node.epsilon);
  if (!status.ok()) return status;
  status = CheckEpsilon(norm, is_gradient, node.epsilon);
  if (!status.ok()) return status;
  std::vector<Shape> shapes;
  for (size_t i = 0; i < Inputs(norm, is_gradient).size(); ++i) {
    const absl::StatusOr<xla::Shape> shape =
        context.InputShape(static_cast<int>(i));
    if (!shape.ok()) return shape.status();
    node.inputs.push_back(context.Input(static_cast<int>(i)));
    node.shapes.push_back(*shape);
    shapes.push_back(std::vector<int64_t>(shape->dimensions().begin(),
                                          shape->dimensions().end()));
  }
  status = CheckShapes(norm, is_gradient, shapes);
  if (status.ok()) status = CheckDynamic(node);
  if (!status.ok()) return status;

  const absl::StatusOr<std::vector<xla::XlaOp>> outputs =
      Emit(node, context.HasKernel());
  if (!outputs.ok()) return outputs.status();
  for (size_t i = 0; i < outputs->size(); ++i) {
    context.SetOutput(static_cast<int>(i), (*outputs)[i]);
  }
  return absl::OkStatus();
}

}  // namespace

XlaLowering LoweringOf(Norm norm, bool is_gradient) {
  return [norm, is_gradient](XlaLoweringContext& context) {
    return Lower(norm, is_gradient, context);
  };
}

}  // namespace normalization
}  // namespace tensorflow_custom_ops
