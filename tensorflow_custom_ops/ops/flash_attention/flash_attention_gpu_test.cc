// SPDX-License-Identifier: Apache-2.0
#include "tensorflow_custom_ops/ops/flash_attention/flash_attention_gpu.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <type_traits>
#include <vector>

#include "tensorflow_custom_ops/core/gpu/test_cases.h"
#include "tools/cuda_emulator/gpu_test.h"

namespace tensorflow_custom_ops {
namespace flash_attention {
namespace {

using Doubles = std::vector<double>;

template <typename T>
Doubles AsDoubles(const std::vector<T>& values) {
  Doubles result;
  for (const T value : values) result.push_back(gpu::AsDouble(value));
  return result;
}

// All arrays of a problem.
struct Results {
  Doubles output;
  Doubles query_grad;
  Doubles key_grad;
  Doubles value_grad;
  Doubles bias_grad;
};

struct Inputs {
  Doubles query;
  Doubles key;
  Doubles value;
  Doubles bias;
  Doubles output_grad;
};

// The definition, by the matrix of all scores of a head.
Results Expected(const Sizes& sizes, double scale, const Bias& bias,
                 const Inputs& in) {
  Results out = {Doubles(in.query.size()), Doubles(in.query.size()),
                 Doubles(in.key.size()), Doubles(in.key.size()),
                 Doubles(in.bias.size())};
  const int64_t d = sizes.head_dim;
  for (int64_t b = 0; b < sizes.batch; ++b) {
    for (int64_t h = 0; h < sizes.heads; ++h) {
      for (int64_t i = 0; i < sizes.q_length; ++i) {
        const int64_t q = ((b * sizes.q_length + i) * sizes.heads + h) * d;
        const auto key = [&](int64_t j) {
          return ((b * sizes.kv_length + j) * sizes.kv_heads +
                  h / Group(sizes)) *
                 d;
        };
        const auto bias_at = [&](int64_t j) {
          return b * bias.batch_stride + h * bias.head_stride +
                 i * bias.query_stride + j * bias.key_stride;
        };
        const Range visible = Visible(sizes, i);
        Doubles p(sizes.kv_length);
        double sum = 0;
        for (int64_t j = visible.begin; j < visible.end; ++j) {
          double score = in.bias.empty() ? 0 : in.bias[bias_at(j)];
          for (int64_t k = 0; k < d; ++k) {
            score += scale * in.query[q + k] * in.key[key(j) + k];
          }
          sum += p[j] = std::exp(score);
        }
        double delta = 0;
        for (int64_t j = visible.begin; j < visible.end; ++j) {
          if (sum > 0) p[j] /= sum;
          for (int64_t k = 0; k < d; ++k) {
            out.output[q + k] += p[j] * in.value[key(j) + k];
          }
        }
        for (int64_t k = 0; k < d; ++k) {
          delta += out.output[q + k] * in.output_grad[q + k];
        }
        for (int64_t j = visible.begin; j < visible.end; ++j) {
          double grad = -delta;
          for (int64_t k = 0; k < d; ++k) {
            grad += in.output_grad[q + k] * in.value[key(j) + k];
            out.value_grad[key(j) + k] += p[j] * in.output_grad[q + k];
          }
          grad *= p[j];
          if (!in.bias.empty()) out.bias_grad[bias_at(j)] += grad;
          for (int64_t k = 0; k < d; ++k) {
            out.query_grad[q + k] += scale * grad * in.key[key(j) + k];
            out.key_grad[key(j) + k] += scale * grad * in.query[q + k];
          }
        }
      }
    }
  }
  return out;
}

// Relative to results of size 1, of sums of a hundred terms.
template <typename T>
constexpr double kTolerance = 512 * std::numeric_limits<T>::epsilon();
template <>
inline constexpr double kTolerance<gpu::Half> = 1.0 / (1 << 8);
template <>
inline constexpr double kTolerance<gpu::BFloat16> = 1.0 / (1 << 5);

template <typename T>
void ExpectNear(const DeviceArray<T>& actual, const Doubles& expected) {
  const Doubles values = AsDoubles(actual.ToHost());
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(values[i], expected[i],
                kTolerance<T> * std::fmax(1, std::fabs(expected[i])));
  }
}

// From -1 to 1, so that gradients are no small differences of large numbers.
template <typename T>
std::vector<T> Values(int64_t n, uint32_t seed) {
  std::vector<T> values;
  for (const float value : gpu::TestValues<float>(n, seed)) {
    values.push_back(static_cast<T>(value / 16));
  }
  return values;
}

// Arrays begin `shift` elements after what CUDA allocates.
template <typename T>
void TestAttention(const Sizes& sizes, Bias bias = {}, int64_t biases = 0,
                   int64_t shift = 0) {
  using S = std::conditional_t<std::is_same_v<T, double>, double, float>;
  const double scale = 0.25;
  const int64_t queries =
      sizes.batch * sizes.q_length * sizes.heads * sizes.head_dim;
  const int64_t keys =
      sizes.batch * sizes.kv_length * sizes.kv_heads * sizes.head_dim;
  const auto query = Values<T>(queries, 1);
  const auto key = Values<T>(keys, 2);
  const auto value = Values<T>(keys, 3);
  const auto bias_values = Values<T>(biases, 4);
  const auto output_grad = Values<T>(queries, 5);
  const auto shifted = [=](std::vector<T> values) {
    values.insert(values.begin(), static_cast<size_t>(shift), T(0.f));
    return values;
  };
  DeviceArray<T> q(shifted(query)), k(shifted(key)), v(shifted(value)),
      b(bias_values), dy(shifted(output_grad));
  // NaN, which must not stay.
  const T nan = static_cast<T>(std::nanf(""));
  DeviceArray<T> output(queries, nan), dq(queries, nan), dk(keys, nan),
      dv(keys, nan), db(biases, nan);
  DeviceArray<S> log_sum_exp(sizes.batch * sizes.heads * sizes.q_length, S(0));
  if (biases > 0) bias.data = b.data();
  const Forward forward = {sizes,
                           scale,
                           q.data() + shift,
                           k.data() + shift,
                           v.data() + shift,
                           bias,
                           output.data(),
                           log_sum_exp.data()};
  EXPECT_LAUNCHED(LaunchForward(nullptr, gpu::kTypeOf<T>, forward));
  EXPECT_LAUNCHED(LaunchBackward(
      nullptr, gpu::kTypeOf<T>,
      {forward, dy.data() + shift, dq.data(), dk.data(), dv.data(),
       biases > 0 ? static_cast<void*>(db.data()) : nullptr}));
  const Results expected =
      Expected(sizes, scale, bias,
               {AsDoubles(query), AsDoubles(key), AsDoubles(value),
                AsDoubles(bias_values), AsDoubles(output_grad)});
  ExpectNear(output, expected.output);
  ExpectNear(dq, expected.query_grad);
  ExpectNear(dk, expected.key_grad);
  ExpectNear(dv, expected.value_grad);
  ExpectNear(db, expected.bias_grad);
}

Sizes SizesOf(int64_t batch, int64_t heads, int64_t kv_heads, int64_t q_length,
              int64_t kv_length, int64_t head_dim, bool causal = false,
              int64_t window = 0) {
  return {batch,     heads,    kv_heads, q_length,
          kv_length, head_dim, causal,   window};
}

GPU_TEST(Types) {
  TestAttention<gpu::Half>(SizesOf(1, 2, 1, 5, 7, 8));
  TestAttention<gpu::BFloat16>(SizesOf(1, 2, 1, 5, 7, 8));
  TestAttention<float>(SizesOf(1, 2, 1, 5, 7, 8));
  TestAttention<double>(SizesOf(1, 2, 1, 5, 7, 8));
}

// On GPUs without and with tensor cores for the type. The others of these tests
// are on one that has them for both.
GPU_TEST(TypesOnOlderGpus) {
  const Sizes sizes = SizesOf(1, 2, 1, 5, 7, 8);
  gpu_test::OnArchitectures({600, 700},
                            [&] { TestAttention<gpu::Half>(sizes); });
  gpu_test::OnArchitectures({700, 800},
                            [&] { TestAttention<gpu::BFloat16>(sizes); });
}

#ifndef __CUDACC__
// The outputs of one problem on some architectures.
template <typename T>
std::vector<Doubles> Outputs(std::initializer_list<int> architectures) {
  const int64_t head_dim = 16;
  const int64_t keys = 5;
  DeviceArray<T> q(Values<T>(head_dim, 1)), k(Values<T>(keys * head_dim, 2)),
      v(Values<T>(keys * head_dim, 3)), output(head_dim, T(0.f));
  DeviceArray<float> log_sum_exp(1, 0.f);
  std::vector<Doubles> outputs;
  gpu_test::OnArchitectures(architectures, [&] {
    EXPECT_LAUNCHED(LaunchForward(nullptr, gpu::kTypeOf<T>,
                                  {SizesOf(1, 1, 1, 1, keys, head_dim),
                                   1.0,
                                   q.data(),
                                   k.data(),
                                   v.data(),
                                   {},
                                   output.data(),
                                   log_sum_exp.data()}));
    outputs.push_back(AsDoubles(output.ToHost()));
  });
  return outputs;
}

// Tensor cores show in the results, for they multiply rounded probabilities.
GPU_TEST(WhichGpusHaveTensorCores) {
  const std::vector<Doubles> half = Outputs<gpu::Half>({600, 620, 700, 900});
  EXPECT_TRUE(half[0] == half[1]);
  EXPECT_TRUE(half[1] != half[2]);
  EXPECT_TRUE(half[2] == half[3]);
  const std::vector<Doubles> bfloat16 =
      Outputs<gpu::BFloat16>({600, 750, 800, 900});
  EXPECT_TRUE(bfloat16[0] == bfloat16[1]);
  EXPECT_TRUE(bfloat16[1] != bfloat16[2]);
  EXPECT_TRUE(bfloat16[2] == bfloat16[3]);
  const std::vector<Doubles> floats = Outputs<float>({600, 900});
  EXPECT_TRUE(floats[0] == floats[1]);
}
#endif

// Also empty ones.
GPU_TEST(SmallSizes) {
  TestAttention<float>(SizesOf(1, 1, 1, 1, 1, 1));
  TestAttention<float>(SizesOf(0, 1, 1, 3, 3, 2));
  TestAttention<float>(SizesOf(1, 1, 1, 0, 3, 2));
  TestAttention<float>(SizesOf(1, 1, 1, 3, 0, 2));
  TestAttention<float>(SizesOf(2, 4, 2, 3, 5, 3));
}

GPU_TEST(SmallSizesOfHalfTypes) {
  TestAttention<gpu::Half>(SizesOf(1, 1, 1, 1, 1, 1));
  TestAttention<gpu::Half>(SizesOf(1, 1, 1, 3, 0, 2));
  TestAttention<gpu::BFloat16>(SizesOf(2, 4, 2, 3, 5, 3));
}

// Rows of some length are copied by vectors, where they are aligned.
GPU_TEST(RowsOfHalfTypes) {
  for (const int64_t head_dim : {8, 16, 20, 24}) {
    for (const int64_t shift : {0, 1}) {
      TestAttention<gpu::Half>(SizesOf(1, 1, 1, 3, 5, head_dim), {}, 0, shift);
    }
  }
}

GPU_TEST(SeveralTiles) {
  TestAttention<gpu::Half>(SizesOf(1, 2, 1, 34, 67, 5));
  TestAttention<gpu::BFloat16>(SizesOf(1, 1, 1, 66, 130, 24, true));
  TestAttention<float>(SizesOf(1, 2, 1, 34, 67, 5));
  TestAttention<double>(SizesOf(1, 2, 2, 34, 35, 33));
}

// Two tiles of columns, and more.
GPU_TEST(WideHeads) {
  for (const int64_t head_dim : {65, 130}) {
    TestAttention<float>(SizesOf(1, 1, 1, 3, 4, head_dim));
    TestAttention<gpu::BFloat16>(SizesOf(1, 1, 1, 3, 4, head_dim));
  }
  TestAttention<gpu::Half>(SizesOf(1, 1, 1, 3, 67, 136));
}

GPU_TEST(WhatQueriesSee) {
  TestAttention<float>(SizesOf(1, 2, 1, 9, 9, 4, true, 3));
  TestAttention<float>(SizesOf(1, 2, 1, 9, 9, 4, false, 3));
  TestAttention<gpu::Half>(SizesOf(1, 2, 1, 9, 9, 4, false, 3));
  TestAttention<gpu::BFloat16>(SizesOf(1, 1, 1, 7, 4, 4, true));
  TestAttention<gpu::Half>(SizesOf(1, 2, 1, 67, 70, 8, true, 5));
  // The first queries see nothing.
  TestAttention<float>(SizesOf(1, 1, 1, 7, 4, 4, true));
  // Tiles that do not meet.
  TestAttention<double>(SizesOf(1, 1, 1, 70, 70, 2, true, 5));
}

GPU_TEST(Biases) {
  const Sizes sizes = SizesOf(2, 4, 2, 3, 5, 4);
  TestAttention<float>(sizes, {nullptr, 60, 15, 5, 1}, 120);
  TestAttention<float>(sizes, {nullptr, 0, 0, 5, 1}, 15);
  TestAttention<float>(sizes, {nullptr, 0, 3, 1, 0}, 12);
  TestAttention<gpu::Half>(sizes, {nullptr, 60, 15, 5, 1}, 120);
  TestAttention<gpu::BFloat16>(sizes, {nullptr, 0, 3, 1, 0}, 12);
  TestAttention<double>(SizesOf(1, 1, 1, 34, 35, 2, true),
                        {nullptr, 0, 0, 35, 1}, 34 * 35);
}

// More tiles than there are blocks.
GPU_TEST(ManyTiles) {
  const int64_t batch = kGpuMostBlocks + 2;
  // With one key, its value is the output.
  const std::vector<double> values = Values<double>(batch, 1);
  DeviceArray<double> q(batch, 1.0), k(batch, 1.0), v(values),
      output(batch, 0.0), log_sum_exp(batch, 0.0);
  EXPECT_LAUNCHED(LaunchForward(nullptr, gpu::Type::kDouble,
                                {SizesOf(batch, 1, 1, 1, 1, 1),
                                 1.0,
                                 q.data(),
                                 k.data(),
                                 v.data(),
                                 {},
                                 output.data(),
                                 log_sum_exp.data()}));
  ExpectNear(output, values);
}

GPU_TEST(LargeScores) {
  const float large = 1e4f;
  DeviceArray<float> q(1, large), output(1, 0.f), log_sum_exp(1, 0.f);
  DeviceArray<float> k(std::vector<float>{large, -large});
  DeviceArray<float> v(std::vector<float>{3, 5});
  const Forward problem = {SizesOf(1, 1, 1, 1, 2, 1),
                           1.0,
                           q.data(),
                           k.data(),
                           v.data(),
                           {},
                           output.data(),
                           log_sum_exp.data()};
  EXPECT_LAUNCHED(LaunchForward(nullptr, gpu::Type::kFloat, problem));
  EXPECT_EQ(output.ToHost()[0], 3.f);
  EXPECT_EQ(log_sum_exp.ToHost()[0], large * large);
}

// Whose scores are beyond the type's range.
GPU_TEST(LargeScoresOfHalf) {
  const float large = 1e4f;
  const std::vector<gpu::Half> queries(3, gpu::Half(large));
  const std::vector<gpu::Half> values = {gpu::Half(3.f), gpu::Half(5.f)};
  DeviceArray<gpu::Half> q(queries), output(3, gpu::Half(0.f));
  DeviceArray<gpu::Half> k(
      std::vector<gpu::Half>{gpu::Half(large), gpu::Half(-large)});
  DeviceArray<gpu::Half> v(values);
  DeviceArray<float> log_sum_exp(3, 0.f);
  // The first query sees nothing.
  EXPECT_LAUNCHED(LaunchForward(nullptr, gpu::Type::kHalf,
                                {SizesOf(1, 1, 1, 3, 2, 1, true),
                                 1.0,
                                 q.data(),
                                 k.data(),
                                 v.data(),
                                 {},
                                 output.data(),
                                 log_sum_exp.data()}));
  const Doubles outputs = AsDoubles(output.ToHost());
  const std::vector<float> sums = log_sum_exp.ToHost();
  EXPECT_EQ(outputs[0], 0.0);
  EXPECT_EQ(sums[0], -std::numeric_limits<float>::infinity());
  EXPECT_EQ(outputs[1], 3.0);
  EXPECT_EQ(outputs[2], 3.0);
  EXPECT_EQ(sums[2], gpu::AsDouble(queries[0]) * gpu::AsDouble(queries[0]));
}

}  // namespace
}  // namespace flash_attention
}  // namespace tensorflow_custom_ops
