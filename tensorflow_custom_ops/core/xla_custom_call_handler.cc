// SPDX-License-Identifier: Apache-2.0
// Compiled with exceptions, to catch them: handlers are not.
#include "tensorflow_custom_ops/core/xla_custom_call_handler.h"

#ifdef TENSORFLOW_CUSTOM_OPS_XLA_CUSTOM_CALLS

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <utility>

#include "absl/strings/str_cat.h"

namespace xla::ffi {
// Exported by TensorFlow's libraries. The header that declares it,
// xla/ffi/ffi_api.h, includes some that the wheel lacks.
const XLA_FFI_Api* GetXlaFfiApi();
}  // namespace xla::ffi

namespace tensorflow_custom_ops {
namespace {

// A block that is cheaper costs less than handing it to another thread does.
constexpr int64_t kMinCyclesPerBlock = 50000;
// Some more blocks than threads, so that a slow thread takes fewer.
constexpr int64_t kBlocksPerThread = 4;

absl::Status StatusOf(absl::FunctionRef<absl::Status()> body) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return absl::ResourceExhaustedError("out of memory");
  } catch (const std::exception& exception) {
    return absl::InternalError(exception.what());
  } catch (...) {
    return absl::InternalError("an exception of unknown type");
  }
}

// The blocks of one XlaParallelFor. Its threads share this object, for some may
// start when the call has returned: they find no block left.
class Blocks {
 public:
  Blocks(int64_t total, int64_t count,
         absl::FunctionRef<void(int64_t, int64_t)> body)
      : total_(total), count_(count), body_(body), unfinished_(count) {}

  // Takes blocks and runs them until there is none left.
  void Run() {
    // Not count_ * total_, which could overflow.
    const int64_t size = total_ / count_;
    const int64_t longer = total_ % count_;
    for (int64_t i; (i = next_.fetch_add(1)) < count_;) {
      const int64_t begin = i * size + std::min(i, longer);
      const int64_t end = begin + size + (i < longer ? 1 : 0);
      const absl::Status status = StatusOf([&] {
        body_(begin, end);
        return absl::OkStatus();
      });
      std::lock_guard<std::mutex> lock(mutex_);
      status_.Update(status);
      if (--unfinished_ == 0) finished_.notify_all();
    }
  }

  // Waits for the blocks that other threads have taken. Call it after Run: then
  // all are taken, and the threads that took them are running.
  absl::Status Wait() {
    std::unique_lock<std::mutex> lock(mutex_);
    finished_.wait(lock, [this] { return unfinished_ == 0; });
    return status_;
  }

 private:
  const int64_t total_;
  const int64_t count_;
  // Of the caller: valid while a block is unfinished.
  const absl::FunctionRef<void(int64_t, int64_t)> body_;
  std::atomic<int64_t> next_{0};
  std::mutex mutex_;
  std::condition_variable finished_;
  int64_t unfinished_;
  absl::Status status_;
};

}  // namespace

XlaCustomCall RegisterXlaCustomCall(std::string name, const char* platform,
                                    XLA_FFI_Handler* handler) {
  const XLA_FFI_Api* api = xla::ffi::GetXlaFfiApi();
  XLA_FFI_Error* error =
      xla::ffi::Ffi::RegisterStaticHandler(api, name, platform, handler);
  absl::Status status;
  if (error != nullptr) {
    status = absl::FailedPreconditionError(absl::StrCat(
        "XLA did not accept the custom call ", name, " on ", platform, ": ",
        xla::ffi::internal::GetErrorMessage(api, error)));
    xla::ffi::internal::DestroyError(api, error);
  }
  return {std::move(name), std::move(status)};
}

xla::ffi::Error RunXlaHandler(absl::FunctionRef<absl::Status()> body) {
  const absl::Status status = StatusOf(body);
  // The codes of XLA's C interface have the values of absl's.
  return xla::ffi::Error(static_cast<XLA_FFI_Error_Code>(status.code()),
                         std::string(status.message()));
}

absl::Status XlaParallelFor(xla::ffi::ThreadPool& pool, int64_t total,
                            int64_t cycles,
                            absl::FunctionRef<void(int64_t, int64_t)> body) {
  if (total <= 0) return absl::OkStatus();
  const int64_t threads = std::max<int64_t>(1, pool.num_threads());
  const int64_t units_per_block =
      1 + (kMinCyclesPerBlock - 1) / std::max<int64_t>(1, cycles);
  const int64_t count = std::min(1 + (total - 1) / units_per_block,
                                 threads == 1 ? 1 : kBlocksPerThread * threads);
  const auto blocks = std::make_shared<Blocks>(total, count, body);
  // The caller is one of the threads. Where no more can be had, it runs all.
  StatusOf([&] {
    for (int64_t i = 1; i < std::min(count, threads); ++i) {
      pool.Schedule([blocks] { blocks->Run(); });
    }
    return absl::OkStatus();
  }).IgnoreError();
  blocks->Run();
  return blocks->Wait();
}

}  // namespace tensorflow_custom_ops

#endif  // TENSORFLOW_CUSTOM_OPS_XLA_CUSTOM_CALLS
