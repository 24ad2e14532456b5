// SPDX-License-Identifier: Apache-2.0
// Tells ThreadSanitizer in which order TensorFlow lets kernels run. TensorFlow
// is compiled without it, and its locks cannot be seen: without this, what one
// kernel has written and another one reads later would be a data race.
//
// Takes the place of two of TensorFlow's functions in the op library that it is
// linked into:
// - A kernel begins after all that have ended before, in any thread. So a race
//   of two kernels is found only where they do run at the same time.
// - The blocks of Shard begin after its call, and end before its return. They
//   are in no order among themselves.
#include <dlfcn.h>
#include <sanitizer/tsan_interface.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <utility>

#include "absl/strings/string_view.h"
#include "tensorflow/core/framework/kernel_def.pb.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/util/work_sharder.h"

namespace {

using tensorflow::OpKernel;
using tensorflow::OpKernelConstruction;
using tensorflow::OpKernelContext;
using tensorflow::kernel_factory::OpKernelFactory;
using tensorflow::kernel_factory::OpKernelRegistrar;

// TensorFlow's function of that name.
template <typename Function>
Function* Original(const char* name) {
  void* const function = dlsym(RTLD_NEXT, name);
  if (function == nullptr) {
    std::fprintf(stderr,
                 "tools/sanitizers/runtime/order.cc: TensorFlow has no %s\n",
                 name);
    std::abort();
  }
  return reinterpret_cast<Function*>(function);
}

// Stands for the ends of all kernels.
char kernels;

class OrderedKernel : public OpKernel {
 public:
  OrderedKernel(OpKernelConstruction* context, std::unique_ptr<OpKernel> kernel)
      : OpKernel(context), kernel_(std::move(kernel)) {}

  ~OrderedKernel() override { __tsan_acquire(&kernels); }

  void Compute(OpKernelContext* context) override {
    __tsan_acquire(&kernels);
    kernel_->Compute(context);
    __tsan_release(&kernels);
  }

 private:
  const std::unique_ptr<OpKernel> kernel_;
};

class OrderedFactory : public OpKernelFactory {
 public:
  explicit OrderedFactory(std::unique_ptr<OpKernelFactory> factory)
      : factory_(std::move(factory)) {}

  OpKernel* Create(OpKernelConstruction* context) override {
    __tsan_acquire(&kernels);
    std::unique_ptr<OpKernel> kernel(factory_->Create(context));
    if (context->status().ok() && kernel->AsAsync() == nullptr) {
      kernel = std::make_unique<OrderedKernel>(context, std::move(kernel));
    }
    __tsan_release(&kernels);
    return kernel.release();
  }

 private:
  const std::unique_ptr<OpKernelFactory> factory_;
};

// One call of Shard.
struct Blocks {
  const std::function<void(int64_t, int64_t)>& work;
  // Stand for what came before the call, and for the ends of all blocks.
  char call;
  char ends;
};

}  // namespace

namespace tensorflow {

void kernel_factory::OpKernelRegistrar::InitInternal(
    const KernelDef* kernel_def, absl::string_view kernel_class_name,
    std::unique_ptr<OpKernelFactory> factory) {
  static const auto original =
      Original<void(OpKernelRegistrar*, const KernelDef*, absl::string_view,
                    std::unique_ptr<OpKernelFactory>)>(
          "_ZN10tensorflow14kernel_factory17OpKernelRegistrar12InitInternal"
          "EPKNS_9KernelDefESt17basic_string_viewIcSt11char_traitsIcEE"
          "St10unique_ptrINS0_15OpKernelFactoryESt14default_deleteISA_EE");
  original(this, kernel_def, kernel_class_name,
           std::make_unique<OrderedFactory>(std::move(factory)));
  __tsan_release(&kernels);
}

void Shard(int max_parallelism, thread::ThreadPool* workers, int64_t total,
           int64_t cost_per_unit, std::function<void(int64_t, int64_t)> work) {
  static const auto original =
      Original<void(int, thread::ThreadPool*, int64_t, int64_t,
                    std::function<void(int64_t, int64_t)>)>(
          "_ZN10tensorflow5ShardEiPN3tsl6thread10ThreadPoolEll"
          "St8functionIFvllEE");
  Blocks blocks{work, 0, 0};
  __tsan_release(&blocks.call);
  // With one pointer, which std::function copies without an allocation that one
  // thread would make and another one free.
  original(max_parallelism, workers, total, cost_per_unit,
           [&blocks](int64_t begin, int64_t end) {
             __tsan_acquire(&blocks.call);
             blocks.work(begin, end);
             __tsan_release(&blocks.ends);
           });
  __tsan_acquire(&blocks.ends);
}

}  // namespace tensorflow
