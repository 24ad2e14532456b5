// SPDX-License-Identifier: Apache-2.0
// An op that adds one to each element, with a bug of its attribute's choice.
// The lines that reports of others than races are to name are marked with the
// bug's name.
#include <chrono>
#include <climits>
#include <cstdint>
#include <string>
#include <thread>

#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/util/work_sharder.h"

namespace {

using tensorflow::OpKernelConstruction;
using tensorflow::OpKernelContext;
using tensorflow::Tensor;

// Enough for each element to be worth a thread.
constexpr int64_t kCycles = 1000000;

// Sleeps, so that one thread cannot run all blocks before the others wake up.
[[gnu::noinline]] void Count(int64_t* calls) {
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  ++*calls;
}

class PlantedBug : public tensorflow::OpKernel {
 public:
  explicit PlantedBug(OpKernelConstruction* context) : OpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("bug", &bug_));
  }

  void Compute(OpKernelContext* context) override {
    const Tensor& input = context->input(0);
    Tensor* output = nullptr;
    OP_REQUIRES_OK(context,
                   context->allocate_output(0, input.shape(), &output));
    const auto* const x = static_cast<const int32_t*>(input.data());
    auto* const y = static_cast<int32_t*>(output->data());
    const int64_t n = input.NumElements();
    const auto& workers = *context->device()->tensorflow_cpu_worker_threads();
    int64_t calls = 0;
    tensorflow::Shard(workers.num_threads, workers.workers, n, kCycles,
                      [&](int64_t begin, int64_t end) {
                        for (int64_t i = begin; i < end; ++i) y[i] = x[i] + 1;
                        if (bug_ == "DataRace") Count(&calls);
                      });
    if (bug_ == "HeapOverflow") y[n] = 1;                 // HeapOverflow
    if (bug_ == "SignedOverflow") y[0] = INT_MAX + y[0];  // SignedOverflow
    if (bug_ == "ShiftTooFar") y[0] = 1 << (31 + y[0]);   // ShiftTooFar
    if (bug_ == "UseAfterFree") {
      const int32_t* freed = nullptr;
      {
        Tensor temporary;
        OP_REQUIRES_OK(
            context, context->allocate_temp(tensorflow::DT_INT32, input.shape(),
                                            &temporary));
        freed = static_cast<const int32_t*>(temporary.data());
      }
      y[0] = freed[0];  // UseAfterFree
    }
    if (calls < 0) y[0] = 0;
  }

 private:
  std::string bug_;
};

REGISTER_OP("PlantedBug")
    .Input("x: int32")
    .Attr("bug: string = ''")
    .Output("y: int32")
    .SetShapeFn(tensorflow::shape_inference::UnchangedShape);
REGISTER_KERNEL_BUILDER(Name("PlantedBug").Device(tensorflow::DEVICE_CPU),
                        PlantedBug);

}  // namespace
