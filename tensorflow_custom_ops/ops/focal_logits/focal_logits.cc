// SPDX-License-Identifier: Apache-2.0
#include "tensorflow_custom_ops/ops/focal_logits/focal_logits.h"

#include "tensorflow_custom_ops/core/elementwise/op.h"

namespace tensorflow_custom_ops {

REGISTER_ELEMENTWISE_OP(FocalLogits)
    .Input("logits")
    .Input("labels")
    .Attribute("alpha: float = 0.25")
    .Attribute("gamma: float = 2.0")
    .Doc(R"doc(
The focal loss of two classes, of each element. It broadcasts its inputs.

logits: A tensor. Its sigmoid is the predicted probability of class 1.
labels: A tensor of the same type: the true probability of class 1, so 0 or 1 or
  between.
output: A tensor of the shape to which the inputs are broadcast:
  weight * (1 - p_t)^gamma * (cross entropy of labels and sigmoid(logits)), where
  p_t = labels * sigmoid(logits) + (1 - labels) * (1 - sigmoid(logits)) and
  weight = labels * alpha + (1 - labels) * (1 - alpha).
alpha: The weight of class 1, from 0 to 1. Class 0 has the weight 1 - alpha.
gamma: How little an element counts that is predicted well, at least 0.
T: The type of the elements.
)doc");

}  // namespace tensorflow_custom_ops
