// SPDX-License-Identifier: Apache-2.0
#include "absl/status/status.h"
#include "tensorflow_custom_ops/core/xla_lowering.h"
#include "xla/hlo/builder/lib/constants.h"
#include "xla/hlo/builder/xla_builder.h"

namespace tensorflow_custom_ops {
namespace {

absl::Status LowerMyOp(XlaLoweringContext& context) {
  const xla::XlaOp input = context.Input(0);
  context.SetOutput(0, xla::Mul(input, xla::ScalarLike(input, 2)));
  return absl::OkStatus();
}

REGISTER_XLA_LOWERING("MyOp", LowerMyOp);

}  // namespace
}  // namespace tensorflow_custom_ops
