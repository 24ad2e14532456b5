// SPDX-License-Identifier: Apache-2.0
#include "tensorflow_custom_ops/core/xla_custom_call.h"

#include <cstddef>
#include <cstring>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "xla/layout_util.h"
#include "xla/shape_util.h"
#include "xla/xla_data.pb.h"

namespace tensorflow_custom_ops {
namespace {

// XLA reads the attributes as the text of an MLIR dictionary. What follows
// writes the values as MLIR's lexer reads them.

std::string Text(bool value) { return value ? "true" : "false"; }

std::string Text(int64_t value) { return absl::StrCat(value, " : i64"); }

// By its bits: exact, and the only way to write infinities and NaNs.
std::string Text(float value) {
  uint32_t bits;
  static_assert(sizeof(bits) == sizeof(value));
  std::memcpy(&bits, &value, sizeof(bits));
  return absl::StrCat("0x", absl::Hex(bits, absl::kZeroPad8), " : f32");
}

std::string Text(const std::string& value) {
  std::string text = "\"";
  for (unsigned char c : value) {
    if (absl::ascii_isprint(c) && c != '"' && c != '\\') {
      text += static_cast<char>(c);
    } else {
      absl::StrAppend(&text, "\\", absl::Hex(c, absl::kZeroPad2));
    }
  }
  return text + "\"";
}

std::string Text(const XlaAttributes& attributes) {
  std::string text;
  absl::string_view separator = "{";
  for (const auto& [name, attribute] : attributes) {
    const std::string value = std::visit(
        [](const auto& alternative) { return Text(alternative); }, attribute);
    absl::StrAppend(&text, separator, Text(name), " = ", value);
    separator = ", ";
  }
  return text.empty() ? "{}" : text + "}";
}

}  // namespace

absl::StatusOr<std::vector<xla::XlaOp>> EmitXlaCustomCall(
    const XlaCustomCall& call, xla::XlaBuilder* builder,
    const std::vector<xla::XlaOp>& operands,
    const std::vector<xla::Shape>& result_shapes,
    const XlaAttributes& attributes) {
  if (!call.registration.ok()) return call.registration;

  std::vector<xla::Shape> operand_shapes;
  for (const xla::XlaOp& operand : operands) {
    absl::StatusOr<xla::Shape> shape = builder->GetShape(operand);
    if (!shape.ok()) return shape.status();
    if (shape->is_dynamic()) {
      return absl::UnimplementedError(absl::StrCat(
          call.name,
          " is a custom call, to which XLA cannot pass arrays with dynamic "
          "dimensions, but operand ",
          operand_shapes.size(), " has shape ",
          xla::ShapeUtil::HumanString(*shape)));
    }
    xla::LayoutUtil::SetToDefaultLayout(&*shape);
    operand_shapes.push_back(*std::move(shape));
  }
  xla::Shape shape = result_shapes.size() == 1
                         ? result_shapes[0]
                         : xla::ShapeUtil::MakeTupleShape(result_shapes);
  xla::LayoutUtil::SetToDefaultLayout(&shape);

  const xla::XlaOp result = xla::CustomCallWithLayout(
      builder, call.name, operands, shape, operand_shapes, Text(attributes),
      /*has_side_effect=*/false, /*output_operand_aliasing=*/{},
      /*literal=*/nullptr, xla::CustomCallSchedule::SCHEDULE_NONE,
      xla::CustomCallApiVersion::API_VERSION_TYPED_FFI);
  if (result_shapes.size() == 1) return std::vector<xla::XlaOp>{result};
  std::vector<xla::XlaOp> results;
  for (size_t i = 0; i < result_shapes.size(); ++i) {
    results.push_back(xla::GetTupleElement(result, i));
  }
  return results;
}

}  // namespace tensorflow_custom_ops
