// SPDX-License-Identifier: Apache-2.0
// A custom call of the op's own kernel, and HLO for arrays that XLA cannot pass
// to one.
#include "tensorflow_custom_ops/ops/rotary_embedding/rotary_embedding_xla.h"

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "tensorflow_custom_ops/core/shape.h"
#include "tensorflow_custom_ops/core/type.h"
#include "tensorflow_custom_ops/core/xla_custom_call.h"
#include "tensorflow_custom_ops/core/xla_custom_call_handler.h"
#include "tensorflow_custom_ops/core/xla_dynamic.h"
#include "tensorflow_custom_ops/core/xla_lowering.h"
#include "tensorflow_custom_ops/ops/rotary_embedding/rotary_embedding_cpu.h"
#include "tensorflow_custom_ops/ops/rotary_embedding/rotary_embedding_frequency.h"
#include "tensorflow_custom_ops/ops/rotary_embedding/rotary_embedding_shape.h"
#include "xla/hlo/builder/lib/constants.h"
#include "xla/hlo/builder/xla_builder.h"
#include "xla/shape.h"
#include "xla/shape_util.h"
#include "xla/xla_data.pb.h"

namespace tensorflow_custom_ops {
namespace {

using rotary_embedding::Attributes;
using rotary_embedding::Problem;

#ifdef TENSORFLOW_CUSTOM_OPS_XLA_CUSTOM_CALLS

namespace ffi = xla::ffi;

ffi::Error Handle(ffi::ThreadPool pool, ffi::RemainingArgs args,
                  ffi::Result<ffi::AnyBuffer> output, float base,
                  int64_t rotary_dim, bool interleaved, bool inverse) {
  return RunXlaHandler([&]() -> absl::Status {
    const auto call = rotary_embedding::DecodeXlaCall(
        args, output, {base, rotary_dim, interleaved, inverse});
    if (!call.ok()) return call.status();
    return ForXlaFloatingPoint("RotaryEmbedding", call->type, [&](auto zero) {
      absl::Status parallel;
      absl::Status status = rotary_embedding::RunOnCpu(
          call->problem, kTypeOf<decltype(zero)>,
          [&](int64_t total, int64_t cycles,
              absl::FunctionRef<void(int64_t, int64_t)> body) {
            parallel = XlaParallelFor(pool, total, cycles, body);
          });
      status.Update(parallel);
      return status;
    });
  });
}

XLA_FFI_DEFINE_HANDLER(
    kHandler, Handle,
    rotary_embedding::BindXlaCall(ffi::Ffi::Bind().Ctx<ffi::ThreadPool>()));

// A reference, so that it is never destroyed.
const XlaCustomCall& kCustomCall = *new XlaCustomCall(
    RegisterXlaCustomCall(rotary_embedding::kCustomCall, kXlaCpu, kHandler));

#endif  // TENSORFLOW_CUSTOM_OPS_XLA_CUSTOM_CALLS

// An input without dynamic dimensions: what is beyond their sizes is computed,
// and not looked at.
struct Buffer {
  Buffer(xla::XlaOp input, const xla::Shape& shape)
      : value(input),
        sizes(shape.dimensions().begin(), shape.dimensions().end()),
        dynamic_sizes(sizes.size()) {
    for (size_t i = 0; i < sizes.size(); ++i) {
      if (!shape.is_dynamic_dimension(i)) continue;
      dynamic_sizes[i] = xla::GetDimensionSize(input, i);
      value = xla::RemoveDynamicDimension(value, i);
    }
  }

  // Gives the sizes of this buffer to another of the same shape.
  xla::XlaOp Restored(xla::XlaOp other) const {
    for (size_t i = 0; i < sizes.size(); ++i) {
      if (!dynamic_sizes[i]) continue;
      other = xla::SetDimensionSize(other, *dynamic_sizes[i], i);
    }
    return other;
  }

