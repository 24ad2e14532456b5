// SPDX-License-Identifier: Apache-2.0
// For the definitions of the ops: their shape functions.
#ifndef TENSORFLOW_CUSTOM_OPS_CORE_NORMALIZATION_OP_H_
#define TENSORFLOW_CUSTOM_OPS_CORE_NORMALIZATION_OP_H_

#include <functional>

#include "absl/status/status.h"
#include "tensorflow/core/framework/shape_inference.h"
#include "tensorflow_custom_ops/core/normalization/norm.h"

namespace tensorflow_custom_ops {
namespace normalization {

using ShapeFunction =
    std::function<absl::Status(tensorflow::shape_inference::InferenceContext*)>;

ShapeFunction ForwardShape(Norm norm);
ShapeFunction GradientShape(Norm norm);

}  // namespace normalization
}  // namespace tensorflow_custom_ops

#endif  // TENSORFLOW_CUSTOM_OPS_CORE_NORMALIZATION_OP_H_
