// SPDX-License-Identifier: Apache-2.0
#include "examples/by_hand/simple_add/simple_add_gpu.h"

#include <cstdint>
#include <limits>
#include <vector>

#include "tensorflow_custom_ops/core/gpu/test_cases.h"
#include "tools/cuda_emulator/gpu_test.h"

namespace tensorflow_custom_ops {
namespace {

// One input is `offset` elements from where vectors are aligned.
template <typename T>
void TestAdds(int64_t n, int64_t offset) {
  const std::vector<T> a_values = gpu::TestValues<T>(n, 1);
  const std::vector<T> b_values = gpu::TestValues<T>(offset + n, 2);
  DeviceArray<T> a(a_values);
  DeviceArray<T> b(b_values);
  DeviceArray<T> output(a_values.size(), T(0));
  const auto add = [&](T* result) {
    return LaunchSimpleAdd(nullptr, gpu::kTypeOf<T>, n, a.data(),
                           b.data() + offset, result);
  };
  EXPECT_LAUNCHED(add(output.data()));
  EXPECT_LAUNCHED(add(a.data()));
  const std::vector<T> results = output.ToHost();
  const std::vector<T> in_place = a.ToHost();
  for (int64_t i = 0; i < n; ++i) {
    const double expected =
        gpu::AsDouble(a_values[i]) + gpu::AsDouble(b_values[offset + i]);
    EXPECT_EQ(gpu::AsDouble(results[i]), expected);
    EXPECT_EQ(gpu::AsDouble(in_place[i]), expected);
  }
}

GPU_TEST(Adds) {
  for (const int64_t n : gpu::kTestSizes) {
    for (const int64_t offset : {0, 1}) {
      TestAdds<gpu::Half>(n, offset);
      TestAdds<gpu::BFloat16>(n, offset);
      TestAdds<float>(n, offset);
      TestAdds<double>(n, offset);
      TestAdds<int64_t>(n, offset);
    }
  }
}

GPU_TEST(IntegersWrapAround) {
  DeviceArray<int64_t> a(3, std::numeric_limits<int64_t>::max());
  DeviceArray<int64_t> b(3, 1);
  EXPECT_LAUNCHED(LaunchSimpleAdd(nullptr, gpu::Type::kInt64, 3, a.data(),
                                  b.data(), a.data()));
  for (const int64_t sum : a.ToHost()) {
    EXPECT_EQ(sum, std::numeric_limits<int64_t>::min());
  }
}

}  // namespace
}  // namespace tensorflow_custom_ops