  xla::XlaOp value;
  std::vector<int64_t> sizes;
  std::vector<std::optional<xla::XlaOp>> dynamic_sizes;
};

// The first or the second elements of all pairs.
xla::XlaOp Elements(const Problem& problem, const Buffer& x, int which) {
  const int64_t last = x.sizes.size() - 1;
  const int64_t pairs = problem.rotary_dim / 2;
  if (problem.interleaved) {
    return xla::SliceInDim(x.value, which, problem.rotary_dim, 2, last);
  }
  return xla::SliceInDim(x.value, which * pairs, (which + 1) * pairs, 1, last);
}

// The inverse of that, and the elements of no pair.
xla::XlaOp Joined(const Problem& problem, const Buffer& x, xla::XlaOp first,
                  xla::XlaOp second) {
  xla::XlaBuilder* builder = x.value.builder();
  const int64_t last = x.sizes.size() - 1;
  std::vector<xla::XlaOp> parts = {first, second};
  if (problem.interleaved) {
    std::vector<int64_t> sizes = x.sizes;
    sizes.back() = problem.rotary_dim / 2;
    sizes.push_back(1);
    const xla::XlaOp pairs = xla::ConcatInDim(
        builder, {xla::Reshape(first, sizes), xla::Reshape(second, sizes)},
        last + 1);
    sizes.pop_back();
    sizes.back() = problem.rotary_dim;
    parts = {xla::Reshape(pairs, sizes)};
  }
  if (problem.rotary_dim < problem.head_dim) {
    parts.push_back(xla::SliceInDim(x.value, problem.rotary_dim,
                                    problem.head_dim, 1, last));
  }
  return xla::ConcatInDim(builder, parts, last);
}

// Of all positions and pairs, in double, for the shape of what is turned.
xla::XlaOp Angles(const Problem& problem, const Buffer& x,
                  std::optional<xla::XlaOp> positions, int64_t positions_rank) {
  xla::XlaBuilder* builder = x.value.builder();
  const int64_t sequence_dimension = x.sizes.size() - 3;
  if (!positions) {
    positions = xla::Iota(builder, xla::S64, x.sizes[sequence_dimension]);
    positions_rank = 1;
  }
  std::vector<int64_t> sizes = x.sizes;
  sizes.back() = problem.rotary_dim / 2;
  std::vector<int64_t> dimensions;
  for (int64_t i = 0; i < positions_rank; ++i) {
    dimensions.push_back(sequence_dimension + 1 - positions_rank + i);
  }
  std::vector<double> frequencies;
  for (int64_t i = 0; i < problem.rotary_dim / 2; ++i) {
    frequencies.push_back(
        rotary_embedding::Frequency(problem.base, problem.rotary_dim, i));
  }
  // Without the heads, for which the same is not to be computed again.
  sizes[sequence_dimension + 1] = 1;
  return xla::Mul(
      xla::BroadcastInDim(xla::ConvertElementType(*positions, xla::F64), sizes,
                          dimensions),
      xla::BroadcastInDim(xla::ConstantR1<double>(builder, frequencies), sizes,
                          {static_cast<int64_t>(sizes.size()) - 1}));
}

xla::XlaOp EmitHlo(const Problem& problem, xla::XlaOp input,
                   const xla::Shape& shape, std::optional<xla::XlaOp> positions,
                   int64_t positions_rank) {
  const Buffer x(input, shape);
  const xla::PrimitiveType type = shape.element_type();
  const xla::PrimitiveType compute_type =
      type == xla::F64 ? xla::F64 : xla::F32;
  const xla::XlaOp angles = Angles(problem, x, positions, positions_rank);
  std::vector<int64_t> sizes = x.sizes;
  sizes.back() = problem.rotary_dim / 2;
  std::vector<int64_t> all_dimensions;
  for (size_t i = 0; i < sizes.size(); ++i) all_dimensions.push_back(i);
  // For all heads.
  const auto factors = [&](xla::XlaOp of_angles) {
    return xla::BroadcastInDim(xla::ConvertElementType(of_angles, compute_type),
                               sizes, all_dimensions);
  };
  const xla::XlaOp cosines = factors(xla::Cos(angles));
  const xla::XlaOp sines =
      factors(problem.inverse ? xla::Neg(xla::Sin(angles)) : xla::Sin(angles));
  const xla::XlaOp first =
      xla::ConvertElementType(Elements(problem, x, 0), compute_type);
  const xla::XlaOp second =
      xla::ConvertElementType(Elements(problem, x, 1), compute_type);
  const auto rounded = [&](xla::XlaOp value) {
    return xla::ConvertElementType(value, type);
  };
  return x.Restored(Joined(
      problem, x,
      rounded(xla::Sub(xla::Mul(first, cosines), xla::Mul(second, sines))),
      rounded(xla::Add(xla::Mul(second, cosines), xla::Mul(first, sines)))));
}

// Whether the sizes are known of which something depends.
absl::Status CheckStatic(const xla::Shape& input,
                         const std::vector<xla::Shape>& positions) {
  const int64_t rank = input.dimensions().size();
  bool known = !input.is_dynamic_dimension(rank - 1);
  for (const xla::Shape& shape : positions) {
    known = known && !shape.is_dynamic();
    const int64_t positions_rank = shape.dimensions().size();
    for (int64_t i = rank - 2 - positions_rank; i < rank - 2; ++i) {
      known = known && !input.is_dynamic_dimension(i);
    }
  }
  if (known) return CheckNotEmptyIfDynamic("RotaryEmbedding", "input", input);
  return rotary_embedding::Invalid(
      "under XLA, the last dimension of input, and the dimensions that "
      "positions has, must be known while it compiles, but input has ",
      xla::ShapeUtil::HumanString(input),
      positions.empty()
          ? ""
          : absl::StrCat(" and positions has ",
                         xla::ShapeUtil::HumanString(positions[0])));
}

Shape ShapeOf(const xla::Shape& shape) {
  return std::vector<int64_t>(shape.dimensions().begin(),
                              shape.dimensions().end());
}

absl::Status LowerRotaryEmbedding(XlaLoweringContext& context) {
  Attributes attributes;
  absl::Status status = rotary_embedding::GetAttributes(context, &attributes);
  int64_t num_positions;
  status.Update(context.GetAttr("num_positions", &num_positions));
  if (!status.ok()) return status;
  const absl::StatusOr<xla::Shape> input_shape = context.InputShape(0);
  if (!input_shape.ok()) return input_shape.status();
  std::vector<xla::XlaOp> inputs = {context.Input(0)};
  std::vector<xla::Shape> xla_positions;
  std::vector<Shape> positions;
  for (int64_t i = 1; i <= num_positions; ++i) {
    const absl::StatusOr<xla::Shape> shape = context.InputShape(i);
    if (!shape.ok()) return shape.status();
    inputs.push_back(context.Input(i));
    xla_positions.push_back(*shape);
    positions.push_back(ShapeOf(*shape));
  }
  status =
      rotary_embedding::Check(ShapeOf(*input_shape), positions, attributes);
  if (status.ok()) status = CheckStatic(*input_shape, xla_positions);
  if (!status.ok()) return status;
#ifdef TENSORFLOW_CUSTOM_OPS_XLA_CUSTOM_CALLS
  if (context.HasKernel() && !input_shape->is_dynamic() &&
      !xla::ShapeUtil::IsZeroElementArray(*input_shape)) {
    const absl::StatusOr<std::vector<xla::XlaOp>> outputs = EmitXlaCustomCall(
        kCustomCall, inputs[0].builder(), inputs, {*input_shape},
        {{"base", attributes.base},
         {"rotary_dim", attributes.rotary_dim},
         {"interleaved", attributes.interleaved},
         {"inverse", attributes.inverse}});
    if (!outputs.ok()) return outputs.status();
    context.SetOutput(0, (*outputs)[0]);
    return absl::OkStatus();
  }
#endif
  const Problem problem =
      rotary_embedding::ProblemOf(ShapeOf(*input_shape), positions, attributes);
  // Empty ones may have more positions than there should be angles of.
  if (problem.rotary_dim == 0 ||
      xla::ShapeUtil::IsZeroElementArray(*input_shape)) {
    context.SetOutput(0, inputs[0]);
    return absl::OkStatus();
  }
  std::optional<xla::XlaOp> given;
  if (num_positions > 0) given = inputs[1];
  context.SetOutput(0, EmitHlo(problem, inputs[0], *input_shape, given,
                               num_positions > 0 ? positions[0]->size() : 0));
  return absl::OkStatus();
}

REGISTER_XLA_LOWERING("RotaryEmbedding", LowerRotaryEmbedding);

}  // namespace
}  // namespace tensorflow_custom_ops
