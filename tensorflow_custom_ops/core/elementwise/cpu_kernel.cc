// SPDX-License-Identifier: Apache-2.0
#include "tensorflow_custom_ops/core/elementwise/cpu_kernel.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/types.h"
#include "tensorflow/core/platform/logging.h"
#include "tensorflow/core/util/work_sharder.h"
#include "tensorflow_custom_ops/core/elementwise/cost.h"
#include "tensorflow_custom_ops/core/elementwise/cpu_gather.h"
#include "tensorflow_custom_ops/core/elementwise/kernel_common.h"
#include "tensorflow_custom_ops/core/elementwise/outputs.h"

namespace tensorflow_custom_ops_baseline {
extern const tensorflow_custom_ops::elementwise::CpuConversions kConversions;
}
#ifdef __x86_64__
namespace tensorflow_custom_ops_avx2 {
extern const tensorflow_custom_ops::elementwise::CpuConversions kConversions;
}
namespace tensorflow_custom_ops_avx512 {
extern const tensorflow_custom_ops::elementwise::CpuConversions kConversions;
}
#endif

namespace tensorflow_custom_ops {
namespace elementwise {
namespace {

using tensorflow::OpKernel;
using tensorflow::OpKernelConstruction;
using tensorflow::OpKernelContext;
using tensorflow::Tensor;

constexpr const CpuConversions* kConversions[] = {
    &tensorflow_custom_ops_baseline::kConversions,
#ifdef __x86_64__
    &tensorflow_custom_ops_avx2::kConversions,
    &tensorflow_custom_ops_avx512::kConversions,
#endif
};

// How many elements are converted or gathered at a time: few enough for all
// arrays of them to stay in the first level cache.
constexpr int64_t kBlockSize = 512;
constexpr int kMaxElementBytes = 16;

// Below that a second thread costs more than it saves, in nanoseconds or so.
constexpr int64_t kMinParallelCost = 10000;

struct Buffer {
  alignas(64) char bytes[kBlockSize * kMaxElementBytes];
};

class ElementwiseKernel : public OpKernel {
 public:
  ElementwiseKernel(OpKernelConstruction* context, const CpuOp& op)
      : OpKernel(context), op_(op) {
    OP_REQUIRES_OK(
        context, ReadComputation(op.signature, context->def(), &computation_));
    const absl::StatusOr<const CpuFunctions*> functions = ForIsa(op.functions);
    OP_REQUIRES_OK(context, functions.status());
    VLOG(1) << type_string() << " of "
            << tensorflow::DataTypeString(context->input_type(0));
    conversions_ = *ForIsa(kConversions);
    element_bytes_ = tensorflow::DataTypeSize(context->input_type(0));
    is_half_ = context->input_type(0) == tensorflow::DT_HALF;
    converts_ = is_half_ || context->input_type(0) == tensorflow::DT_BFLOAT16;
    const FunctionsByType& by_type =
        computation_.is_gradient
            ? (*functions)->gradient[computation_.derivative]
            : (*functions)->value;
    const Type computed =
        converts_ ? Type::kFloat : TypeOf(context->input_type(0));
    function_ = by_type.of[static_cast<int>(computed)];
    cost_ = EstimateCost(op.trace, computation_);
  }

  void Compute(OpKernelContext* context) override {
    const int num_inputs = context->num_inputs();
    absl::InlinedVector<const tensorflow::TensorShape*, kMaxInputs + 1> shapes;
    Block arrays;
    for (int i = 0; i < num_inputs; ++i) {
      shapes.push_back(&context->input(i).shape());
      arrays.inputs[i] = context->input(i).data();
    }
    Broadcast broadcast;
    OP_REQUIRES_OK(context, MakeBroadcast(op_.signature, computation_, shapes,
                                          &broadcast));
    OP_REQUIRES_OK(context,
                   AllocateOutputs(context, broadcast.shape, arrays.outputs));
    const int64_t n = broadcast.shape.num_elements();
    if (n == 0) return;
    const auto compute = [&](int64_t begin, int64_t end) {
      if (broadcast.trivial && !converts_) {
        ComputeDirectly(arrays, begin, end);
      } else {
        ComputeInBlocks(arrays, broadcast, begin, end);
      }
    };
    // Without another thread, which a small tensor is not worth.
    if (n * cost_ < kMinParallelCost) return compute(0, n);
    const auto& workers = *context->device()->tensorflow_cpu_worker_threads();
    tensorflow::Shard(workers.num_threads, workers.workers, n, cost_, compute);
  }

