// SPDX-License-Identifier: Apache-2.0
// The only source that includes TensorFlow's XLA headers.
#include "tensorflow_custom_ops/core/xla_lowering.h"

#include <map>
#include <string>

#include "tensorflow/compiler/tf2xla/xla_compiler.h"
#include "tensorflow/compiler/tf2xla/xla_op_kernel.h"
#include "tensorflow/compiler/tf2xla/xla_op_registry.h"
#include "tensorflow/core/framework/kernel_def_builder.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace tensorflow_custom_ops {
namespace {

using tensorflow::OpKernel;
using tensorflow::OpKernelConstruction;
using tensorflow::XlaOpKernelContext;

class Context : public XlaLoweringContext {
 public:
  explicit Context(XlaOpKernelContext* context) : context_(*context) {}

  const tensorflow::NodeDef& Node() override {
    return context_.op_kernel().def();
  }
  xla::XlaOp Input(int index) override { return context_.Input(index); }
  absl::StatusOr<xla::Shape> InputShape(int index) override {
    return context_.InputXlaShape(index);
  }
  absl::StatusOr<int64_t> ConstantInput(int index) override {
    int64_t value = 0;
    absl::Status status = context_.ConstantInputAsIntScalar(index, &value);
    if (!status.ok()) return status;
    return value;
  }
  absl::Status GetAttr(const char* name, bool* value) override {
    return Attr(name, value);
  }
  absl::Status GetAttr(const char* name, float* value) override {
    return Attr(name, value);
  }
  absl::Status GetAttr(const char* name, int64_t* value) override {
    return Attr(name, value);
  }
  absl::Status GetAttr(const char* name, std::string* value) override {
    return Attr(name, value);
  }
  bool HasKernel() override {
    const bool on_cpu =
        context_.compiler()->options().device_type.type_string() ==
        tensorflow::DEVICE_CPU_XLA_JIT;
    return tensorflow::KernelDefAvailable(
        on_cpu ? tensorflow::DEVICE_CPU : tensorflow::DEVICE_GPU,
        context_.op_kernel().def());
  }
  void SetOutput(int index, xla::XlaOp value) override {
    context_.SetOutput(index, value);
  }

 private:
  template <typename T>
  absl::Status Attr(const char* name, T* value) {
    return tensorflow::GetNodeAttr(context_.op_kernel().def(), name, value);
  }

  XlaOpKernelContext& context_;
};

class LoweredOpKernel : public tensorflow::XlaOpKernel {
 public:
  LoweredOpKernel(OpKernelConstruction* construction, XlaLowering lowering)
      : XlaOpKernel(construction), lowering_(lowering) {}

  void Compile(XlaOpKernelContext* xla_context) override {
    Context context(xla_context);
    OP_REQUIRES_OK(xla_context, lowering_(context));
  }

 private:
  const XlaLowering lowering_;
};

// By the name of the op. Never destroyed: kernels may outlive static objects.
std::map<std::string, XlaLowering>& Lowerings() {
  static auto* lowerings = new std::map<std::string, XlaLowering>;
  return *lowerings;
}

OpKernel* CreateKernel(OpKernelConstruction* construction) {
  return new LoweredOpKernel(construction,
                             Lowerings().at(construction->def().op()));
}

}  // namespace

XlaLoweringRegistrar::XlaLoweringRegistrar(
    const char* op, XlaLowering lowering,
    std::initializer_list<const char*> constant_inputs) {
  Lowerings()[op] = lowering;

  // What REGISTER_XLA_OP does. TensorFlow makes kernels of this registry's ops
  // once, when the process makes its first tensor.
  auto registration = tensorflow::XlaOpRegistrationBuilder::Name(op);
  for (const char* input : constant_inputs) {
    registration.CompileTimeConstantInput(input);
  }
  tensorflow::XlaOpRegistrar(registration.Build(CreateKernel));

  // For a library that is loaded later, the kernels themselves. The priority
  // is for a library that is loaded before: there both are found.
  for (const char* device :
       {tensorflow::DEVICE_CPU_XLA_JIT, tensorflow::DEVICE_GPU_XLA_JIT}) {
    tensorflow::kernel_factory::OpKernelRegistrar(
        tensorflow::KernelDefBuilder(op).Device(device).Priority(1).Build(),
        "LoweredOpKernel", CreateKernel);
  }
}

}  // namespace tensorflow_custom_ops
