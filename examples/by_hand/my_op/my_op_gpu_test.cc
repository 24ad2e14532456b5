// SPDX-License-Identifier: Apache-2.0
#include "examples/by_hand/my_op/my_op_gpu.h"

#include <cstdint>
#include <vector>

#include "tensorflow_custom_ops/core/gpu/test_cases.h"
#include "tools/cuda_emulator/gpu_test.h"

namespace tensorflow_custom_ops {
namespace {

// `offset` elements from where vectors are aligned.
template <typename T>
void TestDoubles(int64_t n, int64_t offset) {
  const std::vector<T> values = gpu::TestValues<T>(offset + n, 1);
  DeviceArray<T> input(values);
  DeviceArray<T> output(values.size(), T(0));
  EXPECT_LAUNCHED(LaunchMyOp(nullptr, gpu::kTypeOf<T>, n, input.data() + offset,
                             output.data() + offset));
  EXPECT_LAUNCHED(LaunchMyOp(nullptr, gpu::kTypeOf<T>, n, input.data() + offset,
                             input.data() + offset));
  const std::vector<T> results = output.ToHost();
  const std::vector<T> in_place = input.ToHost();
  for (int64_t i = offset; i < offset + n; ++i) {
    EXPECT_EQ(gpu::AsDouble(results[i]), 2 * gpu::AsDouble(values[i]));
    EXPECT_EQ(gpu::AsDouble(in_place[i]), 2 * gpu::AsDouble(values[i]));
  }
}

GPU_TEST(Doubles) {
  for (const int64_t n : gpu::kTestSizes) {
    for (const int64_t offset : {0, 1}) {
      TestDoubles<gpu::Half>(n, offset);
      TestDoubles<gpu::BFloat16>(n, offset);
      TestDoubles<float>(n, offset);
      TestDoubles<double>(n, offset);
    }
  }
}

// More vectors, and more elements, than threads.
GPU_TEST(DoublesMany) {
  constexpr int64_t kMost = gpu::kThreads * gpu::kMostBlocks;
  TestDoubles<double>(2 * kMost + 101, 0);
  TestDoubles<double>(kMost + 101, 1);
}

GPU_TEST(RefusesOtherTypes) {
  EXPECT_EQ(LaunchMyOp(nullptr, gpu::Type::kInt64, 1, nullptr, nullptr),
            static_cast<int>(cudaErrorInvalidValue));
}

}  // namespace
}  // namespace tensorflow_custom_ops
