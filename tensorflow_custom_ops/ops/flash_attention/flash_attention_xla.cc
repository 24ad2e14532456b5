// SPDX-License-Identifier: Apache-2.0
// Custom calls of the op's own kernels: HLO has no way to say that scores are
// used block by block, and would write them all.
#include "tensorflow_custom_ops/ops/flash_attention/flash_attention_xla.h"

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/framework/types.h"
#include "tensorflow_custom_ops/core/shape.h"
#include "tensorflow_custom_ops/core/xla_custom_call.h"
#include "tensorflow_custom_ops/core/xla_custom_call_handler.h"
#include "tensorflow_custom_ops/core/xla_dynamic.h"
#include "tensorflow_custom_ops/core/xla_lowering.h"
#include "tensorflow_custom_ops/ops/flash_attention/flash_attention_cpu.h"
#include "tensorflow_custom_ops/ops/flash_attention/flash_attention_hlo.h"
#include "tensorflow_custom_ops/ops/flash_attention/flash_attention_problem.h"
#include "tensorflow_custom_ops/ops/flash_attention/flash_attention_shape.h"
#include "xla/hlo/builder/lib/constants.h"
#include "xla/hlo/builder/xla_builder.h"
#include "xla/shape.h"
#include "xla/shape_util.h"
#include "xla/xla_data.pb.h"

