// SPDX-License-Identifier: Apache-2.0
#include "tensorflow_custom_ops/ops/fused_dense/fused_dense_gpu.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "tensorflow_custom_ops/core/gpu/test_cases.h"
#include "tools/cuda_emulator/gpu_test.h"

namespace tensorflow_custom_ops {
namespace fused_dense {
namespace {

double Expected(Activation activation, double x) {
  switch (activation) {
    case Activation::kRelu:
      return std::fmax(x, 0);
    case Activation::kTanh:
      return std::tanh(x);
    case Activation::kSigmoid:
      return 1 / (1 + std::exp(-x));
    default:
      return x;
  }
}

// The error of a function in T or float, and of rounding to T.
template <typename T>
constexpr double kTolerance = 4 * std::numeric_limits<T>::epsilon();
template <>
inline constexpr double kTolerance<gpu::Half> = 1.0 / (1 << 10);
template <>
inline constexpr double kTolerance<gpu::BFloat16> = 1.0 / (1 << 7);

// Where denormal numbers begin, as far as results come near to them.
template <typename T>
constexpr double kNormal = 0;
template <>
inline constexpr double kNormal<gpu::Half> = 1.0 / (1 << 14);

template <typename T>
void TestBiasAndActivation(int64_t rows, int64_t units, int64_t offset,
                           Activation activation, bool has_product) {
  using Sum = gpu::ComputeType<T>;
  const std::vector<Sum> products = gpu::TestValues<Sum>(rows * units, 1);
  const std::vector<T> biases = gpu::TestValues<T>(offset + units, 2);
  DeviceArray<Sum> product(products);
  DeviceArray<T> bias(biases);
  DeviceArray<T> output(rows * units, T(0));
  EXPECT_LAUNCHED(
      LaunchBiasAndActivation(nullptr, gpu::kTypeOf<T>, activation, rows, units,
                              has_product ? product.data() : nullptr,
                              bias.data() + offset, output.data()));
  const std::vector<T> results = output.ToHost();
  for (int64_t i = 0; i < rows * units; ++i) {
    const double expected =
        Expected(activation, (has_product ? products[i] : 0) +
                                 gpu::AsDouble(biases[offset + i % units]));
    EXPECT_NEAR(gpu::AsDouble(results[i]), expected,
                kTolerance<T> * std::fmax(std::fabs(expected), kNormal<T>));
  }
}

template <typename T>
void TestShapes(Activation activation) {
  constexpr int64_t kShapes[][2] = {{0, 3},  {3, 0},   {1, 1},  {5, 16},
                                    {7, 33}, {2, 520}, {300, 4}};
  for (const auto& [rows, units] : kShapes) {
    for (const int64_t offset : {0, 1}) {
      TestBiasAndActivation<T>(rows, units, offset, activation, true);
    }
    TestBiasAndActivation<T>(rows, units, 0, activation, false);
  }
}

GPU_TEST(BiasAndActivation) {
  for (const Activation activation :
       {Activation::kLinear, Activation::kRelu, Activation::kTanh,
        Activation::kSigmoid}) {
    TestShapes<gpu::Half>(activation);
    TestShapes<gpu::BFloat16>(activation);
    TestShapes<float>(activation);
    TestShapes<double>(activation);
  }
}

// More rows than blocks have threads for.
GPU_TEST(ManyRows) {
  TestBiasAndActivation<float>(gpu::kThreads * gpu::kMostBlocks + 101, 1, 0,
                               Activation::kLinear, true);
}

GPU_TEST(ProductMayBeTheOutput) {
  DeviceArray<float> sums(std::vector<float>{1, -2, 3, -4, 5, -6});
  DeviceArray<float> bias(std::vector<float>{10, 1});
  EXPECT_LAUNCHED(LaunchBiasAndActivation(nullptr, gpu::Type::kFloat,
                                          Activation::kRelu, 3, 2, sums.data(),
                                          bias.data(), sums.data()));
  const std::vector<float> results = sums.ToHost();
  const float expected[] = {11, 0, 13, 0, 15, 0};
  for (int i = 0; i < 6; ++i) EXPECT_EQ(results[i], expected[i]);
}

GPU_TEST(NanStays) {
  DeviceArray<float> sums(1, std::nanf(""));
  DeviceArray<float> bias(1, 1.f);
  for (const Activation activation :
       {Activation::kLinear, Activation::kRelu, Activation::kTanh,
        Activation::kSigmoid}) {
    EXPECT_LAUNCHED(LaunchBiasAndActivation(nullptr, gpu::Type::kFloat,
                                            activation, 1, 1, sums.data(),
                                            bias.data(), sums.data()));
    EXPECT_TRUE(std::isnan(sums.ToHost()[0]));
  }
}

}  // namespace
}  // namespace fused_dense
}  // namespace tensorflow_custom_ops
