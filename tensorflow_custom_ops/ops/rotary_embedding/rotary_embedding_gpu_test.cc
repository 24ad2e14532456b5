// SPDX-License-Identifier: Apache-2.0
#include "tensorflow_custom_ops/ops/rotary_embedding/rotary_embedding_gpu.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "tensorflow_custom_ops/core/gpu/test_cases.h"
#include "tools/cuda_emulator/gpu_test.h"

namespace tensorflow_custom_ops {
namespace rotary_embedding {
namespace {

// The errors of cosine, sine, products and sum, for values of size 16, and of
// rounding to T.
template <typename T>
constexpr double kTolerance = 16 * 4 * std::numeric_limits<T>::epsilon();
template <>
inline constexpr double kTolerance<gpu::Half> = 32.0 / (1 << 11);
template <>
inline constexpr double kTolerance<gpu::BFloat16> = 32.0 / (1 << 8);

struct Sizes {
  int64_t repeats;
  int64_t count;
  int64_t heads;
  int64_t head_dim;
  int64_t rotary_dim;
};

Problem ProblemOf(const Sizes& sizes, bool interleaved, bool inverse) {
  Problem problem = {};
  problem.repeats = sizes.repeats;
  problem.count = sizes.count;
  problem.heads = sizes.heads;
  problem.head_dim = sizes.head_dim;
  problem.rotary_dim = sizes.rotary_dim;
  problem.base = 10000;
  problem.interleaved = interleaved;
  problem.inverse = inverse;
  return problem;
}

// Of elements at positions that are all 0, 1 and so on if there are none.
std::vector<double> Expected(const Problem& problem,
                             const std::vector<double>& x,
                             const std::vector<int64_t>& positions) {
  std::vector<double> y = x;
  if (x.empty()) return y;
  const int64_t pairs = problem.rotary_dim / 2;
  for (size_t head = 0; head < x.size() / problem.head_dim; ++head) {
    const int64_t p = head / problem.heads % problem.count;
    const double position = positions.empty() ? p : positions[p];
    for (int64_t i = 0; i < pairs; ++i) {
      const double angle =
          (problem.inverse ? -1 : 1) * position *
          std::pow(problem.base, -2.0 * i / problem.rotary_dim);
      const int64_t start = head * problem.head_dim;
      const int64_t a = start + (problem.interleaved ? 2 * i : i);
      const int64_t b = problem.interleaved ? a + 1 : a + pairs;
      y[a] = x[a] * std::cos(angle) - x[b] * std::sin(angle);
      y[b] = x[b] * std::cos(angle) + x[a] * std::sin(angle);
    }
  }
  return y;
}

// `offset`: where in its memory the array begins, in elements.
template <typename T>
void ExpectTurned(Problem problem, const std::vector<int64_t>& positions,
                  int64_t offset, bool in_place) {
  const int64_t n =
      problem.repeats * problem.count * problem.heads * problem.head_dim;
  const std::vector<T> values = gpu::TestValues<T>(offset + n, 7);
  DeviceArray<T> input(values);
  DeviceArray<T> output(offset + n, T(99.f));
  DeviceArray<int64_t> device_positions(positions);
  problem.input = input.data() + offset;
  problem.output = (in_place ? input.data() : output.data()) + offset;
  if (!positions.empty()) problem.positions64 = device_positions.data();
  EXPECT_LAUNCHED(LaunchRotaryEmbedding(nullptr, gpu::kTypeOf<T>, problem));
  std::vector<double> x;
  for (int64_t i = 0; i < n; ++i) {
    x.push_back(gpu::AsDouble(values[offset + i]));
  }
  const std::vector<double> expected = Expected(problem, x, positions);
  // The angles have errors of their own, which grow with the positions.
  double most = static_cast<double>(problem.count);
  for (const int64_t position : positions) {
    most = std::fmax(most, std::fabs(static_cast<double>(position)));
  }
  const double tolerance =
      kTolerance<T> + 64 * most * std::numeric_limits<double>::epsilon();
  const std::vector<T> results = (in_place ? input : output).ToHost();
  for (int64_t i = 0; i < n; ++i) {
    EXPECT_NEAR(gpu::AsDouble(results[offset + i]), expected[i], tolerance);
  }
}

template <typename T>
void TestSizes() {
  constexpr Sizes kSizes[] = {
      {1, 1, 1, 2, 2}, {2, 3, 3, 16, 16},  {1, 5, 2, 32, 16}, {3, 2, 5, 13, 6},
      {9, 1, 4, 8, 8}, {1, 70, 1, 46, 46}, {1, 2, 3, 5, 0},   {0, 3, 2, 4, 4},
      {2, 3, 0, 4, 4}, {1, 2, 2, 0, 0}};
  for (const Sizes& sizes : kSizes) {
    for (const bool interleaved : {false, true}) {
      for (const bool inverse : {false, true}) {
        const Problem problem = ProblemOf(sizes, interleaved, inverse);
        ExpectTurned<T>(problem, {}, inverse ? 1 : 0, interleaved);
      }
    }
  }
}

GPU_TEST(Half) { TestSizes<gpu::Half>(); }
GPU_TEST(BFloat16) { TestSizes<gpu::BFloat16>(); }
GPU_TEST(Float) { TestSizes<float>(); }
GPU_TEST(Double) { TestSizes<double>(); }

GPU_TEST(Positions) {
  const Sizes sizes = {2, 6, 3, 8, 8};
  const std::vector<int64_t> positions = {0,       -1,       5,
                                          1 << 20, -3000000, int64_t{1} << 31};
  ExpectTurned<float>(ProblemOf(sizes, false, false), positions, 0, false);
  ExpectTurned<gpu::Half>(ProblemOf(sizes, true, true), positions, 0, true);
}

GPU_TEST(PositionsOf32Bits) {
  DeviceArray<float> values(std::vector<float>{1, 0, 1, 0});
  DeviceArray<int32_t> positions(std::vector<int32_t>{2, -2});
  Problem problem = ProblemOf({1, 2, 1, 2, 2}, true, false);
  problem.input = values.data();
  problem.output = values.data();
  problem.positions32 = positions.data();
  EXPECT_LAUNCHED(LaunchRotaryEmbedding(nullptr, gpu::Type::kFloat, problem));
  const std::vector<float> results = values.ToHost();
  const double expected[] = {std::cos(2.0), std::sin(2.0), std::cos(2.0),
                             -std::sin(2.0)};
  for (int i = 0; i < 4; ++i) EXPECT_NEAR(results[i], expected[i], 1e-6);
}

// Where the nearest multiple of a quarter turn is beyond doubles' integers, a
// cosine and a sine are still those of an angle.
GPU_TEST(LargestPositions) {
  const std::vector<int64_t> positions = {(int64_t{1} << 52) + 1,
                                          (int64_t{1} << 62) + (1 << 20),
                                          std::numeric_limits<int64_t>::min()};
  DeviceArray<double> values(std::vector<double>{1, 0, 1, 0, 1, 0});
  DeviceArray<int64_t> device_positions(positions);
  Problem problem = ProblemOf({1, 3, 1, 2, 2}, true, false);
  problem.input = values.data();
  problem.output = values.data();
  problem.positions64 = device_positions.data();
  EXPECT_LAUNCHED(LaunchRotaryEmbedding(nullptr, gpu::Type::kDouble, problem));
  const std::vector<double> results = values.ToHost();
  for (int i = 0; i < 3; ++i) {
    const double angle = static_cast<double>(positions[i]);
    EXPECT_NEAR(results[2 * i], std::cos(angle), 1e-12);
    EXPECT_NEAR(results[2 * i + 1], std::sin(angle), 1e-12);
  }
}

// More heads than a block takes, and more units than blocks have threads for.
GPU_TEST(MoreThanBlocks) {
  ExpectTurned<float>(ProblemOf({3, 1, 50, 4, 4}, false, false), {}, 0, true);
  const int64_t count = gpu::kThreads * gpu::kMostBlocks + 101;
  ExpectTurned<float>(ProblemOf({1, count, 1, 2, 2}, true, false), {}, 0,
                      false);
}

}  // namespace
}  // namespace rotary_embedding
}  // namespace tensorflow_custom_ops
