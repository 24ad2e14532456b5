// SPDX-License-Identifier: Apache-2.0
// What the kernels of elementwise ops share, whatever runs them: how a node of
// a graph is read, and how its inputs are broadcast.
#ifndef TENSORFLOW_CUSTOM_OPS_CORE_ELEMENTWISE_KERNEL_COMMON_H_
#define TENSORFLOW_CUSTOM_OPS_CORE_ELEMENTWISE_KERNEL_COMMON_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "tensorflow/core/framework/node_def.pb.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/tensor_shape.h"
#include "tensorflow/core/framework/types.pb.h"
#include "tensorflow_custom_ops/core/elementwise/signature.h"

namespace tensorflow_custom_ops {
namespace elementwise {

// The attribute of a gradient op that says which derivative it continues.
inline constexpr char kOrders[] = "orders";

// The name of the op that is the gradient of another.
std::string GradientName(const Signature& signature);

// The names of the op and, if it has one, of its gradient.
std::vector<std::string> OpNames(const Signature& signature);

// The types in a set.
std::vector<Type> TypesIn(TypeSet types);

// TensorFlow's name of a type, and the type that it names.
tensorflow::DataType DataTypeOf(Type type);
Type TypeOf(tensorflow::DataType data_type);

// Registers kernels of an op and of its gradient, for one type on one device.
// With `in_host_memory` the inputs and outputs are not in the device's memory.
void RegisterKernels(
    const Signature& signature, Type type, const char* device,
    bool in_host_memory,
    std::function<tensorflow::OpKernel*(tensorflow::OpKernelConstruction*)>
        create);

// What a node computes.
struct Computation {
  std::string op;
  // The names of its inputs, which are one more in a gradient.
  std::vector<std::string> inputs;
  bool is_gradient = false;
  // Of a gradient: the number of the derivative that it continues.
  int derivative = 0;
  // One more than there are, for there may be none.
  std::vector<double> attributes;

  int NumOutputs() const {
    return is_gradient ? static_cast<int>(inputs.size()) - 1 : 1;
  }
};

// The value of a node's attribute, or nullptr.
using AttributeFinder =
    absl::FunctionRef<const tensorflow::AttrValue*(const std::string&)>;

// Reads the attributes that the functor takes, and checks them.
absl::Status ReadAttributes(const Signature& signature,
                            const tensorflow::OpDef& op, AttributeFinder find,
                            std::vector<double>* attributes);

// Reads a node of the op or of its gradient.
absl::Status ReadComputation(const Signature& signature,
                             const tensorflow::NodeDef& node,
                             Computation* computation);

// How inputs of several shapes are read as inputs of one shape. Dimensions in
// which all inputs behave alike are merged, and those of size 1 left out.
struct Broadcast {
  tensorflow::TensorShape shape;
  // Whether every input has that shape.
  bool trivial = true;
  absl::InlinedVector<int64_t, 4> dims;
  // For each input and dimension the distance of elements, 0 where one element
  // serves for all.
  absl::InlinedVector<absl::InlinedVector<int64_t, 4>, kMaxInputs + 1> strides;
};

// Fails if the shapes of the inputs do not fit.
absl::Status MakeBroadcast(
    const Signature& signature, const Computation& computation,
    absl::Span<const tensorflow::TensorShape* const> shapes, Broadcast* result);

// The error of inputs a and b whose shapes do not fit.
absl::Status ShapeError(const Signature& signature, const std::string& op,
                        const std::string& a, const std::string& a_shape,
                        const std::string& b, const std::string& b_shape);

}  // namespace elementwise
}  // namespace tensorflow_custom_ops

#endif  // TENSORFLOW_CUSTOM_OPS_CORE_ELEMENTWISE_KERNEL_COMMON_H_
