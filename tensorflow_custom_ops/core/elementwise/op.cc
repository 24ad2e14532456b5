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
#include "tensorflow_custom_ops/core/shape.h"
#include "tensorflow_custom_ops/core/shape_inference.h"

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
  for (const Type type : TypesIn(signature.types)) {
    names.push_back(tensorflow::DataTypeString(DataTypeOf(type)));
  }
  return absl::StrCat(signature.type_attribute, ": {",
                      absl::StrJoin(names, ", "), "}");
}

// The shape of inputs of the shapes a and b together.
absl::Status Join(const Signature& signature, InferenceContext* c,
                  ShapeHandle a, ShapeHandle b, ShapeHandle* shape) {
  return signature.broadcasts
             ? tensorflow::shape_inference::
                   BroadcastBinaryOpOutputShapeFnHelper(c, a, b, true, shape)
             : c->Merge(a, b, shape);
}

// The shape of all outputs of the op `name`.
absl::Status InferShape(const Signature& signature, const std::string& name,
                        InferenceContext* c) {
  const tensorflow::OpDef* op;
  TF_RETURN_IF_ERROR(tensorflow::OpRegistry::Global()->LookUpOpDef(name, &op));
  std::vector<double> attributes;
  TF_RETURN_IF_ERROR(ReadAttributes(
      signature, *op, [&](const std::string& name) { return c->GetAttr(name); },
      &attributes));
  ShapeHandle shape = c->input(0);
  for (int i = 1; i < c->num_inputs(); ++i) {
    if (Join(signature, c, shape, c->input(i), &shape).ok()) continue;
    // There is one that it does not fit.
    int k = 0;
    while (k < i - 1 &&
           Join(signature, c, c->input(k), c->input(i), &shape).ok()) {
      ++k;
    }
    return ShapeError(signature, name, op->input_arg(k).name(),
                      c->DebugString(c->input(k)), op->input_arg(i).name(),
                      c->DebugString(c->input(i)));
  }
  TF_RETURN_IF_ERROR(CheckNumElements(name, "the output", ShapeOf(c, shape)));
  for (int i = 0; i < c->num_outputs(); ++i) c->set_output(i, shape);
  return absl::OkStatus();
}

// Whether the op has as many inputs and attributes as its functor takes.
absl::Status CheckCounts(const Signature& signature, size_t inputs,
                         size_t attributes) {
  if (inputs == static_cast<size_t>(signature.inputs) &&
      attributes == static_cast<size_t>(signature.attributes)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      signature.name, ": its functor takes ", signature.inputs, " inputs and ",
      signature.attributes, " attributes, but its definition has ", inputs,
      " and ", attributes));
}

// Whether kernels can read the attributes.
absl::Status CheckAttributes(const Signature& signature,
                             const tensorflow::OpDef& op) {
  for (const tensorflow::OpDef::AttrDef& attribute : op.attr()) {
    const std::string& name = attribute.name();
    if (name == signature.type_attribute) continue;
    if (name == kOrders) {
      return absl::InvalidArgumentError(absl::StrCat(
          op.name(), ": an attribute of an elementwise op must not be called ",
          kOrders, ", for its gradient has one of that name"));
    }
    const std::string& type = attribute.type();
    if (type != "float" && type != "int" && type != "bool") {
      return absl::InvalidArgumentError(absl::StrCat(
          op.name(), ": the attribute ", name,
          " must be of type float, int or bool, but it is of type ", type));
    }
    if (!attribute.has_default_value()) {
      return absl::InvalidArgumentError(
          absl::StrCat(op.name(), ": the attribute ", name,
                       " must have a default value, but it has none"));
    }
  }
  return absl::OkStatus();
}

// Registers an op, or fails with the error `definition` when it is loaded.
void Register(const std::string& name, OpDefBuilder builder,
              const Signature& signature, const absl::Status& definition) {
  builder.SetShapeFn([name, signature](InferenceContext* c) {
    return InferShape(signature, name, c);
  });
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
  absl::Status valid = CheckCounts(signature, definition.inputs_.size(),
                                   definition.attributes_.size());
  OpDefBuilder op(signature.name);
  const std::string gradient_name = GradientName(signature);
  OpDefBuilder gradient(gradient_name);
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
  if (valid.ok()) {
    OpRegistrationData data;
    valid = op.Finalize(&data);
    if (valid.ok()) valid = CheckAttributes(signature, data.op_def);
  }
  Register(signature.name, std::move(op), signature, valid);
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
  Register(gradient_name, std::move(gradient), signature, valid);
}

}  // namespace elementwise
}  // namespace tensorflow_custom_ops
