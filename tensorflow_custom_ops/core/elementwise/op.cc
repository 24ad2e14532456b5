// SPDX-License-Identifier: Apache-2.0
#include "tensorflow_custom_ops/core/elementwise/op.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_def_builder.h"
#include "tensorflow/core/framework/shape_inference.h"
#include "tensorflow/core/framework/types.h"
#include "tensorflow_custom_ops/core/elementwise/kernel_common.h"

namespace tensorflow_custom_ops {
namespace elementwise {
namespace {

using tensorflow::OpDefBuilder;
using tensorflow::OpRegistrationData;
using tensorflow::shape_inference::InferenceContext;
using tensorflow::shape_inference::ShapeHandle;

// The attribute that is the type of all inputs.
std::string TypeSpec(const Signature& signature) {
  std::vector<std::string> names;
  for (int i = 0; i < kNumTypes; ++i) {
    const Type type = static_cast<Type>(i);
    if (Contains(signature.types, type)) {
      names.push_back(tensorflow::DataTypeString(DataTypeOf(type)));
    }
  }
  return absl::StrCat(signature.type_attribute, ": {",
                      absl::StrJoin(names, ", "), "}");
}

// The shape of all outputs.
absl::Status InferShape(const Signature& signature, InferenceContext* c) {
  const tensorflow::OpDef* op;
  TF_RETURN_IF_ERROR(
      tensorflow::OpRegistry::Global()->LookUpOpDef(signature.name, &op));
  std::vector<double> attributes;
  TF_RETURN_IF_ERROR(ReadAttributes(
      signature, *op, [&](const std::string& name) { return c->GetAttr(name); },
      &attributes));
  ShapeHandle shape = c->input(0);
  for (int i = 1; i < c->num_inputs(); ++i) {
    const ShapeHandle so_far = shape;
    const absl::Status status =
        signature.broadcasts
            ? tensorflow::shape_inference::BroadcastBinaryOpOutputShapeFnHelper(
                  c, so_far, c->input(i), true, &shape)
            : c->Merge(so_far, c->input(i), &shape);
    if (!status.ok()) {
      return ShapeError(signature, signature.name, op->input_arg(0).name(),
                        c->DebugString(so_far),
                        i < op->input_arg_size() ? op->input_arg(i).name()
                                                 : std::string("grad"),
                        c->DebugString(c->input(i)));
    }
  }
  for (int i = 0; i < c->num_outputs(); ++i) c->set_output(i, shape);
  return absl::OkStatus();
}

// Registers an op, or fails with the error `definition` when it is loaded.
void Register(OpDefBuilder builder, const Signature& signature,
              const absl::Status& definition) {
  builder.SetShapeFn(
      [signature](InferenceContext* c) { return InferShape(signature, c); });
  tensorflow::OpRegistry::Global()->Register(
      [builder = std::move(builder), definition](OpRegistrationData* data) {
        return definition.ok() ? builder.Finalize(data) : definition;
      });
}

}  // namespace

OpDefinition& OpDefinition::Input(std::string name) {
  inputs_.push_back(std::move(name));
  return *this;
}

OpDefinition& OpDefinition::Attribute(std::string spec) {
  attributes_.push_back(std::move(spec));
  return *this;
}

OpDefinition& OpDefinition::Commutative() {
  commutative_ = true;
  return *this;
}

OpDefinition& OpDefinition::Doc(std::string text) {
  doc_ = std::move(text);
  return *this;
}

OpRegistration::OpRegistration(const OpDefinition& definition) {
  const Signature& signature = definition.signature_;
  absl::Status valid;
  if (static_cast<int>(definition.inputs_.size()) != signature.inputs ||
      static_cast<int>(definition.attributes_.size()) != signature.attributes) {
    valid = absl::InvalidArgumentError(absl::StrCat(
        signature.name, ": its functor takes ", signature.inputs,
        " inputs and ", signature.attributes,
        " attributes, but its definition has ", definition.inputs_.size(),
        " and ", definition.attributes_.size()));
  }
  OpDefBuilder op(signature.name);
  OpDefBuilder gradient(GradientName(signature));
  const std::string of_type = absl::StrCat(": ", signature.type_attribute);
  for (OpDefBuilder* builder : {&op, &gradient}) {
    builder->Attr(TypeSpec(signature));
    for (const std::string& attribute : definition.attributes_) {
      builder->Attr(attribute);
    }
    for (const std::string& input : definition.inputs_) {
      builder->Input(absl::StrCat(input, of_type));
    }
  }
  op.Output(absl::StrCat("output", of_type)).Doc(definition.doc_);
  if (definition.commutative_) op.SetIsCommutative();
  Register(std::move(op), signature, valid);
  if (signature.order == 0) return;

  gradient.Attr(absl::StrCat(kOrders, ": list(int) >= 1"))
      .Input(absl::StrCat("grad", of_type));
  for (const std::string& input : definition.inputs_) {
    gradient.Output(absl::StrCat("grad_", input, of_type));
  }
  gradient.Doc(absl::StrCat(
      "The gradient of ", signature.name,
      " or of one of its derivatives, by each input.\n\n"
      "Output i is grad times the derivative by input i of what `orders` says. "
      "The outputs\nhave the shape to which all inputs are broadcast.\n\n"
      "orders: How often ",
      signature.name,
      " has been differentiated before by each of its inputs."));
  Register(std::move(gradient), signature, valid);
}

}  // namespace elementwise
}  // namespace tensorflow_custom_ops
