// SPDX-License-Identifier: Apache-2.0
//
// The orders of CUDA threads, which this test sets for itself.
#include <algorithm>
#include <vector>

#include "tools/cuda_emulator/cuda_emulator.h"
#include "tools/cuda_emulator/gpu_test.h"

namespace {

using cuda_emulator::Order;
using cuda_emulator::SetOrder;

constexpr int kBlocks = 3;
constexpr int kThreads = 70;

// Writes down which thread is where, before and after a meeting of the warp.
__global__ void LogKernel(std::vector<int>* log) {
  const int number = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  log->push_back(number);
  __syncwarp();
  log->push_back(number);
}

std::vector<int> Log(Order order, unsigned seed = 1) {
  SetOrder(order, seed);
  std::vector<int> log;
  GPU_LAUNCH(LogKernel, kBlocks, kThreads, 0, nullptr, &log);
  EXPECT_LAUNCHED(cudaGetLastError());
  EXPECT_EQ(log.size(), static_cast<size_t>(2 * kBlocks * kThreads));
  return log;
}

// One warp runs to its end before the next starts.
std::vector<int> ForwardLog() {
  std::vector<int> log;
  for (int block = 0; block < kBlocks; ++block) {
    for (int warp = 0; warp < kThreads; warp += 32) {
      for (int time = 0; time < 2; ++time) {
        for (int i = warp; i < std::min(warp + 32, kThreads); ++i) {
          log.push_back(block * kThreads + i);
        }
      }
    }
  }
  return log;
}

GPU_TEST(Forward) { EXPECT_TRUE(Log(Order::kForward) == ForwardLog()); }

GPU_TEST(Reverse) {
  std::vector<int> expected = ForwardLog();
  std::reverse(expected.begin(), expected.end());
  EXPECT_TRUE(Log(Order::kReverse) == expected);
}

GPU_TEST(Random) {
  const std::vector<int> log = Log(Order::kRandom, 1);
  EXPECT_TRUE(log == Log(Order::kRandom, 1));
  EXPECT_TRUE(log != Log(Order::kRandom, 2));
  EXPECT_TRUE(log != Log(Order::kForward));
  std::vector<int> sorted = log;
  std::sort(sorted.begin(), sorted.end());
  for (int i = 0; i < 2 * kBlocks * kThreads; ++i) {
    EXPECT_EQ(sorted[static_cast<size_t>(i)], i / 2);
  }
}

}  // namespace
