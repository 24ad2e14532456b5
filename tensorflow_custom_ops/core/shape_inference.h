// SPDX-License-Identifier: Apache-2.0
// What shape functions share.
#ifndef TENSORFLOW_CUSTOM_OPS_CORE_SHAPE_INFERENCE_H_
#define TENSORFLOW_CUSTOM_OPS_CORE_SHAPE_INFERENCE_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "tensorflow/core/framework/shape_inference.h"
#include "tensorflow_custom_ops/core/shape.h"

namespace tensorflow_custom_ops {

static_assert(kUnknown ==
              tensorflow::shape_inference::InferenceContext::kUnknownDim);

// What is known of a shape. (Not by a PartialTensorShape: making that of a
// shape that no tensor can have ends the process.)
inline Shape ShapeOf(tensorflow::shape_inference::InferenceContext* context,
                     tensorflow::shape_inference::ShapeHandle shape) {
  if (!context->RankKnown(shape)) return std::nullopt;
  std::vector<int64_t> sizes;
  for (int i = 0; i < context->Rank(shape); ++i) {
    sizes.push_back(context->Value(context->Dim(shape, i)));
  }
  return sizes;
}

inline Shape InputShape(tensorflow::shape_inference::InferenceContext* context,
                        int index) {
  return ShapeOf(context, context->input(index));
}

}  // namespace tensorflow_custom_ops

#endif  // TENSORFLOW_CUSTOM_OPS_CORE_SHAPE_INFERENCE_H_