 private:
  void ComputeDirectly(const Block& arrays, int64_t begin, int64_t end) const {
    Block block = {};
    for (int i = 0; i < num_inputs(); ++i) {
      block.inputs[i] = At(arrays.inputs[i], begin);
    }
    for (int i = 0; i < num_outputs(); ++i) {
      block.outputs[i] = At(arrays.outputs[i], begin);
    }
    block.n = end - begin;
    block.attributes = computation_.attributes.data();
    function_(block);
  }

  // Gathers what is broadcast, and converts what is not computed as it is.
  void ComputeInBlocks(const Block& arrays, const Broadcast& broadcast,
                       int64_t begin, int64_t end) const {
    Buffer inputs[kMaxInputs + 1];
    Buffer outputs[kMaxInputs];
    Buffer gathered;
    std::vector<Gatherer> gatherers;
    if (!broadcast.trivial) {
      for (int i = 0; i < num_inputs(); ++i) {
        gatherers.emplace_back(broadcast, i, element_bytes_, begin);
      }
    }
    for (int64_t at = begin; at < end; at += kBlockSize) {
      const int64_t n = std::min(kBlockSize, end - at);
      Block block = {};
      block.n = n;
      block.attributes = computation_.attributes.data();
      for (int i = 0; i < num_inputs(); ++i) {
        const void* input = At(arrays.inputs[i], at);
        if (!broadcast.trivial) {
          char* const to = converts_ ? gathered.bytes : inputs[i].bytes;
          input = gatherers[i].Next(arrays.inputs[i], to, n);
        }
        if (converts_) {
          auto* const to = reinterpret_cast<float*>(inputs[i].bytes);
          (is_half_ ? conversions_->half_to_float
                    : conversions_->bfloat16_to_float)(input, to, n);
          input = to;
        }
        block.inputs[i] = input;
      }
      for (int i = 0; i < num_outputs(); ++i) {
        block.outputs[i] =
            converts_ ? outputs[i].bytes : At(arrays.outputs[i], at);
      }
      function_(block);
      if (!converts_) continue;
      for (int i = 0; i < num_outputs(); ++i) {
        (is_half_ ? conversions_->float_to_half
                  : conversions_->float_to_bfloat16)(
            static_cast<const float*>(block.outputs[i]),
            At(arrays.outputs[i], at), n);
      }
    }
  }

  const void* At(const void* array, int64_t i) const {
    return static_cast<const char*>(array) + i * element_bytes_;
  }
  void* At(void* array, int64_t i) const {
    return static_cast<char*>(array) + i * element_bytes_;
  }

  const CpuOp& op_;
  Computation computation_;
  const CpuConversions* conversions_ = nullptr;
  BlockFunction function_ = nullptr;
  int64_t element_bytes_ = 0;
  bool is_half_ = false;
  // Whether elements are computed as float, and are not.
  bool converts_ = false;
  int64_t cost_ = 1;
};

}  // namespace

void RegisterHostKernels(const CpuOp& op, Type type, const char* device) {
  const bool in_host_memory = std::strcmp(device, tensorflow::DEVICE_CPU) != 0;
  RegisterKernels(op.signature, type, device, in_host_memory,
                  [&op](OpKernelConstruction* context) {
                    return new ElementwiseKernel(context, op);
                  });
}

CpuKernelRegistrar::CpuKernelRegistrar(const CpuOp& op) {
  for (const Type type : TypesIn(op.signature.types)) {
    RegisterHostKernels(op, type, tensorflow::DEVICE_CPU);
  }
}

}  // namespace elementwise
}  // namespace tensorflow_custom_ops
