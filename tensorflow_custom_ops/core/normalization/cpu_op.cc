// SPDX-License-Identifier: Apache-2.0
// Registers the CPU kernels of one op and of its gradient. NORMALIZATION is
// what it computes; see normalization_op.bzl.
#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/types.h"
#include "tensorflow/core/platform/logging.h"
#include "tensorflow/core/util/work_sharder.h"
#include "tensorflow_custom_ops/core/normalization/cpu.h"
#include "tensorflow_custom_ops/core/normalization/kernel.h"

namespace tensorflow_custom_ops {
namespace normalization {
namespace {

using tensorflow::OpKernelConstruction;
using tensorflow::OpKernelContext;

constexpr Norm kNorm = Norm::NORMALIZATION;

// Below that a second thread costs more than it saves.
constexpr int64_t kMinParallelCycles = 10000;

class CpuKernel : public Kernel {
 public:
  explicit CpuKernel(OpKernelConstruction* context) : Kernel(context, kNorm) {
    const absl::StatusOr<const Rows*> rows = SelectRows();
    OP_REQUIRES_OK(context, rows.status());
    VLOG(1) << type_string() << ": the code for " << (*rows)->isa;
    functions_ = &RowFunctionsOf(**rows, type());
  }

 protected:
  absl::Status Run(OpKernelContext* context, const Forward& args) override {
    RunForward(*functions_, args, InThreads(context));
    return absl::OkStatus();
  }

  absl::Status Run(OpKernelContext* context, const Backward& args,
                   void* sums) override {
    RunBackward(*functions_, args, sums, tensorflow::DataTypeSize(sum_type()),
                InThreads(context));
    return absl::OkStatus();
  }

  int64_t NumSums(Norm norm, int64_t rows, int64_t n) const override {
    return NumCpuSums(norm, rows, n);
  }

 private:
  // In the op's thread pool.
  struct InThreads {
    explicit InThreads(OpKernelContext* context)
        : workers(*context->device()->tensorflow_cpu_worker_threads()) {}

    void operator()(int64_t total, int64_t cycles,
                    absl::FunctionRef<void(int64_t, int64_t)> body) const {
      if (total == 0) return;
      if (total * cycles < kMinParallelCycles) return body(0, total);
      tensorflow::Shard(workers.num_threads, workers.workers, total, cycles,
                        body);
    }

    const tensorflow::DeviceBase::CpuWorkerThreads& workers;
  };

  const RowFunctions* functions_ = nullptr;
};

// For all types that the op's definition allows.
REGISTER_KERNEL_BUILDER(Name(OpName(kNorm)).Device(tensorflow::DEVICE_CPU),
                        CpuKernel);
REGISTER_KERNEL_BUILDER(
    Name(OpName(kNorm, true)).Device(tensorflow::DEVICE_CPU), CpuKernel);

}  // namespace
}  // namespace normalization
}  // namespace tensorflow_custom_ops
