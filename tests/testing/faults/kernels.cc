// SPDX-License-Identifier: Apache-2.0
// Faults of kernels.
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <mutex>

#include "absl/status/status.h"
#include "tensorflow/core/util/work_sharder.h"
#include "tests/testing/faults/fault.h"

namespace tensorflow_custom_ops {
namespace {

void Overwrites(OpKernelContext* context) {
  const Tensor& input = context->input(0);
  // What nobody may do: the buffer may be needed elsewhere.
  float* data = const_cast<float*>(Data(input));
  for (int64_t i = 0; i < input.NumElements(); ++i) data[i] *= 2;
  context->set_output(0, input);
}
REGISTER_FAULT(FaultOverwrites, Overwrites);

void AbortsIfEmpty(OpKernelContext* context) {
  if (context->input(0).NumElements() == 0) std::abort();
  Double(context, context->input(0).NumElements());
}
REGISTER_FAULT(FaultAbortsIfEmpty, AbortsIfEmpty);

void AbortsIfScalar(OpKernelContext* context) {
  if (context->input(0).dims() == 0) std::abort();
  Double(context, context->input(0).NumElements());
}
REGISTER_FAULT(FaultAbortsIfScalar, AbortsIfScalar);

void CountsIn16Bits(OpKernelContext* context) {
  float* output = NewOutput(context);
  const float* input = Data(context->input(0));
  const int64_t n = context->input(0).NumElements();
  for (int64_t i = 0; output != nullptr && i < n; ++i) {
    output[i] = i < 65536 ? 2 * input[i] : 0;
  }
}
REGISTER_FAULT(FaultCountsIn16Bits, CountsIn16Bits);

void HangsOnNan(OpKernelContext* context) {
  const Tensor& input = context->input(0);
  for (int64_t i = 0; i < input.NumElements(); ++i) {
    const volatile float* element = Data(input) + i;
    while (std::isnan(*element)) {
    }
  }
  Double(context, input.NumElements());
}
REGISTER_FAULT(FaultHangsOnNan, HangsOnNan);

void NeedsAlignment(OpKernelContext* context) {
  context->input(0).flat<float>();
  Double(context, context->input(0).NumElements());
}
REGISTER_FAULT(FaultNeedsAlignment, NeedsAlignment);

void DependsOnAlignment(OpKernelContext* context) {
  const bool aligned =
      reinterpret_cast<uintptr_t>(Data(context->input(0))) % 64 == 0;
  Double(context, aligned ? context->input(0).NumElements() : 0);
}
REGISTER_FAULT(FaultDependsOnAlignment, DependsOnAlignment);

void CountsCalls(OpKernelContext* context) {
  static std::atomic<int> calls{0};
  Double(context, context->input(0).NumElements());
  const float call = static_cast<float>(++calls);
  Tensor* output = context->mutable_output(0);
  if (output->NumElements() > 0) static_cast<float*>(output->data())[0] = call;
}
REGISTER_FAULT(FaultCountsCalls, CountsCalls);

// Adds up the elements in the order in which threads come.
void Race(OpKernelContext* context) {
  const Tensor& input = context->input(0);
  const float* data = Data(input);
  float sum = 0;
  std::mutex mutex;
  const auto& threads = *context->device()->tensorflow_cpu_worker_threads();
  tensorflow::Shard(threads.num_threads, threads.workers, input.NumElements(),
                    1000, [&](int64_t begin, int64_t end) {
                      float part = 0;
                      for (int64_t i = begin; i < end; ++i) part += data[i];
                      const std::lock_guard<std::mutex> lock(mutex);
                      sum += part;
                    });
  Tensor* output = nullptr;
  OP_REQUIRES_OK(context, context->allocate_output(0, {}, &output));
  *static_cast<float*>(output->data()) = sum;
}
REGISTER_OP("FaultRace")
    .Input("x: float")
    .Output("y: float")
    .SetShapeFn(tensorflow::shape_inference::ScalarShape);
REGISTER_FAULTY_KERNEL(FaultRace, Race);

void InternalError(OpKernelContext* context) {
  OP_REQUIRES(context, context->input(0).dims() == 2,
              absl::InternalError("the input has a rank that is not 2"));
  Double(context, context->input(0).NumElements());
}
REGISTER_FAULT(FaultInternalError, InternalError);

void SilentError(OpKernelContext* context) {
  OP_REQUIRES(context, context->input(0).dims() == 2,
              absl::InvalidArgumentError(""));
  Double(context, context->input(0).NumElements());
}
REGISTER_FAULT(FaultSilentError, SilentError);

}  // namespace
}  // namespace tensorflow_custom_ops
