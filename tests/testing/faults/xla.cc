// SPDX-License-Identifier: Apache-2.0
// An op that is right, but for XLA.
#include "absl/status/status.h"
#include "tensorflow_custom_ops/core/xla_lowering.h"
#include "tests/testing/faults/fault.h"
#include "xla/hlo/builder/lib/constants.h"
#include "xla/hlo/builder/xla_builder.h"

namespace tensorflow_custom_ops {
namespace {

void DoubleAll(OpKernelContext* context) {
  Double(context, context->input(0).NumElements());
}
REGISTER_FAULT(FaultWrongByXla, DoubleAll);

absl::Status Triple(XlaLoweringContext& context) {
  const xla::XlaOp x = context.Input(0);
  context.SetOutput(0, x * xla::ScalarLike(x, 3));
  return absl::OkStatus();
}
REGISTER_XLA_LOWERING("FaultWrongByXla", Triple);

}  // namespace
}  // namespace tensorflow_custom_ops