namespace tensorflow_custom_ops {
namespace {

using flash_attention::Attributes;
using flash_attention::Shapes;

#ifdef TENSORFLOW_CUSTOM_OPS_XLA_CUSTOM_CALLS

namespace ffi = xla::ffi;

// Runs a pass, which takes a flash_attention::ParallelFor, on XLA's threads.
template <typename Pass>
absl::Status OnXlaThreads(ffi::ThreadPool& pool, Pass pass) {
  absl::Status parallel;
  absl::Status status =
      pass([&](int64_t total, int64_t cycles,
               absl::FunctionRef<void(int64_t, int64_t)> body) {
        parallel.Update(XlaParallelFor(pool, total, cycles, body));
      });
  status.Update(parallel);
  return status;
}

ffi::Error HandleForward(ffi::ThreadPool pool, ffi::RemainingArgs args,
                         ffi::RemainingRets rets, bool causal, float scale,
                         int64_t window) {
  return RunXlaHandler([&]() -> absl::Status {
    const absl::StatusOr<flash_attention::XlaForward> call =
        flash_attention::DecodeForward(args, rets, {causal, scale, window});
    if (!call.ok()) return call.status();
    if (call->empty) return absl::OkStatus();
    return ForXlaFloatingPoint("FlashAttention", call->type, [&](auto zero) {
      return OnXlaThreads(pool, [&](flash_attention::ParallelFor threads) {
        return flash_attention::RunForward<decltype(zero)>(call->problem,
                                                           threads);
      });
    });
  });
}

ffi::Error HandleBackward(ffi::ThreadPool pool, ffi::RemainingArgs args,
                          ffi::RemainingRets rets, bool causal, float scale,
                          int64_t window) {
  return RunXlaHandler([&]() -> absl::Status {
    const absl::StatusOr<flash_attention::XlaBackward> call =
        flash_attention::DecodeBackward(args, rets, {causal, scale, window});
    if (!call.ok()) return call.status();
    return ForXlaFloatingPoint(
        "FlashAttentionGrad", call->type, [&](auto zero) {
          return OnXlaThreads(pool, [&](flash_attention::ParallelFor threads) {
            return flash_attention::RunBackward<decltype(zero)>(
                call->problem, call->bias_elements, threads);
          });
        });
  });
}

// The arguments of a handler.
auto Binding() {
  return ffi::Ffi::Bind()
      .Ctx<ffi::ThreadPool>()
      .RemainingArgs()
      .RemainingRets()
      .Attr<bool>("causal")
      .Attr<float>("scale")
      .Attr<int64_t>("window");
}

XLA_FFI_DEFINE_HANDLER(kForwardHandler, HandleForward, Binding());
XLA_FFI_DEFINE_HANDLER(kBackwardHandler, HandleBackward, Binding());

// References, so that they are never destroyed.
const XlaCustomCall& kForwardCall = *new XlaCustomCall(RegisterXlaCustomCall(
    flash_attention::kForwardCustomCall, kXlaCpu, kForwardHandler));
const XlaCustomCall& kBackwardCall = *new XlaCustomCall(RegisterXlaCustomCall(
    flash_attention::kBackwardCustomCall, kXlaCpu, kBackwardHandler));

XlaAttributes CallAttributes(const Attributes& attributes) {
  return {{"causal", attributes.causal},
          {"scale", attributes.scale},
          {"window", attributes.window}};
}

#endif  // TENSORFLOW_CUSTOM_OPS_XLA_CUSTOM_CALLS

// A node that is lowered.
struct Node {
  Attributes attributes;
  int64_t num_bias;
  std::vector<xla::XlaOp> inputs;
  std::vector<xla::Shape> shapes;
  // Where XLA knows only a bound of the batch: how many elements there are, and
  // the inputs have zeros beyond.
  std::vector<std::optional<xla::XlaOp>> batch_sizes;
  bool custom_call;
};

// Emits the size of an input's first dimension, and replaces the input by an
// array of static shape.
xla::XlaOp RemoveDynamicBatch(const xla::Shape& shape, xla::XlaOp& input) {
  const xla::XlaOp size = xla::GetDimensionSize(input, 0);
  const xla::XlaOp buffer = xla::RemoveDynamicDimension(input, 0);
  const xla::XlaOp index =
      xla::Iota(input.builder(),
                xla::ShapeUtil::MakeShape(xla::S32, shape.dimensions()), 0);
  input = xla::Select(xla::Lt(index, size), buffer, xla::ZerosLike(buffer));
  return size;
}

Shape ShapeOf(const xla::Shape& shape) {
  return std::vector<int64_t>(shape.dimensions().begin(),
                              shape.dimensions().end());
}

const char* InputName(int index, int64_t num_bias) {
  constexpr const char* kNames[] = {"query",  "key",         "value",
                                    "output", "log_sum_exp", "output_grad"};
  if (index < 3) return kNames[index];
  return index < 3 + num_bias ? "bias" : kNames[index - num_bias];
}

// `others`: how many inputs follow the biases.
absl::StatusOr<Node> NodeOf(XlaLoweringContext& context, const char* op,
                            int others) {
  Node node;
  absl::Status status =
      flash_attention::GetAttributes(op, context, &node.attributes);
  status.Update(context.GetAttr("num_bias", &node.num_bias));
  if (!status.ok()) return status;
  tensorflow::DataType type, sum_type;
  TF_RETURN_IF_ERROR(GetNodeAttr(context.Node(), "T", &type));
  TF_RETURN_IF_ERROR(GetNodeAttr(context.Node(), "Tsum", &sum_type));
  status = flash_attention::CheckSumType(op, type, sum_type);
  if (!status.ok()) return status;
#ifdef TENSORFLOW_CUSTOM_OPS_XLA_CUSTOM_CALLS
  node.custom_call = context.HasKernel();
#else
  node.custom_call = false;
#endif
  for (int i = 0; i < 3 + node.num_bias + others; ++i) {
    const absl::StatusOr<xla::Shape> shape = context.InputShape(i);
    if (!shape.ok()) return shape.status();
    const char* const name = InputName(i, node.num_bias);
    // A bias may have none.
    const bool has_batch =
        i < 3 || i >= 3 + node.num_bias || shape->dimensions().size() == 4;
    for (size_t d = has_batch ? 1 : 0; d < shape->dimensions().size(); ++d) {
      if (!shape->is_dynamic_dimension(d)) continue;
      return absl::InvalidArgumentError(absl::StrCat(
          op,
          ": under XLA, all sizes but the batch's must be known while it "
          "compiles, but ",
          name, " has ", xla::ShapeUtil::HumanString(*shape)));
    }
    node.inputs.push_back(context.Input(i));
    node.shapes.push_back(*shape);
    node.batch_sizes.emplace_back();
    status = CheckNotEmptyIfDynamic(op, name, *shape);
    // Ranks are checked later, with all shapes.
    if (has_batch && !xla::ShapeUtil::IsScalar(*shape) &&
        !xla::ShapeUtil::IsScalar(node.shapes[0]) &&
        shape->dimensions(0) != 1) {
      status.Update(CheckSameIsDynamic(op, name, *shape, InputName(0, 0),
                                       node.shapes[0], 0));
    }
    if (!status.ok()) return status;
    if (shape->is_dynamic()) {
      node.batch_sizes.back() = RemoveDynamicBatch(*shape, node.inputs.back());
      node.custom_call = false;
    }
  }
  return node;
}

Shapes ShapesOf(const Node& node) {
  Shapes shapes = {ShapeOf(node.shapes[0]),
                   ShapeOf(node.shapes[1]),
                   ShapeOf(node.shapes[2]),
                   {}};
  for (int64_t i = 0; i < node.num_bias; ++i) {
    shapes.biases.push_back(ShapeOf(node.shapes[3 + i]));
  }
  return shapes;
}

flash_attention::HloInputs HloInputsOf(const Node& node, const Shapes& shapes) {
  const flash_attention::Sizes sizes =
      flash_attention::SizesOf(shapes, node.attributes);
  flash_attention::HloInputs inputs = {
      sizes,
      flash_attention::ScaleOf(sizes, node.attributes),
      node.shapes[0].element_type(),
      node.inputs[0],
      node.inputs[1],
      node.inputs[2],
      {}};
  if (node.num_bias > 0) inputs.bias = node.inputs[3];
  return inputs;
}

void SetOutput(XlaLoweringContext& context, int index, xla::XlaOp value,
               const std::optional<xla::XlaOp>& batch_size) {
  context.SetOutput(
      index, batch_size ? xla::SetDimensionSize(value, *batch_size, 0) : value);
}

absl::Status LowerFlashAttention(XlaLoweringContext& context) {
  const absl::StatusOr<Node> node = NodeOf(context, "FlashAttention", 0);
  if (!node.ok()) return node.status();
  const Shapes shapes = ShapesOf(*node);
  const absl::Status status =
      flash_attention::CheckShapes("FlashAttention", shapes);
  if (!status.ok()) return status;
  absl::StatusOr<std::vector<xla::XlaOp>> outputs;
#ifdef TENSORFLOW_CUSTOM_OPS_XLA_CUSTOM_CALLS
  if (node->custom_call) {
    const xla::PrimitiveType type = node->shapes[0].element_type();
    const xla::Shape log_sum_exp = xla::ShapeUtil::MakeShape(
        type == xla::F64 ? xla::F64 : xla::F32,
        *flash_attention::LogSumExpShape(shapes.query));
    outputs = EmitXlaCustomCall(kForwardCall, node->inputs[0].builder(),
                                node->inputs, {node->shapes[0], log_sum_exp},
                                CallAttributes(node->attributes));
    if (!outputs.ok()) return outputs.status();
  }
#endif
  if (!node->custom_call) {
    outputs = flash_attention::EmitForwardHlo(HloInputsOf(*node, shapes));
  }
  // As large as the batch of queries.
  SetOutput(context, 0, (*outputs)[0], node->batch_sizes[0]);
  SetOutput(context, 1, (*outputs)[1], node->batch_sizes[0]);
  return absl::OkStatus();
}

absl::Status LowerFlashAttentionGrad(XlaLoweringContext& context) {
  const absl::StatusOr<Node> node = NodeOf(context, "FlashAttentionGrad", 3);
  if (!node.ok()) return node.status();
  int64_t num_bias_grad;
  absl::Status status = context.GetAttr("num_bias_grad", &num_bias_grad);
  if (!status.ok()) return status;
  const Shapes shapes = ShapesOf(*node);
  const int64_t rest = 3 + node->num_bias;
  status = flash_attention::CheckGradShapes(
      "FlashAttentionGrad", shapes, ShapeOf(node->shapes[rest]),
      ShapeOf(node->shapes[rest + 1]), ShapeOf(node->shapes[rest + 2]),
      num_bias_grad);
  if (!status.ok()) return status;
  absl::StatusOr<std::vector<xla::XlaOp>> grads;
#ifdef TENSORFLOW_CUSTOM_OPS_XLA_CUSTOM_CALLS
  if (node->custom_call) {
    const std::vector<xla::Shape> grad_shapes(
        node->shapes.begin(), node->shapes.begin() + 3 + num_bias_grad);
    grads = EmitXlaCustomCall(kBackwardCall, node->inputs[0].builder(),
                              node->inputs, grad_shapes,
                              CallAttributes(node->attributes));
    if (!grads.ok()) return grads.status();
  }
#endif
  if (!node->custom_call) {
    grads = flash_attention::EmitBackwardHlo(
        HloInputsOf(*node, shapes),
        {node->inputs[rest], node->inputs[rest + 1], node->inputs[rest + 2],
         num_bias_grad > 0});
  }
  for (size_t i = 0; i < grads->size(); ++i) {
    SetOutput(context, i, (*grads)[i], node->batch_sizes[i]);
  }
  return absl::OkStatus();
}

REGISTER_XLA_LOWERING("FlashAttention", LowerFlashAttention);
REGISTER_XLA_LOWERING("FlashAttentionGrad", LowerFlashAttentionGrad);

}  // namespace
}  // namespace tensorflow_custom_ops
