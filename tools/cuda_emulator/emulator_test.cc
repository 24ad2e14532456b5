// SPDX-License-Identifier: Apache-2.0
//
// What only the emulator promises.
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

#include <cstdint>
#include <cstring>
#include <numeric>
#include <thread>
#include <vector>

#include "tools/cuda_emulator/cuda_emulator.h"
#include "tools/cuda_emulator/gpu_test.h"

namespace {

__global__ void UninitializedKernel(unsigned char* out) {
  GPU_DYNAMIC_SHARED(unsigned char, bytes);
  out[blockIdx.x * blockDim.x + threadIdx.x] = bytes[threadIdx.x];
  bytes[threadIdx.x] = 0;
}

GPU_TEST(SharedMemoryIsNotZero) {
  DeviceArray<unsigned char> out(4 * 10, 0);
  GPU_LAUNCH(UninitializedKernel, 4, 10, 10, nullptr, out.data());
  EXPECT_LAUNCHED(cudaGetLastError());
  for (unsigned char byte : out.ToHost()) EXPECT_EQ(byte, 0xCD);
}

__global__ void CountKernel(int by_value, int* out) {
  ++by_value;
  out[threadIdx.x] = by_value;
}

GPU_TEST(ArgumentsAreEvaluatedOnceAndCopied) {
  DeviceArray<int> out(5, 0);
  int calls = 0;
  GPU_LAUNCH(CountKernel, 1, 5, 0, nullptr, ++calls, out.data());
  EXPECT_LAUNCHED(cudaGetLastError());
  EXPECT_EQ(calls, 1);
  for (int value : out.ToHost()) EXPECT_EQ(value, 2);
}

__global__ void NothingKernel() {}

GPU_TEST(ErrorsStayUntilTheyAreTaken) {
  GPU_LAUNCH(NothingKernel, 0, 1, 0, nullptr);
  GPU_LAUNCH(NothingKernel, 1, 1, 0, nullptr);
  EXPECT_EQ(cudaPeekAtLastError(), cudaErrorInvalidConfiguration);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidConfiguration);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

__global__ void LaunchingKernel() {
  GPU_LAUNCH(NothingKernel, 1, 1, 0, nullptr);
}

GPU_TEST(KernelsCannotLaunch) {
  GPU_LAUNCH(LaunchingKernel, 1, 1, 0, nullptr);
  EXPECT_EQ(cudaGetLastError(), cudaErrorNotSupported);
}

constexpr int kBlock = 64;

__global__ void SumKernel(int64_t size, const int* in, long long* out) {
  __shared__ long long sums[kBlock];
  long long sum = 0;
  for (int64_t i = threadIdx.x; i < size; i += blockDim.x) sum += in[i];
  sums[threadIdx.x] = sum;
  __syncthreads();
  for (unsigned half = kBlock / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) *out = sums[0];
}

__global__ void HalfSyncKernel() {
  if (threadIdx.x < 5) __syncthreads();
}

// Sums up many times, with launches that fail in between.
void SumManyTimes(int first) {
  std::vector<int> values(1000);
  std::iota(values.begin(), values.end(), first);
  const DeviceArray<int> in(values);
  const long long expected = std::accumulate(values.begin(), values.end(), 0ll);
  for (int i = 0; i < 20; ++i) {
    DeviceArray<long long> out(1, -1);
    GPU_LAUNCH(SumKernel, 1, kBlock, 0, nullptr, int64_t{1000}, in.data(),
               out.data());
    EXPECT_LAUNCHED(cudaGetLastError());
    EXPECT_EQ(out.ToHost()[0], expected);
    GPU_LAUNCH(HalfSyncKernel, 1, 10, 0, nullptr);
    EXPECT_EQ(cudaGetLastError(), cudaErrorLaunchFailure);
  }
}

// Frames with arrays, around which AddressSanitizer forbids accesses.
__device__ __attribute__((noinline)) int DeadlockDeepDown(int depth) {
  volatile char frame[40];
  frame[0] = 0;
  if (depth > 0) return frame[0] + DeadlockDeepDown(depth - 1);
  __syncthreads();
  return frame[0];
}

__global__ void DeepDeadlockKernel(int* out) {
  if (threadIdx.x < 5) out[threadIdx.x] = DeadlockDeepDown(100);
}

__global__ void LargeFrameKernel(int* out) {
  const size_t size = 16 << 10;
  char* const bytes = static_cast<char*>(__builtin_alloca(size));
  std::memset(bytes, static_cast<int>(threadIdx.x), size);
  __syncthreads();
  out[threadIdx.x] = bytes[0] + bytes[size - 1];
}

GPU_TEST(StacksAreClearedAfterDeadlocks) {
  DeviceArray<int> out(10, -1);
  GPU_LAUNCH(DeepDeadlockKernel, 1, 10, 0, nullptr, out.data());
  EXPECT_EQ(cudaGetLastError(), cudaErrorLaunchFailure);
  GPU_LAUNCH(LargeFrameKernel, 1, 10, 0, nullptr, out.data());
  EXPECT_LAUNCHED(cudaGetLastError());
  const std::vector<int> values = out.ToHost();
  for (int i = 0; i < 10; ++i) EXPECT_EQ(values[static_cast<size_t>(i)], 2 * i);
}

#ifdef __SANITIZE_ADDRESS__
extern "C" void __asan_handle_no_return();

// Before an abort() or the like AddressSanitizer permits accesses to the whole
// stack, if it knows where that is. Counts frames for which it does.
__global__ void StackBoundsKernel(int* out) {
  char bytes[8];
  std::memset(bytes, 0, sizeof(bytes));
  __syncthreads();
  const bool before = __asan_address_is_poisoned(bytes + sizeof(bytes)) != 0;
  __asan_handle_no_return();
  const bool after = __asan_address_is_poisoned(bytes + sizeof(bytes)) != 0;
  out[threadIdx.x] = before && !after ? 1 : 0;
}

GPU_TEST(AddressSanitizerKnowsTheStacks) {
  DeviceArray<int> out(10, -1);
  GPU_LAUNCH(StackBoundsKernel, 1, 10, 0, nullptr, out.data());
  EXPECT_LAUNCHED(cudaGetLastError());
  for (int known : out.ToHost()) EXPECT_EQ(known, 1);
}
#endif

GPU_TEST(OsThreadsLaunchAtTheSameTime) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back(SumManyTimes, i);
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
