// SPDX-License-Identifier: Apache-2.0
// How an op says what it is in XLA's terms, without TensorFlow's XLA headers:
// those take a compiler a minute and 2 GB in every source that includes them.
#ifndef TENSORFLOW_CUSTOM_OPS_CORE_XLA_LOWERING_H_
#define TENSORFLOW_CUSTOM_OPS_CORE_XLA_LOWERING_H_

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "xla/hlo/builder/xla_builder.h"
#include "xla/shape.h"

namespace tensorflow {
class NodeDef;
}

namespace tensorflow_custom_ops {

// One node of a graph that is being compiled, as its lowering sees it.
class XlaLoweringContext {
 public:
  virtual ~XlaLoweringContext() = default;

  // The node itself.
  virtual const tensorflow::NodeDef& Node() = 0;

  // The value and the shape of an input.
  virtual xla::XlaOp Input(int index) = 0;
  virtual absl::StatusOr<xla::Shape> InputShape(int index) = 0;

  // The value of an integer scalar that is known while the graph is compiled.
  // The registration must name the input as a constant one.
  virtual absl::StatusOr<int64_t> ConstantInput(int index) = 0;

  // The value of an attribute.
  virtual absl::Status GetAttr(const char* name, bool* value) = 0;
  virtual absl::Status GetAttr(const char* name, float* value) = 0;
  virtual absl::Status GetAttr(const char* name, int64_t* value) = 0;
  virtual absl::Status GetAttr(const char* name, std::string* value) = 0;

  // Whether the op has a kernel of its own for the kind of device that it is
  // compiled for, and so the custom call that runs it.
  virtual bool HasKernel() = 0;

  virtual void SetOutput(int index, xla::XlaOp value) = 0;
};

// Sets every output, or says why it cannot.
using XlaLowering = std::function<absl::Status(XlaLoweringContext& context)>;

// Registers the lowering of an op; see REGISTER_XLA_LOWERING.
class XlaLoweringRegistrar {
 public:
  XlaLoweringRegistrar(const char* op, XlaLowering lowering,
                       std::initializer_list<const char*> constant_inputs = {});
};

}  // namespace tensorflow_custom_ops

// Makes an op compilable by XLA, on CPU and GPU, whenever the library is
// loaded. The op must be registered in the same library. Use it at namespace
// scope:
//
//   REGISTER_XLA_LOWERING("MyOp", LowerMyOp);
//   REGISTER_XLA_LOWERING("TopK", LowerTopK, {"k"});  // k: known at compile
//   time
#define REGISTER_XLA_LOWERING(...) \
  REGISTER_XLA_LOWERING_COUNTED(__COUNTER__, __VA_ARGS__)
#define REGISTER_XLA_LOWERING_COUNTED(counter, ...) \
  REGISTER_XLA_LOWERING_NAMED(counter, __VA_ARGS__)
#define REGISTER_XLA_LOWERING_NAMED(counter, ...)            \
  static const ::tensorflow_custom_ops::XlaLoweringRegistrar \
  kXlaLowering##counter(__VA_ARGS__)

#endif  // TENSORFLOW_CUSTOM_OPS_CORE_XLA_LOWERING_H_
