// SPDX-License-Identifier: Apache-2.0
#include "tensorflow_custom_ops/core/elementwise/gpu_kernel.h"

#include <algorithm>
#include <cstdint>
#include <string>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/tensor_shape.h"
#include "tensorflow_custom_ops/core/elementwise/kernel_common.h"
#include "tensorflow_custom_ops/core/elementwise/outputs.h"
#include "tensorflow_custom_ops/core/gpu/kernel.h"

namespace tensorflow_custom_ops {
namespace elementwise {
namespace {

using tensorflow::OpKernel;
using tensorflow::OpKernelConstruction;
using tensorflow::OpKernelContext;

// Sets how the inputs are read, of which there are `num_inputs`.
absl::Status SetLayout(const std::string& op, const Broadcast& broadcast,
                       int num_inputs, GpuArgs* args) {
  const int rank = static_cast<int>(broadcast.dims.size());
  if (rank > kMaxRank) {
    return absl::UnimplementedError(
        absl::StrCat(op,
                     ": the shapes of the inputs differ in too many "
                     "dimensions for a GPU: ",
                     rank, ", and the most is ", kMaxRank));
  }
  if (rank == 0) {
    // All inputs have this shape, or all have one element.
    args->rank = 1;
    args->dims[0] = broadcast.shape.num_elements();
    for (int i = 0; i < num_inputs; ++i) args->strides[i][0] = 1;
    return absl::OkStatus();
  }
  args->rank = rank;
  std::copy_n(broadcast.dims.begin(), rank, args->dims);
  for (int i = 0; i < num_inputs; ++i) {
    std::copy_n(broadcast.strides[i].begin(), rank, args->strides[i]);
  }
  return absl::OkStatus();
}

class ElementwiseGpuKernel : public OpKernel {
 public:
  ElementwiseGpuKernel(OpKernelConstruction* context, const GpuOp& op)
      : OpKernel(context), op_(op) {
    OP_REQUIRES_OK(
        context, ReadComputation(op.signature, context->def(), &computation_));
    type_ = TypeOf(context->input_type(0));
  }

  void Compute(OpKernelContext* context) override {
    GpuArgs args = {};
    args.stream = gpu::StreamOf(context);
    args.type = type_;
    args.is_gradient = computation_.is_gradient;
    args.derivative = computation_.derivative;
    args.attributes = computation_.attributes.data();
    absl::InlinedVector<const tensorflow::TensorShape*, kMaxInputs + 1> shapes;
    for (int i = 0; i < context->num_inputs(); ++i) {
      shapes.push_back(&context->input(i).shape());
      args.inputs[i] = context->input(i).data();
    }
    Broadcast broadcast;
    OP_REQUIRES_OK(context, MakeBroadcast(op_.signature, computation_, shapes,
                                          &broadcast));
    OP_REQUIRES_OK(context, SetLayout(type_string(), broadcast,
                                      context->num_inputs(), &args));
    OP_REQUIRES_OK(context,
                   AllocateOutputs(context, broadcast.shape, args.outputs));
    OP_REQUIRES_OK(context, gpu::LaunchStatus(type_string(), op_.launch(args)));
  }

 private:
  const GpuOp& op_;
  Computation computation_;
  Type type_ = Type::kFloat;
};

}  // namespace

GpuKernelRegistrar::GpuKernelRegistrar(const GpuOp& op) {
  for (const Type type : TypesIn(op.signature.types)) {
    if (type == Type::kInt32) continue;
    RegisterKernels(op.signature, type, gpu::kDevice, /*in_host_memory=*/false,
                    [&op](OpKernelConstruction* context) {
                      return new ElementwiseGpuKernel(context, op);
                    });
  }
}

}  // namespace elementwise
}  // namespace tensorflow_custom_ops
