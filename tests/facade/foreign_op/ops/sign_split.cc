// SPDX-License-Identifier: Apache-2.0
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/shape_inference.h"

namespace tensorflow {

REGISTER_OP("SignSplit")
    .Input("values: T")
    .Output("positive: T")
    .Output("negative: T")
    .Attr("T: {float, double}")
    .SetShapeFn([](shape_inference::InferenceContext* c) {
      c->set_output(0, c->input(0));
      c->set_output(1, c->input(0));
      return absl::OkStatus();
    })
    .Doc("Splits values into their positive and their negative parts.");

REGISTER_OP("SignSplitCount")
    .Input("values: float")
    .Output("count: int64")
    .SetShapeFn(shape_inference::ScalarShape)
    .Doc("Counts the positive values.");

}  // namespace tensorflow
