// SPDX-License-Identifier: Apache-2.0
#include "tensorflow_custom_ops/core/normalization/gpu.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tensorflow_custom_ops/core/gpu/test_cases.h"
#include "tools/cuda_emulator/gpu_test.h"

namespace tensorflow_custom_ops {
namespace normalization {
namespace {

constexpr double kEpsilon = 1e-3;

// In double, for x that is the sum already: the results, and the gradients.
struct Expected {
  std::vector<double> y;
  std::vector<double> x_grad;
  std::vector<double> scale_grad;
  std::vector<double> offset_grad;
};

template <typename T>
std::vector<double> AsDoubles(const std::vector<T>& values) {
  std::vector<double> doubles;
  for (const T value : values) doubles.push_back(gpu::AsDouble(value));
  return doubles;
}

Expected ExpectedOf(Norm norm, int64_t n, const std::vector<double>& x,
                    const std::vector<double>& scale,
                    const std::vector<double>& offset,
                    const std::vector<double>& grad,
                    const std::vector<double>& sum_grad) {
  Expected expected;
  expected.scale_grad.resize(n);
  expected.offset_grad.resize(n);
  for (size_t begin = 0; begin < x.size(); begin += n) {
    double mean = 0, squares = 0, of_one = 0, of_x = 0;
    for (int64_t i = 0; i < n; ++i) mean += x[begin + i] / n;
    if (norm != Norm::kLayer) mean = 0;
    for (int64_t i = 0; i < n; ++i) {
      squares += (x[begin + i] - mean) * (x[begin + i] - mean) / n;
    }
    const double inverse = 1 / std::sqrt(squares + kEpsilon);
    const auto normalized = [&](int64_t i) {
      return (x[begin + i] - mean) * inverse;
    };
    for (int64_t i = 0; i < n; ++i) {
      of_one += grad[begin + i] * scale[i] / n;
      of_x += grad[begin + i] * scale[i] * normalized(i) / n;
    }
    if (norm != Norm::kLayer) of_one = 0;
    for (int64_t i = 0; i < n; ++i) {
      const double dy = grad[begin + i];
      expected.y.push_back(normalized(i) * scale[i] +
                           (HasOffset(norm) ? offset[i] : 0));
      expected.x_grad.push_back(
          (dy * scale[i] - of_one - normalized(i) * of_x) * inverse +
          (HasResidual(norm) ? sum_grad[begin + i] : 0));
      expected.scale_grad[i] += dy * normalized(i);
      expected.offset_grad[i] += dy;
    }
  }
  return expected;
}

// Of a few roundings beside sums of moderate size, or of one to a half type.
template <typename T>
constexpr double kTolerance = 0;
template <>
constexpr double kTolerance<gpu::Half> = 0x1p-10;
template <>
constexpr double kTolerance<gpu::BFloat16> = 0x1p-7;
template <>
constexpr double kTolerance<float> = 1e-5;
template <>
constexpr double kTolerance<double> = 1e-12;

template <typename T>
void ExpectNear(const DeviceArray<T>& actual,
                const std::vector<double>& expected) {
  const std::vector<T> values = actual.ToHost();
  for (size_t i = 0; i < values.size(); ++i) {
    EXPECT_NEAR(gpu::AsDouble(values[i]), expected[i],
                kTolerance<T> * (1 + std::fabs(expected[i])));
  }
}

// Results take the place of inputs.
template <typename T>
void TestRows(Norm norm, int64_t rows, int64_t n) {
  const std::vector<T> x = gpu::TestValues<T>(rows * n, 1);
  const std::vector<T> residual(rows * n, static_cast<T>(0.25f));
  const std::vector<T> scale = gpu::TestValues<T>(n, 2);
  const std::vector<T> offset = gpu::TestValues<T>(n, 3);
  const std::vector<T> grad = gpu::TestValues<T>(rows * n, 4);
  const std::vector<T> sum_grad = gpu::TestValues<T>(rows * n, 5);
  std::vector<double> sum = AsDoubles(x);
  if (HasResidual(norm)) {
    for (double& value : sum) value += 0.25;  // Exact.
  }
  const Expected expected =
      ExpectedOf(norm, n, sum, AsDoubles(scale), AsDoubles(offset),
                 AsDoubles(grad), AsDoubles(sum_grad));

  const DeviceArray<T> of_x(x), of_residual(residual), of_scale(scale),
      of_offset(offset), of_grad(grad), of_sum_grad(sum_grad);
  Forward forward = {norm,
                     rows,
                     n,
                     kEpsilon,
                     of_x.data(),
                     nullptr,
                     of_scale.data(),
                     nullptr,
                     of_x.data(),
                     nullptr};
  if (HasResidual(norm)) forward.residual = of_residual.data();
  if (HasResidual(norm)) forward.sum = of_residual.data();
  if (HasOffset(norm)) forward.offset = of_offset.data();
  EXPECT_LAUNCHED(LaunchForward(nullptr, kTypeOf<T>, forward));
  ExpectNear(of_x, expected.y);
  if (HasResidual(norm)) ExpectNear(of_residual, sum);

  const DeviceArray<T> of_sum(HasResidual(norm) ? of_residual.ToHost() : x);
  const DeviceArray<T> scale_grad(n, T(0)), offset_grad(n, T(0));
  const DeviceArray<gpu::ComputeType<T>> sums(NumGpuSums(norm, rows, n), -99);
  Backward backward = {norm,
                       rows,
                       n,
                       kEpsilon,
                       of_sum.data(),
                       of_scale.data(),
                       of_grad.data(),
                       nullptr,
                       of_grad.data(),
                       scale_grad.data(),
                       nullptr};
  if (HasResidual(norm)) backward.sum_grad = of_sum_grad.data();
  if (HasOffset(norm)) backward.offset_grad = offset_grad.data();
  EXPECT_LAUNCHED(LaunchBackward(nullptr, kTypeOf<T>, backward, sums.data()));
  ExpectNear(of_grad, expected.x_grad);
  ExpectNear(scale_grad, expected.scale_grad);
  if (HasOffset(norm)) ExpectNear(offset_grad, expected.offset_grad);
}

template <typename T>
void TestNorms(int64_t rows, int64_t n) {
  for (const Norm norm : {Norm::kRms, Norm::kRmsResidual, Norm::kLayer}) {
    TestRows<T>(norm, rows, n);
  }
}

template <typename T>
void TestSizes() {
  // Vectors, a warp, and more than one; several blocks of rows.
  for (const int64_t n : {1, 8, 31, 33, 264}) TestNorms<T>(5, n);
}

GPU_TEST(Half) { TestSizes<gpu::Half>(); }
GPU_TEST(BFloat16) { TestSizes<gpu::BFloat16>(); }
GPU_TEST(Float) { TestSizes<float>(); }
GPU_TEST(Double) { TestSizes<double>(); }

// Threads take several vectors.
GPU_TEST(LongRows) {
  TestRows<float>(Norm::kLayer, 2, 3000);
  TestRows<float>(Norm::kLayer, 2, 1001);
}

// Threads that sum up columns take several blocks, of several rows.
GPU_TEST(ManyRows) {
  TestRows<double>(Norm::kLayer, 4 * kEnoughGpuBlocks + 10, 3);
}

GPU_TEST(NoRows) { TestNorms<float>(0, 5); }

}  // namespace
}  // namespace normalization
}  // namespace tensorflow_custom_ops
