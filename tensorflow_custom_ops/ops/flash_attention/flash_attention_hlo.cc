// SPDX-License-Identifier: Apache-2.0
#include "tensorflow_custom_ops/ops/flash_attention/flash_attention_hlo.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "tensorflow/core/platform/tensor_float_32_utils.h"
#include "xla/hlo/builder/lib/arithmetic.h"
#include "xla/hlo/builder/lib/constants.h"
#include "xla/hlo/builder/xla_builder.h"
#include "xla/shape.h"
#include "xla/shape_util.h"
#include "xla/xla_data.pb.h"

namespace tensorflow_custom_ops {
namespace flash_attention {
namespace {

using Dimensions = std::vector<int64_t>;

// Dimensions of queries, [batch, query, kv_head, group, head_dim], of keys,
// [batch, key, kv_head, head_dim], and of scores, [batch, kv_head, query,
// group, key].
constexpr int64_t kBatch = 0;
constexpr int64_t kQueryKvHead = 2;
constexpr int64_t kKeyKvHead = 2;
constexpr int64_t kScoreQuery = 2;
constexpr int64_t kScoreGroup = 3;
constexpr int64_t kScoreKey = 4;

// A sum of products, for each batch and key head.
xla::XlaOp Dot(xla::XlaOp a, int64_t a_kv_head, const Dimensions& a_contracted,
               xla::XlaOp b, int64_t b_kv_head,
               const Dimensions& b_contracted) {
  xla::DotDimensionNumbers dimensions;
  dimensions.add_lhs_batch_dimensions(kBatch);
  dimensions.add_lhs_batch_dimensions(a_kv_head);
  dimensions.add_rhs_batch_dimensions(kBatch);
  dimensions.add_rhs_batch_dimensions(b_kv_head);
  for (const int64_t i : a_contracted) {
    dimensions.add_lhs_contracting_dimensions(i);
  }
  for (const int64_t i : b_contracted) {
    dimensions.add_rhs_contracting_dimensions(i);
  }
  // As TensorFlow's own matrix product.
  const auto precision = tsl::tensor_float_32_execution_enabled()
                             ? xla::PrecisionConfig::DEFAULT
                             : xla::PrecisionConfig::HIGHEST;
  xla::PrecisionConfig precisions;
  precisions.add_operand_precision(precision);
  precisions.add_operand_precision(precision);
  return xla::DotGeneral(a, b, dimensions, &precisions);
}

// Emits what both passes have in common.
class Emitter {
 public:
  explicit Emitter(const HloInputs& inputs)
      : sizes_(inputs.sizes),
        type_(inputs.type),
        sum_type_(type_ == xla::F64 ? xla::F64 : xla::F32),
        builder_(inputs.query.builder()),
        scale_(xla::ConstantR0WithType(builder_, sum_type_, inputs.scale)),
        query_(xla::Mul(Queries(inputs.query), scale_)),
        key_(Sum(inputs.key)),
        value_(Sum(inputs.value)) {
    scores_ = Dot(query_, kQueryKvHead, {4}, key_, kKeyKvHead, {3});
    if (inputs.bias) scores_ = xla::Add(scores_, Bias(*inputs.bias));
    visible_ = xla::BroadcastInDim(Visible(), ScoreDimensions(),
                                   {kScoreQuery, kScoreKey});
    scores_ = xla::Select(
        visible_, scores_,
        xla::Broadcast(xla::MinValue(builder_, sum_type_), ScoreDimensions()));
  }

  xla::XlaOp query() const { return query_; }
  xla::XlaOp key() const { return key_; }
  xla::XlaOp value() const { return value_; }
  xla::XlaOp scores() const { return scores_; }
  xla::XlaOp visible() const { return visible_; }
  xla::XlaOp scale() const { return scale_; }

  // To the type of sums, and back.
  xla::XlaOp Sum(xla::XlaOp x) const {
    return xla::ConvertElementType(x, sum_type_);
  }
  xla::XlaOp Rounded(xla::XlaOp x) const {
    return xla::ConvertElementType(x, type_);
  }

  // [batch, query, head, head_dim] as [batch, query, kv_head, group, head_dim].
  xla::XlaOp Queries(xla::XlaOp x) const {
    return xla::Reshape(Sum(x), {sizes_.batch, sizes_.q_length, sizes_.kv_heads,
                                 Group(sizes_), sizes_.head_dim});
  }

