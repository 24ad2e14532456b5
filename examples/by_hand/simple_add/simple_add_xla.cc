// SPDX-License-Identifier: Apache-2.0
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tensorflow_custom_ops/core/xla_lowering.h"
#include "xla/hlo/builder/xla_builder.h"
#include "xla/shape.h"
#include "xla/shape_util.h"

namespace tensorflow_custom_ops {
namespace {

absl::Status LowerSimpleAdd(XlaLoweringContext& context) {
  absl::StatusOr<xla::Shape> a = context.InputShape(0);
  if (!a.ok()) return a.status();
  absl::StatusOr<xla::Shape> b = context.InputShape(1);
  if (!b.ok()) return b.status();
  if (a->is_dynamic() || b->is_dynamic()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "SimpleAdd: under XLA, a and b must have sizes that are known while it "
        "compiles, but a has ",
        xla::ShapeUtil::HumanString(*a), " and b has ",
        xla::ShapeUtil::HumanString(*b),
        ": whether they fit would not be checked"));
  }
  // xla::Add would broadcast a scalar.
  if (a->dimensions() != b->dimensions()) {
    return absl::InvalidArgumentError(
        absl::StrCat("SimpleAdd: a and b must have the same shape, but a has ",
                     xla::ShapeUtil::HumanString(*a), " and b has ",
                     xla::ShapeUtil::HumanString(*b)));
  }
  context.SetOutput(0, xla::Add(context.Input(0), context.Input(1)));
  return absl::OkStatus();
}

REGISTER_XLA_LOWERING("SimpleAdd", LowerSimpleAdd);

}  // namespace
}  // namespace tensorflow_custom_ops
