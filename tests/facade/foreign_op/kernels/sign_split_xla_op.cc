// SPDX-License-Identifier: Apache-2.0
#include "tensorflow/compiler/tf2xla/xla_op_kernel.h"
#include "tensorflow/compiler/tf2xla/xla_op_registry.h"
#include "xla/hlo/builder/lib/constants.h"
#include "xla/hlo/builder/xla_builder.h"

namespace tensorflow {
namespace {

class SignSplitXlaOp : public XlaOpKernel {
 public:
  explicit SignSplitXlaOp(OpKernelConstruction* context)
      : XlaOpKernel(context) {}

  void Compile(XlaOpKernelContext* context) override {
    const xla::XlaOp values = context->Input(0);
    const xla::XlaOp zero = xla::ZerosLike(values);
    context->SetOutput(0, xla::Max(values, zero));
    context->SetOutput(1, xla::Min(values, zero));
  }
};

REGISTER_XLA_OP(Name("SignSplit"), SignSplitXlaOp);

}  // namespace
}  // namespace tensorflow
