// SPDX-License-Identifier: Apache-2.0
//
// On a GPU, tests/gpu/run_on_device.sh runs them.
#include "tools/cuda_emulator/primitives.h"

#include <cmath>
#include <string>
#include <vector>

#include "tensorflow_custom_ops/core/gpu/device.h"
#include "tools/cuda_emulator/gpu_test.h"

namespace primitives {
namespace {

// Lanes of the warp that the thread of a block of kThreads threads is in.
int WarpStart(int thread) { return thread / 32 * 32; }
int WarpEnd(int thread) {
  return WarpStart(thread) + 32 < kThreads ? WarpStart(thread) + 32 : kThreads;
}

GPU_TEST(IndicesOfThreeDimensions) {
  const unsigned grid[3] = {3, 2, 2};
  const unsigned block[3] = {4, 3, 5};
  DeviceArray<Indices> out(12 * 60, Indices{});
  EXPECT_LAUNCHED(LaunchIndices(nullptr, out.data()));
  const std::vector<Indices> indices = out.ToHost();
  for (unsigned i = 0; i < indices.size(); ++i) {
    const unsigned b = i / 60;
    const unsigned t = i % 60;
    const unsigned want_block[3] = {b % 3, b / 3 % 2, b / 6};
    const unsigned want_thread[3] = {t % 4, t / 4 % 3, t / 12};
    for (int axis = 0; axis < 3; ++axis) {
      EXPECT_EQ(indices[i].thread[axis], want_thread[axis]);
      EXPECT_EQ(indices[i].block[axis], want_block[axis]);
      EXPECT_EQ(indices[i].block_size[axis], block[axis]);
      EXPECT_EQ(indices[i].grid_size[axis], grid[axis]);
    }
  }
}

GPU_TEST(ShufflesOfAllWidths) {
  for (int width = 8; width <= 32; width *= 2) {
    DeviceArray<Shuffles> out(kThreads, Shuffles{});
    EXPECT_LAUNCHED(LaunchShuffles(nullptr, width, out.data()));
    const std::vector<Shuffles> results = out.ToHost();
    for (int t = 0; t < kThreads; ++t) {
      const Shuffles& result = results[static_cast<size_t>(t)];
      const int lane = t % 32;
      const int start = t - lane % width;
      const int delta = t == kThreads - 1 ? 0 : lane < 7 ? 1 : 2;
      EXPECT_EQ(result.index, start + 5);
      EXPECT_EQ(result.up, t - 3 >= start ? t - 3 : t);
      EXPECT_EQ(result.down, t + delta < start + width ? t + delta : t);
      EXPECT_EQ(result.exclusive_or, t ^ 1);
      EXPECT_EQ(result.wide, WarpStart(t) + 0.25);
      const long long half = lane < 16 && t < 64 ? (t ^ 8) * (1ll << 40) : -1;
      EXPECT_EQ(result.half_warp, half);
    }
  }
}

GPU_TEST(VotesOfWarpsAndBlocks) {
  DeviceArray<Votes> out(kThreads, Votes{});
  EXPECT_LAUNCHED(LaunchVotes(nullptr, out.data()));
  const std::vector<Votes> results = out.ToHost();
  for (int t = 0; t < kThreads; ++t) {
    const Votes& result = results[static_cast<size_t>(t)];
    unsigned ballot = 0;
    for (int other = WarpStart(t); other < WarpEnd(t); ++other) {
      if (other % 3 == 0) ballot |= 1u << other % 32;
    }
    EXPECT_EQ(result.ballot, ballot);
    EXPECT_EQ(result.any, t < 64 ? 1 : 0);
    EXPECT_EQ(result.all, t < 64 ? 1 : 0);
    EXPECT_EQ(result.none, 0);
    EXPECT_EQ(result.block_count, 15);
    EXPECT_EQ(result.block_or, 1);
    EXPECT_EQ(result.block_and, 0);
  }
}

GPU_TEST(VoteWithoutReturnedLanes) {
  DeviceArray<unsigned> out(32, 0);
  EXPECT_LAUNCHED(LaunchVoteOfRest(nullptr, out.data()));
  const std::vector<unsigned> votes = out.ToHost();
  for (size_t lane = 0; lane < votes.size(); ++lane) {
    EXPECT_EQ(votes[lane], lane == 0 || lane == 31 ? 0 : 0x7ffffffeu);
  }
}

GPU_TEST(ScanWithSharedMemory) {
  const int blocks = 5;
  std::vector<int> values;
  for (int i = 0; i < blocks * kThreads; ++i) values.push_back(i * i % 101);
  DeviceArray<int> in(values);
  DeviceArray<int> out(values.size(), -1);
  EXPECT_LAUNCHED(LaunchScan(nullptr, blocks, in.data(), out.data()));
  const std::vector<int> sums = out.ToHost();
  int sum = 0;
  for (size_t i = 0; i < sums.size(); ++i) {
    if (i % kThreads == 0) sum = 0;
    sum += values[i];
    EXPECT_EQ(sums[i], sum);
  }
}

GPU_TEST(AtomicsOfAllTypes) {
  const int threads = 3 * kThreads;
  Atomics start = {};
  start.and_int = -1;
  start.min_unsigned = ~0u;
  start.min_long = ~0ull;
  start.left = 1000;
  DeviceArray<Atomics> values(1, start);
  EXPECT_LAUNCHED(LaunchAtomics(nullptr, values.data()));
  const Atomics result = values.ToHost()[0];
  const int sum = threads * (threads - 1) / 2;
  const unsigned long long large = 1ull << 40;
  EXPECT_EQ(result.add_int, -sum);
  EXPECT_EQ(result.max_int, threads - 1);
  EXPECT_EQ(result.min_int, 1 - threads);
  EXPECT_EQ(result.or_int, 127);
  EXPECT_EQ(result.and_int, ~127);
  EXPECT_EQ(result.add_unsigned, static_cast<unsigned>(sum + threads));
  EXPECT_EQ(result.max_unsigned, static_cast<unsigned>(threads));
  EXPECT_EQ(result.min_unsigned, 1u);
  EXPECT_EQ(result.add_long,
            large * static_cast<unsigned long long>(sum + threads));
  EXPECT_EQ(result.max_long, large * threads);
  EXPECT_EQ(result.min_long, large);
  EXPECT_EQ(result.add_float, 0.5f * threads);
  EXPECT_EQ(result.add_double, 0.25 * threads);
  EXPECT_EQ(result.exchanged + result.left, sum + start.left);
  EXPECT_EQ(result.cas_count, 2 * threads);
}

GPU_TEST(BitsAndMathematics) {
  const float number = 2.75f;
  const struct {
    long long value;
    int popc, popcll, ffs, ffsll, clz, clzll;
  } cases[] = {
      {0, 0, 0, 0, 0, 32, 64},
      {1, 1, 1, 1, 1, 31, 63},
      {-1, 32, 64, 1, 1, 0, 0},
      {0x0000500000000000, 0, 2, 0, 45, 32, 17},
      {0x0000500000000600, 2, 4, 10, 10, 21, 17},
  };
  for (const auto& want : cases) {
    DeviceArray<Bits> out(1, Bits{});
    EXPECT_LAUNCHED(LaunchBits(nullptr, want.value, number, out.data()));
    const Bits result = out.ToHost()[0];
    EXPECT_EQ(result.popc, want.popc);
    EXPECT_EQ(result.popcll, want.popcll);
    EXPECT_EQ(result.ffs, want.ffs);
    EXPECT_EQ(result.ffsll, want.ffsll);
    EXPECT_EQ(result.clz, want.clz);
    EXPECT_EQ(result.clzll, want.clzll);
    EXPECT_EQ(result.float_as_int, 0x40300000);
    EXPECT_EQ(result.float_as_uint, 0x40300000u);
    EXPECT_EQ(result.int_as_float, number);
    EXPECT_EQ(result.uint_as_float, number);
    EXPECT_EQ(result.double_as_longlong, 0x4006000000000000ll);
    EXPECT_EQ(result.longlong_as_double, number);
    EXPECT_NEAR(result.rsqrt_float, 1 / std::sqrt(2.75), 1e-6);
    EXPECT_NEAR(result.rsqrt_double, 1 / std::sqrt(2.75), 1e-15);
  }
}

GPU_TEST(LastBlockSumsUp) {
  const int blocks = 30;
  DeviceArray<int> partial(blocks, 0);
  DeviceArray<unsigned> finished(1, 0);
  DeviceArray<int> sum(1, -1);
  EXPECT_LAUNCHED(LaunchLastBlock(nullptr, blocks, partial.data(),
                                  finished.data(), sum.data()));
  EXPECT_EQ(sum.ToHost()[0], blocks * (blocks + 1) / 2);
}

GPU_TEST(InvalidLaunches) {
  const int invalid = cudaErrorInvalidConfiguration;
  EXPECT_EQ(LaunchNothing(nullptr, 1, 1024, 48 << 10), cudaSuccess);
  EXPECT_EQ(LaunchNothing(nullptr, 1, 1025, 0), invalid);
  EXPECT_EQ(LaunchNothing(nullptr, 1, 0, 0), invalid);
  EXPECT_EQ(LaunchNothing(nullptr, 0, 1, 0), invalid);
  EXPECT_EQ(LaunchNothing(nullptr, 0x80000000u, 1, 0), invalid);
  EXPECT_EQ(LaunchNothing(nullptr, 1, 1, (48 << 10) + 1),
            static_cast<int>(cudaErrorInvalidValue));
  EXPECT_EQ(LaunchNothing(nullptr, 1, 1, 0), cudaSuccess);
  const cudaError_t error = cudaErrorInvalidConfiguration;
  EXPECT_EQ(std::string(cudaGetErrorName(error)),
            "cudaErrorInvalidConfiguration");
  EXPECT_EQ(std::string(cudaGetErrorString(error)),
            "invalid configuration argument");
}

size_t Offset(int row, int column, int stride, bool by_row) {
  return static_cast<size_t>(by_row ? row * stride + column
                                    : column * stride + row);
}

// Integers, of which all types have the products and sums.
int Factor(int row, int column) { return (row * 7 + column * 5) % 11 - 5; }

template <typename T>
void TestTileProducts(TileLayouts layouts) {
  const int columns = kTileWarps * kTileSide;
  const size_t factor_size = static_cast<size_t>(kFactorStride) * kTileTerms;
  const size_t sums_size = static_cast<size_t>(kSumStride) * columns;
  // What is between the rows is not to be read.
  const T nan = static_cast<T>(std::nanf(""));
  std::vector<T> a(factor_size, nan);
  std::vector<T> b(factor_size, nan);
  std::vector<float> c(sums_size, std::nanf(""));
  std::vector<float> scale(sums_size, std::nanf(""));
  std::vector<float> expected(sums_size, -1.f);
  for (int k = 0; k < kTileTerms; ++k) {
    for (int row = 0; row < kTileSide; ++row) {
      a[Offset(row, k, kFactorStride, layouts.a_by_row)] =
          static_cast<T>(static_cast<float>(Factor(row, k)));
    }
    for (int column = 0; column < columns; ++column) {
      b[Offset(k, column, kFactorStride, layouts.b_by_row)] =
          static_cast<T>(static_cast<float>(Factor(column, k + 3)));
    }
  }
  for (int row = 0; row < kTileSide; ++row) {
    for (int column = 0; column < columns; ++column) {
      const size_t i = Offset(row, column, kSumStride, layouts.sums_by_row);
      int sum = row - column;
      for (int k = 0; k < kTileTerms; ++k) {
        sum += Factor(row, k) * Factor(column, k + 3);
      }
      c[i] = static_cast<float>(row - column);
      scale[i] = static_cast<float>(row + 1);
      expected[i] = static_cast<float>(sum * (row + 1));
    }
  }
  const DeviceArray<T> device_a(a), device_b(b);
  const DeviceArray<float> device_c(c), device_scale(scale);
  DeviceArray<float> d(sums_size, -1.f);
  EXPECT_LAUNCHED(LaunchTileProducts(nullptr, layouts, device_a.data(),
                                     device_b.data(), device_c.data(),
                                     device_scale.data(), d.data()));
  const std::vector<float> values = d.ToHost();
  for (size_t i = 0; i < sums_size; ++i) EXPECT_EQ(values[i], expected[i]);
}

// As the GPU that has them, and the last one that has not.
GPU_TEST(TensorCoresOfAllLayouts) {
  namespace gpu = tensorflow_custom_ops::gpu;
  for (int bits = 0; bits < 8; ++bits) {
    const TileLayouts layouts = {(bits & 1) != 0, (bits & 2) != 0,
                                 (bits & 4) != 0};
    gpu_test::OnArchitectures({610, 700},
                              [&] { TestTileProducts<gpu::Half>(layouts); });
    gpu_test::OnArchitectures(
        {750, 800}, [&] { TestTileProducts<gpu::BFloat16>(layouts); });
  }
}

}  // namespace
}  // namespace primitives
