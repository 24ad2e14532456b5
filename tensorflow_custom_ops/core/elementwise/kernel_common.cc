// SPDX-License-Identifier: Apache-2.0
#include "tensorflow_custom_ops/core/elementwise/kernel_common.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "tensorflow/core/framework/attr_value.pb.h"
#include "tensorflow/core/framework/kernel_def_builder.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_def.pb.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/types.h"
#include "tensorflow/core/platform/logging.h"
#include "tensorflow_custom_ops/core/shape.h"

namespace tensorflow_custom_ops {
namespace elementwise {
namespace {

using tensorflow::OpKernel;
using tensorflow::OpKernelConstruction;
using tensorflow::TensorShape;

class KernelFactory : public tensorflow::kernel_factory::OpKernelFactory {
 public:
  explicit KernelFactory(std::function<OpKernel*(OpKernelConstruction*)> create)
      : create_(std::move(create)) {}

  OpKernel* Create(OpKernelConstruction* context) override {
    return create_(context);
  }

 private:
  const std::function<OpKernel*(OpKernelConstruction*)> create_;
};

void AllInHostMemory(const std::string& op,
                     tensorflow::KernelDefBuilder* builder) {
  const tensorflow::OpDef* definition;
  TF_CHECK_OK(tensorflow::OpRegistry::Global()->LookUpOpDef(op, &definition));
  for (const auto* arguments :
       {&definition->input_arg(), &definition->output_arg()}) {
    for (const tensorflow::OpDef::ArgDef& argument : *arguments) {
      builder->HostMemory(argument.name().c_str());
    }
  }
}

// By its bits, for a thread that takes denormal numbers for 0.
bool IsDenormal(float value) {
  uint32_t bits;
  static_assert(sizeof(bits) == sizeof(value));
  std::memcpy(&bits, &value, sizeof(bits));
  return (bits & 0x7f800000) == 0;
}

double NumberOf(const tensorflow::AttrValue& value) {
  switch (value.value_case()) {
    case tensorflow::AttrValue::kB:
      return value.b() ? 1 : 0;
    case tensorflow::AttrValue::kI:
      return static_cast<double>(value.i());
    default:
      // The same for all threads: TensorFlow lets some take these for 0.
      return IsDenormal(value.f()) ? 0 : value.f();
  }
}

// Which attribute has which value.
std::string Describe(
    const std::vector<const tensorflow::OpDef::AttrDef*>& attributes,
    const std::vector<double>& values) {
  std::vector<std::string> described;
  for (size_t i = 0; i < attributes.size(); ++i) {
    const std::string& name = attributes[i]->name();
    described.push_back(absl::StrCat(name, " is ", values[i]));
  }
  return absl::StrJoin(described, " and ");
}

// The number of a derivative; see NumDerivatives.
absl::Status DerivativeOf(const Signature& signature, const std::string& op,
                          const std::vector<int64_t>& orders, int* derivative) {
  if (static_cast<int>(orders.size()) != signature.inputs) {
    return absl::InvalidArgumentError(absl::StrCat(
        op, ": orders must have one number for each of the ", signature.inputs,
        " inputs of ", signature.name, ", but it has ", orders.size()));
  }
  int64_t total = 0;
  *derivative = 0;
  for (int i = 0; i < signature.inputs; ++i) {
    if (orders[i] < 0) {
      return absl::InvalidArgumentError(absl::StrCat(
          op, ": orders must not be negative, but one is ", orders[i]));
    }
    // No more than would be too many, so that the sum does not overflow.
    total += std::min<int64_t>(orders[i], signature.order);
    if (orders[i] > 0) {
      *derivative = signature.inputs == 1 ? static_cast<int>(total) : i + 1;
    }
  }
  if (total < signature.order) return absl::OkStatus();
  return absl::UnimplementedError(absl::StrCat(
      op, ": ", signature.name, " has derivatives up to order ",
      signature.order, ", so orders must add up to less, but they are ",
      absl::StrJoin(orders, ", ")));
}

// The size of dimension i of `rank`, counted as NumPy does from the last one.
int64_t SizeAt(const TensorShape& shape, int i, int rank) {
  const int own = i - (rank - shape.dims());
  return own < 0 ? 1 : shape.dim_size(own);
}

}  // namespace

std::string GradientName(const Signature& signature) {
  return absl::StrCat(signature.name, "Grad");
}

std::vector<std::string> OpNames(const Signature& signature) {
  if (signature.order == 0) return {signature.name};
  return {signature.name, GradientName(signature)};
}

std::vector<Type> TypesIn(TypeSet types) {
  std::vector<Type> result;
  for (int i = 0; i < kNumTypes; ++i) {
    const Type type = static_cast<Type>(i);
    if (Contains(types, type)) result.push_back(type);
  }
  return result;
}

tensorflow::DataType DataTypeOf(Type type) {
  switch (type) {
    case Type::kHalf:
      return tensorflow::DT_HALF;
    case Type::kBFloat16:
      return tensorflow::DT_BFLOAT16;
    case Type::kFloat:
      return tensorflow::DT_FLOAT;
    case Type::kDouble:
      return tensorflow::DT_DOUBLE;
    case Type::kInt32:
      return tensorflow::DT_INT32;
    case Type::kInt64:
      return tensorflow::DT_INT64;
    case Type::kComplex64:
      return tensorflow::DT_COMPLEX64;
    case Type::kComplex128:
      return tensorflow::DT_COMPLEX128;
  }
  return tensorflow::DT_INVALID;
}

Type TypeOf(tensorflow::DataType data_type) {
  for (const Type type : TypesIn(kNumberTypes)) {
    if (DataTypeOf(type) == data_type) return type;
  }
  LOG(FATAL) << "no elementwise op has the type "
             << tensorflow::DataTypeString(data_type);
}

void RegisterKernels(const Signature& signature, Type type, const char* device,
                     bool in_host_memory,
                     std::function<OpKernel*(OpKernelConstruction*)> create) {
  for (const std::string& name : OpNames(signature)) {
    tensorflow::KernelDefBuilder builder(name.c_str());
    builder.Device(device).TypeConstraint(signature.type_attribute,
                                          DataTypeOf(type));
    if (in_host_memory) AllInHostMemory(name, &builder);
    tensorflow::kernel_factory::OpKernelRegistrar(
        builder.Build(), "ElementwiseKernel",
        std::make_unique<KernelFactory>(create));
  }
}

absl::Status ReadAttributes(const Signature& signature,
                            const tensorflow::OpDef& op, AttributeFinder find,
                            std::vector<double>* attributes) {
  attributes->clear();
  std::vector<const tensorflow::OpDef::AttrDef*> definitions;
  for (const tensorflow::OpDef::AttrDef& attribute : op.attr()) {
    if (attribute.name() == signature.type_attribute ||
        attribute.name() == kOrders) {
      continue;
    }
    definitions.push_back(&attribute);
    const tensorflow::AttrValue* value = find(attribute.name());
    attributes->push_back(
        NumberOf(value == nullptr ? attribute.default_value() : *value));
  }
  if (const char* problem = signature.check(attributes->data())) {
    return absl::InvalidArgumentError(
        absl::StrCat(op.name(), ": ", problem, ", but ",
                     Describe(definitions, *attributes)));
  }
  attributes->push_back(0);
  return absl::OkStatus();
}

absl::Status ReadComputation(const Signature& signature,
                             const tensorflow::NodeDef& node,
                             Computation* computation) {
  const tensorflow::OpDef* op;
  absl::Status status =
      tensorflow::OpRegistry::Global()->LookUpOpDef(node.op(), &op);
  if (!status.ok()) return status;
  computation->op = op->name();
  for (const tensorflow::OpDef::ArgDef& input : op->input_arg()) {
    computation->inputs.push_back(input.name());
  }
  computation->is_gradient = op->name() != signature.name;
  const tensorflow::AttrSlice attributes(node);
  if (computation->is_gradient) {
    std::vector<int64_t> orders;
    status = tensorflow::GetNodeAttr(attributes, kOrders, &orders);
    if (!status.ok()) return status;
    status =
        DerivativeOf(signature, op->name(), orders, &computation->derivative);
    if (!status.ok()) return status;
  }
  return ReadAttributes(
      signature, *op,
      [&](const std::string& name) { return attributes.Find(name); },
      &computation->attributes);
}

absl::Status ShapeError(const Signature& signature, const std::string& op,
                        const std::string& a, const std::string& a_shape,
                        const std::string& b, const std::string& b_shape) {
  return absl::InvalidArgumentError(absl::StrCat(
      op, ": ", a, " and ", b, " must have ",
      signature.broadcasts ? "shapes that can be broadcast" : "the same shape",
      ", but ", a, " has ", a_shape, " and ", b, " has ", b_shape));
}

absl::Status MakeBroadcast(const Signature& signature,
                           const Computation& computation,
                           absl::Span<const TensorShape* const> shapes,
                           Broadcast* result) {
  result->shape = *shapes[0];
  for (const TensorShape* shape : shapes) {
    if (*shape != result->shape) result->trivial = false;
  }
  if (result->trivial) return absl::OkStatus();

  int rank = 0;
  for (const TensorShape* shape : shapes) rank = std::max(rank, shape->dims());
  std::vector<int64_t> sizes;
  const int count = static_cast<int>(shapes.size());
  result->strides.resize(count);
  // Of the last dimension that was kept: whether the input is repeated in it.
  absl::InlinedVector<bool, kMaxInputs + 1> last, repeated(count);
  for (int i = 0; i < rank; ++i) {
    int from = 0;
    for (int k = 1; k < count; ++k) {
      const int64_t size = SizeAt(*shapes[k], i, rank);
      const int64_t so_far = SizeAt(*shapes[from], i, rank);
      if (size != so_far &&
          (!signature.broadcasts || (size != 1 && so_far != 1))) {
        return ShapeError(signature, computation.op, computation.inputs[from],
                          shapes[from]->DebugString(), computation.inputs[k],
                          shapes[k]->DebugString());
      }
      if (size != 1 && so_far == 1) from = k;
    }
    const int64_t size = SizeAt(*shapes[from], i, rank);
    sizes.push_back(size);
    if (size == 1) continue;
    for (int k = 0; k < count; ++k) {
      repeated[k] = SizeAt(*shapes[k], i, rank) == 1;
    }
    if (repeated == last) {
      result->dims.back() *= size;
    } else {
      result->dims.push_back(size);
      for (int k = 0; k < count; ++k) {
        result->strides[k].push_back(repeated[k] ? 0 : 1);
      }
      last = repeated;
    }
  }
  // Shapes that differ in nothing but ones at the front do not fit where
  // nothing is broadcast.
  if (!signature.broadcasts) {
    for (int k = 1; k < count; ++k) {
      if (*shapes[k] != *shapes[0]) {
        return ShapeError(signature, computation.op, computation.inputs[0],
                          shapes[0]->DebugString(), computation.inputs[k],
                          shapes[k]->DebugString());
      }
    }
  }
  absl::Status status = CheckNumElements(computation.op, "the output", sizes);
  if (!status.ok()) return status;
  status = TensorShape::BuildTensorShape(sizes, &result->shape);
  if (!status.ok()) return status;
  for (auto& strides : result->strides) {
    int64_t stride = 1;
    for (int i = static_cast<int>(strides.size()) - 1; i >= 0; --i) {
      if (strides[i] == 0) continue;
      strides[i] = stride;
      stride *= result->dims[i];
    }
  }
  return absl::OkStatus();
}

}  // namespace elementwise
}  // namespace tensorflow_custom_ops