  // [batch, kv_head, query, group, head_dim] as the op's output.
  xla::XlaOp Output(xla::XlaOp x) const {
    return Rounded(xla::Reshape(
        xla::Transpose(x, {0, 2, 1, 3, 4}),
        {sizes_.batch, sizes_.q_length, sizes_.heads, sizes_.head_dim}));
  }

  // [batch, kv_head, query, group] as the op's log_sum_exp, and back.
  xla::XlaOp LogSumExp(xla::XlaOp x) const {
    return xla::Reshape(xla::Transpose(x, {0, 1, 3, 2}),
                        {sizes_.batch, sizes_.heads, sizes_.q_length});
  }
  xla::XlaOp FromLogSumExp(xla::XlaOp x) const {
    return xla::Transpose(xla::Reshape(x, {sizes_.batch, sizes_.kv_heads,
                                           Group(sizes_), sizes_.q_length}),
                          {0, 1, 3, 2});
  }

  // exp(scores - x) with an x for each query, which -inf stands for none in.
  xla::XlaOp Exp(xla::XlaOp x) const {
    const xla::XlaOp none = xla::MinValue(builder_, sum_type_);
    const xla::XlaOp base = xla::Select(xla::Eq(x, none), xla::ZerosLike(x), x);
    return xla::Exp(xla::Sub(scores_, base, {0, 1, 2, 3}));
  }

  xla::XlaOp ReduceSum(xla::XlaOp x, const Dimensions& dimensions) const {
    return xla::Reduce(x, xla::Zero(builder_, sum_type_),
                       xla::CreateScalarAddComputation(sum_type_, builder_),
                       dimensions);
  }
  xla::XlaOp ReduceMax(xla::XlaOp x, const Dimensions& dimensions) const {
    return xla::Reduce(x, xla::MinValue(builder_, sum_type_),
                       xla::CreateScalarMaxComputation(sum_type_, builder_),
                       dimensions);
  }

  // The gradient of a bias of this shape.
  xla::XlaOp BiasGrad(xla::XlaOp score_grads, const xla::Shape& shape) const {
    const xla::XlaOp grads = xla::Reshape(
        xla::Transpose(score_grads, {0, 1, 3, 2, 4}),
        {sizes_.batch, sizes_.heads, sizes_.q_length, sizes_.kv_length});
    const int64_t rank = shape.dimensions().size();
    Dimensions summed;
    for (int64_t i = 0; i < 4; ++i) {
      const int64_t dimension = i - (4 - rank);
      if (dimension < 0 || shape.dimensions(dimension) == 1) {
        summed.push_back(i);
      }
    }
    return Rounded(xla::Reshape(ReduceSum(grads, summed), shape.dimensions()));
  }

 private:
  Dimensions ScoreDimensions() const {
    return {sizes_.batch, sizes_.kv_heads, sizes_.q_length, Group(sizes_),
            sizes_.kv_length};
  }

  xla::XlaOp Bias(xla::XlaOp bias) const {
    const auto shape = builder_->GetShape(bias);
    if (!shape.ok()) return builder_->ReportError(shape.status());
    const auto& dimensions = shape->dimensions();
    // With all dimensions, those of the heads split.
    Dimensions full(4 - dimensions.size(), 1);
    full.insert(full.end(), dimensions.begin(), dimensions.end());
    const bool per_head = full[1] != 1;
    const xla::XlaOp grouped = xla::Reshape(
        Sum(bias), {full[0], per_head ? sizes_.kv_heads : 1,
                    per_head ? Group(sizes_) : 1, full[2], full[3]});
    const xla::XlaOp ordered = xla::Transpose(grouped, {0, 1, 3, 2, 4});
    // BroadcastInDim takes dimensions of size 1, too.
    return xla::BroadcastInDim(ordered, ScoreDimensions(), {0, 1, 2, 3, 4});
  }

