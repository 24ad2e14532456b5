// SPDX-License-Identifier: Apache-2.0
#include "tensorflow_custom_ops/ops/top_k_mask/top_k_mask_gpu.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <numeric>
#include <vector>

#include "tensorflow_custom_ops/core/gpu/test_cases.h"
#include "tools/cuda_emulator/gpu_test.h"

namespace tensorflow_custom_ops {
namespace {

// Whether a comes before b in descending order, NaN first.
bool Before(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && !std::isnan(b);
  return a > b;
}

template <typename T>
std::vector<bool> ExpectedMask(const std::vector<T>& values, int64_t n,
                               int64_t k) {
  std::vector<bool> mask(values.size());
  std::vector<int64_t> order(n);
  for (size_t start = 0; start < values.size(); start += n) {
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
      return Before(gpu::AsDouble(values[start + a]),
                    gpu::AsDouble(values[start + b]));
    });
    for (int64_t i = 0; i < k; ++i) mask[start + order[i]] = true;
  }
  return mask;
}

template <typename T>
void ExpectMasked(const std::vector<T>& values, int64_t n, int64_t k) {
  const T fill_value = static_cast<T>(-99.f);
  DeviceArray<T> data(values);
  // Not of bool, whose vector is no array.
  DeviceArray<uint8_t> mask(values.size(), uint8_t{2});
  EXPECT_LAUNCHED(LaunchTopKMask(nullptr, gpu::kTypeOf<T>,
                                 n == 0 ? 0 : values.size() / n, n, k,
                                 &fill_value, data.data(), data.data(),
                                 reinterpret_cast<bool*>(mask.data())));
  const std::vector<bool> expected = ExpectedMask(values, n, k);
  const std::vector<T> results = data.ToHost();
  const std::vector<uint8_t> kept = mask.ToHost();
  for (size_t i = 0; i < values.size(); ++i) {
    EXPECT_EQ(kept[i], expected[i] ? 1 : 0);
    const double result = gpu::AsDouble(results[i]);
    const double wanted = gpu::AsDouble(expected[i] ? values[i] : fill_value);
    EXPECT_TRUE(result == wanted || (std::isnan(result) && std::isnan(wanted)));
  }
}

template <typename T>
void TestSizes(std::initializer_list<int64_t> sizes) {
  for (const int64_t n : sizes) {
    const std::vector<T> values = gpu::TestValues<T>(3 * n, n);
    for (const int64_t k : {int64_t{0}, int64_t{1}, n / 3, n - 1, n}) {
      ExpectMasked(values, n, k);
    }
  }
}

// A warp, a block of the most threads, and more than that. Types differ in the
// bits of their keys only.
GPU_TEST(Half) { TestSizes<gpu::Half>({5, 33, 513}); }
GPU_TEST(BFloat16) { TestSizes<gpu::BFloat16>({5, 33, 513}); }
GPU_TEST(Float) { TestSizes<float>({1, 5, 31, 32, 33, 100, 512, 513, 1300}); }
GPU_TEST(Double) { TestSizes<double>({5, 33, 513}); }

GPU_TEST(SpecialValues) {
  const float nan = std::nanf("");
  const std::vector<float> values = {nan,  1,      -INFINITY, -0.f,    0,
                                     -nan, 1e-45f, INFINITY,  -1e-45f, -1};
  for (int64_t k = 0; k <= 10; ++k) ExpectMasked(values, 10, k);
}

GPU_TEST(EqualElements) {
  for (const int64_t k : {0, 1, 350, 699, 700}) {
    ExpectMasked(std::vector<float>(1400, 0.5f), 700, k);
  }
}

GPU_TEST(MoreRowsThanBlocks) {
  ExpectMasked(
      gpu::TestValues<gpu::BFloat16>(3 * (kTopKMaskMostBlocks + 10), 1), 3, 1);
}

GPU_TEST(Empty) { ExpectMasked(std::vector<float>(), 0, 0); }

}  // namespace
}  // namespace tensorflow_custom_ops
