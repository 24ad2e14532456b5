// SPDX-License-Identifier: Apache-2.0
// The shapes that FlashAttention and FlashAttentionGrad take, for their shape
// functions, kernels and lowerings.
#ifndef TENSORFLOW_CUSTOM_OPS_OPS_FLASH_ATTENTION_FLASH_ATTENTION_SHAPE_H_
#define TENSORFLOW_CUSTOM_OPS_OPS_FLASH_ATTENTION_FLASH_ATTENTION_SHAPE_H_

#include <cmath>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "tensorflow/core/framework/types.h"
#include "tensorflow_custom_ops/core/shape.h"
#include "tensorflow_custom_ops/ops/flash_attention/flash_attention_problem.h"

namespace tensorflow_custom_ops {
namespace flash_attention {

inline int64_t Known(int64_t a, int64_t b) { return a == kUnknown ? b : a; }

// The inputs of the forward pass.
struct Shapes {
  Shape query;
  Shape key;
  Shape value;
  // At most one.
  std::vector<Shape> biases;
};

template <typename... Parts>
absl::Status Invalid(absl::string_view op, const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(op, ": ", parts...));
}

// The attributes of both ops, beside numbers of inputs and outputs.
struct Attributes {
  bool causal;
  float scale;  // 0: the inverse of the square root of head_dim.
  int64_t window;
};

// Whether the type of log_sum_exp is the one in which `type` is summed.
inline absl::Status CheckSumType(absl::string_view op,
                                 tensorflow::DataType type,
                                 tensorflow::DataType sum_type) {
  const auto expected = type == tensorflow::DT_DOUBLE ? tensorflow::DT_DOUBLE
                                                      : tensorflow::DT_FLOAT;
  if (sum_type == expected) return absl::OkStatus();
  return Invalid(op, "Tsum must be ", tensorflow::DataTypeString(expected),
                 " where T is ", tensorflow::DataTypeString(type), ", but is ",
                 tensorflow::DataTypeString(sum_type));
}

// Reads and checks the attributes of what has GetAttr(name, pointer), for bools
// and numbers.
template <typename Context>
absl::Status GetAttributes(absl::string_view op, Context& context,
                           Attributes* attributes) {
  absl::Status status = context.GetAttr("causal", &attributes->causal);
  status.Update(context.GetAttr("scale", &attributes->scale));
  status.Update(context.GetAttr("window", &attributes->window));
  if (!status.ok()) return status;
  // By its bits: TensorFlow lets the threads of kernels take denormal numbers
  // for 0, but not those of shape functions.
  uint32_t bits;
  static_assert(sizeof(bits) == sizeof(attributes->scale));
  std::memcpy(&bits, &attributes->scale, sizeof(bits));
  const uint32_t magnitude = bits & 0x7fffffff;
  constexpr uint32_t kSmallestNormal = 0x00800000, kInfinity = 0x7f800000;
  if (magnitude == 0 ||
      (magnitude >= kSmallestNormal && magnitude < kInfinity)) {
    return absl::OkStatus();
  }
  return Invalid(op, "scale must be finite and no denormal number, but is ",
                 attributes->scale);
}

// The shape of an attention matrix, as far as it is known.
inline std::vector<int64_t> ScoresShape(const Shapes& shapes) {
  return {Known(Size(shapes.query, 0), Size(shapes.key, 0)),
          Size(shapes.query, 2), Size(shapes.query, 1),
          Known(Size(shapes.key, 1), Size(shapes.value, 1))};
}

// For a query of a shape that fits.
inline Shape LogSumExpShape(const Shape& query) {
  return std::vector<int64_t>{Size(query, 0), Size(query, 2), Size(query, 1)};
}

inline absl::Status CheckBias(absl::string_view op, const Shapes& shapes) {
  if (shapes.biases.size() > 1) {
    return Invalid(op, "there must be at most one bias, but there are ",
                   shapes.biases.size());
  }
  if (shapes.biases.empty() || !shapes.biases[0]) return absl::OkStatus();
  const std::vector<int64_t>& bias = *shapes.biases[0];
  const std::vector<int64_t> scores = ScoresShape(shapes);
  bool fits = bias.size() <= scores.size();
  for (size_t i = 0; fits && i < bias.size(); ++i) {
    const int64_t wanted = scores[scores.size() - bias.size() + i];
    fits = bias[i] == 1 || !Differ(bias[i], wanted);
  }
  if (fits) return absl::OkStatus();
  return Invalid(op,
                 "bias must have a shape that broadcasts to [batch, heads, "
                 "q_length, kv_length], ",
                 DebugString(scores), ", but it has shape ",
                 DebugString(shapes.biases[0]));
}

// Whether the inputs fit, as far as their shapes are known.
inline absl::Status CheckShapes(absl::string_view op, const Shapes& shapes) {
  const Shape& query = shapes.query;
  const Shape& key = shapes.key;
  const Shape& value = shapes.value;
  if (query && query->size() != 4) {
    return Invalid(op,
                   "query must have shape [batch, q_length, heads, head_dim], "
                   "but it has shape ",
                   DebugString(query));
  }
  for (const auto& [name, shape] :
       {std::pair{"key", &key}, {"value", &value}}) {
    if (*shape && (*shape)->size() != 4) {
      return Invalid(op, name,
                     " must have shape [batch, kv_length, kv_heads, head_dim], "
                     "but it has shape ",
                     DebugString(*shape));
    }
    for (const int i : {0, 3}) {
      if (!Differ(Size(query, i), Size(*shape, i))) continue;
      return Invalid(op, name, " must have the ",
                     i == 0 ? "batch size" : "head dimension", " of query, ",
                     Size(query, i), ", but query has shape ",
                     DebugString(query), " and ", name, " has shape ",
                     DebugString(*shape));
    }
  }
  for (const int i : {1, 2}) {
    if (!Differ(Size(key, i), Size(value, i))) continue;
    return Invalid(op, "value must have the shape of key, ", DebugString(key),
                   ", but it has shape ", DebugString(value));
  }
  for (const int i : {2, 3}) {
    const int64_t size = Known(Size(key, i), Size(value, i));
    if (size != 0) continue;
    return Invalid(op, "key must have at least one ",
                   i == 2 ? "head" : "element in each head",
                   ", but it has shape ", DebugString(key ? key : value));
  }
  const int64_t heads = Size(query, 2);
  const int64_t kv_heads = Known(Size(key, 2), Size(value, 2));
  if (heads != kUnknown && kv_heads != kUnknown && heads % kv_heads != 0) {
    return Invalid(op,
                   "the number of heads of query must be a multiple of that of "
                   "key and value, ",
                   kv_heads, ", but is ", heads);
  }
  absl::Status status = CheckBias(op, shapes);
  // Where query is empty, this may be too large.
  status.Update(CheckNumElements(op, "log_sum_exp", LogSumExpShape(query)));
  return status;
}

// Whether something that belongs to another array has its shape.
inline absl::Status CheckSameShape(absl::string_view op, absl::string_view name,
                                   const Shape& shape, const Shape& expected) {
  if (!Differ(shape, expected)) return absl::OkStatus();
  return Invalid(op, name, " must have shape ", DebugString(expected),
                 ", but it has shape ", DebugString(shape));
}

// What the gradient takes, beside the inputs of the forward pass.
inline absl::Status CheckGradShapes(absl::string_view op, const Shapes& shapes,
                                    const Shape& output,
                                    const Shape& log_sum_exp,
                                    const Shape& output_grad,
                                    int64_t num_bias_grad) {
  absl::Status status = CheckShapes(op, shapes);
  // What follows looks at dimensions of query.
  if (!status.ok()) return status;
  if (num_bias_grad > static_cast<int64_t>(shapes.biases.size())) {
    status.Update(
        Invalid(op, "num_bias_grad must be at most the number of biases, ",
                shapes.biases.size(), ", but is ", num_bias_grad));
  }
  status.Update(CheckSameShape(op, "output", output, shapes.query));
  status.Update(CheckSameShape(op, "log_sum_exp", log_sum_exp,
                               LogSumExpShape(shapes.query)));
  status.Update(CheckSameShape(op, "output_grad", output_grad, shapes.query));
  return status;
}

// For shapes that fit and are known.
inline Sizes SizesOf(const Shapes& shapes, const Attributes& attributes) {
  const std::vector<int64_t>& query = *shapes.query;
  const std::vector<int64_t>& key = *shapes.key;
  return {query[0], query[2],          key[2],           query[1], key[1],
          query[3], attributes.causal, attributes.window};
}

inline double ScaleOf(const Sizes& sizes, const Attributes& attributes) {
  if (attributes.scale != 0) return attributes.scale;
  return 1 / std::sqrt(static_cast<double>(sizes.head_dim));
}

// The strides of a bias of this shape.
inline Bias BiasOf(const std::vector<int64_t>& shape, const void* data) {
  int64_t strides[4] = {};
  int64_t stride = 1;
  for (size_t i = 0; i < shape.size(); ++i) {
    const int64_t size = shape[shape.size() - 1 - i];
    if (size != 1) strides[3 - i] = stride;
    stride *= size;
  }
  return {data, strides[0], strides[1], strides[2], strides[3]};
}

}  // namespace flash_attention
}  // namespace tensorflow_custom_ops

#endif  // TENSORFLOW_CUSTOM_OPS_OPS_FLASH_ATTENTION_FLASH_ATTENTION_SHAPE_H_