  // Sizes::Visible, of shape [query, key].
  xla::XlaOp Visible() const {
    const xla::Shape shape = xla::ShapeUtil::MakeShape(
        xla::S64, {sizes_.q_length, sizes_.kv_length});
    const xla::XlaOp position = xla::Add(
        xla::Iota(builder_, shape, 0),
        xla::ConstantR0<int64_t>(builder_, sizes_.kv_length - sizes_.q_length));
    const xla::XlaOp distance =
        xla::Sub(position, xla::Iota(builder_, shape, 1));
    xla::XlaOp visible =
        xla::Broadcast(xla::ConstantR0(builder_, true), shape.dimensions());
    if (sizes_.causal) {
      visible = xla::And(visible, xla::Ge(distance, xla::ZerosLike(distance)));
    }
    if (sizes_.window > 0) {
      visible = xla::And(
          visible, xla::Lt(xla::Abs(distance),
                           xla::ConstantR0<int64_t>(builder_, sizes_.window)));
    }
    return visible;
  }

  const Sizes sizes_;
  const xla::PrimitiveType type_;
  const xla::PrimitiveType sum_type_;
  xla::XlaBuilder* const builder_;
  const xla::XlaOp scale_;
  const xla::XlaOp query_;  // Scaled.
  const xla::XlaOp key_;
  const xla::XlaOp value_;
  xla::XlaOp scores_;
  xla::XlaOp visible_;
};

}  // namespace

std::vector<xla::XlaOp> EmitForwardHlo(const HloInputs& inputs) {
  const Emitter emitter(inputs);
  const xla::XlaOp max = emitter.ReduceMax(emitter.scores(), {kScoreKey});
  const xla::XlaOp p = emitter.Exp(max);
  const xla::XlaOp sum = emitter.ReduceSum(p, {kScoreKey});
  const xla::XlaOp products =
      Dot(p, /*a_kv_head=*/1, {kScoreKey}, emitter.value(), kKeyKvHead, {1});
  const xla::XlaOp divisor = xla::Select(xla::Eq(sum, xla::ZerosLike(sum)),
                                         xla::ScalarLike(sum, 1), sum);
  return {emitter.Output(xla::Div(products, divisor, {0, 1, 2, 3})),
          emitter.LogSumExp(xla::Add(max, xla::Log(sum)))};
}

std::vector<xla::XlaOp> EmitBackwardHlo(const HloInputs& inputs,
                                        const HloGradInputs& grad_inputs) {
  const Emitter emitter(inputs);
  const xla::XlaOp p =
      emitter.Exp(emitter.FromLogSumExp(grad_inputs.log_sum_exp));
  const xla::XlaOp output = emitter.Queries(grad_inputs.output);
  const xla::XlaOp output_grad = emitter.Queries(grad_inputs.output_grad);
  const xla::XlaOp delta = xla::Transpose(
      emitter.ReduceSum(xla::Mul(output, output_grad), {4}), {0, 2, 1, 3});
  const xla::XlaOp p_grads =
      Dot(output_grad, kQueryKvHead, {4}, emitter.value(), kKeyKvHead, {3});
  const xla::XlaOp all_score_grads =
      xla::Mul(p, xla::Sub(p_grads, delta, {0, 1, 2, 3}));
  const xla::XlaOp score_grads = xla::Select(emitter.visible(), all_score_grads,
                                             xla::ZerosLike(all_score_grads));

  const xla::XlaOp query_grad =
      xla::Mul(Dot(score_grads, 1, {kScoreKey}, emitter.key(), kKeyKvHead, {1}),
               emitter.scale());
  // Of what has the shape of keys: sums over the queries.
  const auto key_grad = [&](xla::XlaOp scores, xla::XlaOp queries) {
    return emitter.Rounded(
        xla::Transpose(Dot(scores, 1, {kScoreQuery, kScoreGroup}, queries,
                           kQueryKvHead, {1, 3}),
                       {0, 2, 1, 3}));
  };
  std::vector<xla::XlaOp> grads = {emitter.Output(query_grad),
                                   key_grad(score_grads, emitter.query()),
                                   key_grad(p, output_grad)};
  if (grad_inputs.bias_grad) {
    const auto shape = inputs.bias->builder()->GetShape(*inputs.bias);
    if (shape.ok()) grads.push_back(emitter.BiasGrad(score_grads, *shape));
  }
  return grads;
}

}  // namespace flash_attention
}  // namespace tensorflow_custom_ops
