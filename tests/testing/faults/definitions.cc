// SPDX-License-Identifier: Apache-2.0
// Faults of definitions: shape functions, types, and none.
#include "absl/status/status.h"
#include "tensorflow/core/framework/shape_inference.h"
#include "tests/testing/faults/fault.h"

namespace tensorflow_custom_ops {
namespace {

using tensorflow::shape_inference::InferenceContext;
using tensorflow::shape_inference::ShapeHandle;

void DoubleAll(OpKernelContext* context) {
  Double(context, context->input(0).NumElements());
}

REGISTER_FAULT(FaultNone, DoubleAll);

REGISTER_OP("FaultWrongShape")
    .Input("x: float")
    .Output("y: float")
    .SetShapeFn([](InferenceContext* context) {
      context->set_output(0, context->Vector(7));
      return absl::OkStatus();
    });
REGISTER_FAULTY_KERNEL(FaultWrongShape, DoubleAll);

REGISTER_OP("FaultLosesShape")
    .Input("x: float")
    .Output("y: float")
    .SetShapeFn(tensorflow::shape_inference::UnknownShape);
REGISTER_FAULTY_KERNEL(FaultLosesShape, DoubleAll);

// Refuses what the kernel takes.
REGISTER_OP("FaultRefusesOnlyStatically")
    .Input("x: float")
    .Output("y: float")
    .SetShapeFn([](InferenceContext* context) {
      ShapeHandle matrix;
      const absl::Status status =
          context->WithRank(context->input(0), 2, &matrix);
      context->set_output(0, context->input(0));
      return status;
    });
REGISTER_FAULTY_KERNEL(FaultRefusesOnlyStatically, DoubleAll);

REGISTER_OP("FaultMissingKernel")
    .Attr("T: {half, float, double}")
    .Input("x: T")
    .Output("y: T")
    .SetShapeFn(tensorflow::shape_inference::UnchangedShape);
REGISTER_KERNEL_BUILDER(Name("FaultMissingKernel")
                            .Device(tensorflow::DEVICE_CPU)
                            .TypeConstraint<float>("T"),
                        FunctionKernel<DoubleAll>);

// Right for float; for double it does not double.
REGISTER_OP("FaultWrongForOneType")
    .Attr("T: {float, double}")
    .Input("x: T")
    .Output("y: T")
    .SetShapeFn(tensorflow::shape_inference::UnchangedShape);
void Copy(OpKernelContext* context) {
  context->set_output(0, context->input(0));
}
REGISTER_KERNEL_BUILDER(Name("FaultWrongForOneType")
                            .Device(tensorflow::DEVICE_CPU)
                            .TypeConstraint<float>("T"),
                        FunctionKernel<DoubleAll>);
REGISTER_KERNEL_BUILDER(Name("FaultWrongForOneType")
                            .Device(tensorflow::DEVICE_CPU)
                            .TypeConstraint<double>("T"),
                        FunctionKernel<Copy>);

}  // namespace
}  // namespace tensorflow_custom_ops
