// SPDX-License-Identifier: Apache-2.0
#include "tensorflow_custom_ops/core/elementwise/gpu.h"

#include <algorithm>
#include <complex>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "tensorflow_custom_ops/core/elementwise/gpu_test_functors.h"
#include "tensorflow_custom_ops/core/elementwise/signature.h"
#include "tensorflow_custom_ops/core/gpu/device.h"
#include "tensorflow_custom_ops/core/gpu/test_cases.h"
#include "tools/cuda_emulator/gpu_test.h"

namespace tensorflow_custom_ops {
namespace elementwise {
namespace {

// What exact results are computed with.
template <typename T>
struct ExactOf {
  using Type = double;
};
template <typename T>
struct ExactOf<std::complex<T>> {
  using Type = std::complex<double>;
};
template <typename T>
using Exact = typename ExactOf<T>::Type;

template <typename T>
Exact<T> ToExact(T value) {
  return static_cast<Exact<T>>(static_cast<gpu::ComputeType<T>>(value));
}

// An exact result as type T has it.
template <typename T>
Exact<T> Round(Exact<T> value) {
  return ToExact(static_cast<T>(static_cast<gpu::ComputeType<T>>(value)));
}

// Multiples of 1/4 from -2 to 2. What the tests compute of them has no more
// bits than a float, but more than half types.
template <typename T>
std::vector<T> Values(int64_t n, int64_t seed) {
  std::vector<T> values;
  for (int64_t i = 0; i < n; ++i) {
    const auto number = static_cast<int>((i * 7 + seed * 3) % 17 - 8);
    values.push_back(static_cast<T>(static_cast<float>(number) / 4));
  }
  return values;
}
template <>
std::vector<std::complex<float>> Values(int64_t n, int64_t seed) {
  const std::vector<float> parts = Values<float>(n + 1, seed);
  std::vector<std::complex<float>> values;
  for (int64_t i = 0; i < n; ++i) values.push_back({parts[i], parts[i + 1]});
  return values;
}
template <>
std::vector<std::complex<double>> Values(int64_t n, int64_t seed) {
  const auto values = Values<std::complex<float>>(n, seed);
  return {values.begin(), values.end()};
}

// Bit d: something is so in dimension d. Bit k: something is so for array k.
using Bits = unsigned;
bool Has(Bits bits, int i) { return (bits >> i & 1) != 0; }

// The shape of the outputs, and for each input in which dimensions it is
// repeated.
struct Shape {
  std::vector<int64_t> dims;
  std::vector<Bits> repeated;
};

Shape WithoutBroadcast(int64_t n, int inputs) {
  return {{n}, std::vector<Bits>(inputs, 0)};
}

// The inputs and outputs of a launch.
template <typename T>
class Arrays {
 public:
  // The arrays `misaligned`, first those of the inputs, begin one element after
  // where vectors are aligned.
  Arrays(const Shape& shape, int num_outputs, Bits misaligned = 0)
      : num_inputs_(static_cast<int>(shape.repeated.size())) {
    args_.type = kTypeOf<T>;
    args_.attributes = attributes_;
    args_.rank = static_cast<int>(shape.dims.size());
    std::copy(shape.dims.begin(), shape.dims.end(), args_.dims);
    for (const int64_t size : shape.dims) n_ *= size;
    for (int k = 0; k < num_inputs_; ++k) {
      const int64_t offset = Has(misaligned, k) ? 1 : 0;
      inputs_.push_back(Values<T>(offset + SetStrides(shape, k), k));
      device_.push_back(std::make_unique<DeviceArray<T>>(inputs_.back()));
      inputs_.back().erase(inputs_.back().begin(),
                           inputs_.back().begin() + offset);
      args_.inputs[k] = device_.back()->data() + offset;
      elements_.push_back(FindElements(shape, k));
    }
    for (int k = 0; k < num_outputs; ++k) {
      offsets_.push_back(Has(misaligned, num_inputs_ + k) ? 1 : 0);
      device_.push_back(
          std::make_unique<DeviceArray<T>>(n_ + offsets_.back(), T(99.f)));
      args_.outputs[k] = device_.back()->data() + offsets_.back();
    }
  }

  int64_t n() const { return n_; }
  GpuArgs& args() { return args_; }

  // The value of input k that belongs to element i of the outputs.
  Exact<T> Input(int k, int64_t i) const {
    return ToExact(inputs_[k][elements_[k][i]]);
  }

  // Makes an input the only output.
  void MakeOutput(int input) {
    args_.outputs[0] = const_cast<void*>(args_.inputs[input]);
    std::swap(device_[input], device_[num_inputs_]);
  }

  // Checks that output k is expected(i) for each element i.
  template <typename Function>
  void ExpectOutput(int k, Function expected) const {
    const std::vector<T> values = device_[num_inputs_ + k]->ToHost();
    for (int64_t i = 0; i < n_; ++i) {
      EXPECT_EQ(ToExact(values[offsets_[k] + i]), Round<T>(expected(i)));
    }
  }

 private:
  // Returns how many elements the input has.
  int64_t SetStrides(const Shape& shape, int k) {
    int64_t stride = 1;
    for (int d = args_.rank - 1; d >= 0; --d) {
      const bool repeated = Has(shape.repeated[k], d);
      args_.strides[k][d] = repeated ? 0 : stride;
      if (!repeated) stride *= shape.dims[d];
    }
    return stride;
  }

  // The element of input k for each of the outputs. It counts through all.
  std::vector<int64_t> FindElements(const Shape& shape, int k) const {
    std::vector<int64_t> elements;
    std::vector<int64_t> index(args_.rank, 0);
    for (int64_t i = 0; i < n_; ++i) {
      int64_t element = 0;
      for (int d = 0; d < args_.rank; ++d) {
        if (!Has(shape.repeated[k], d)) {
          element = element * shape.dims[d] + index[d];
        }
      }
      elements.push_back(element);
      for (int d = args_.rank - 1; d >= 0; --d) {
        if (++index[d] < shape.dims[d]) break;
        index[d] = 0;
      }
    }
    return elements;
  }

  const double attributes_[2] = {0.5, 2};
  const int num_inputs_;
  int64_t n_ = 1;
  GpuArgs args_ = {};
  std::vector<std::vector<T>> inputs_;
  std::vector<std::vector<int64_t>> elements_;
  std::vector<int64_t> offsets_;  // of the outputs
  std::vector<std::unique_ptr<DeviceArray<T>>> device_;
};

// Launches the functor of products that has type T.
template <typename T>
gpu::Error LaunchProduct(const GpuArgs& args) {
  return Contains(TestProduct::kTypes, kTypeOf<T>)
             ? LaunchTestProduct(args)
             : LaunchTestOtherProduct(args);
}

template <typename T>
void TestProducts(const Shape& shape, Bits misaligned = 0) {
  Arrays<T> x(shape, 1, misaligned);
  EXPECT_LAUNCHED(LaunchProduct<T>(x.args()));
  x.ExpectOutput(0, [&](int64_t i) {
    return x.Input(0, i) * x.Input(1, i) - x.Input(0, i);
  });
}

template <typename T>
void TestProductsOfSizes() {
  for (const int64_t n : gpu::kTestSizes) {
    for (Bits misaligned = 0; misaligned < 8; ++misaligned) {
      TestProducts<T>(WithoutBroadcast(n, 2), misaligned);
    }
  }
}

GPU_TEST(AllTypes) {
  TestProductsOfSizes<gpu::Half>();
  TestProductsOfSizes<gpu::BFloat16>();
  TestProductsOfSizes<float>();
  TestProductsOfSizes<double>();
  TestProductsOfSizes<int64_t>();
  TestProductsOfSizes<std::complex<float>>();
  TestProductsOfSizes<std::complex<double>>();
}

GPU_TEST(MoreElementsThanThreads) {
  constexpr int64_t kMostThreads = gpu::kMostBlocks * gpu::kThreads;
  TestProducts<double>(WithoutBroadcast(2 * kMostThreads + 301, 2));
  TestProducts<double>(WithoutBroadcast(kMostThreads + 300, 2), 1);
}

GPU_TEST(IntegersWrapAround) {
  constexpr int64_t kLargest = std::numeric_limits<int64_t>::max();
  DeviceArray<int64_t> a(std::vector<int64_t>{kLargest, kLargest, 5});
  DeviceArray<int64_t> b(std::vector<int64_t>{3, -1, -2});
  DeviceArray<int64_t> output(3, 0);
  GpuArgs args = {};
  args.type = Type::kInt64;
  args.inputs[0] = a.data();
  args.inputs[1] = b.data();
  args.outputs[0] = output.data();
  args.rank = 1;
  args.dims[0] = 3;
  args.strides[0][0] = args.strides[1][0] = 1;
  EXPECT_LAUNCHED(LaunchTestOtherProduct(args));
  const std::vector<int64_t> results = output.ToHost();
  EXPECT_EQ(results[0], -2);  // 2 * (2^63 - 1)
  EXPECT_EQ(results[1], 2);   // -2 * (2^63 - 1)
  EXPECT_EQ(results[2], -15);
}

template <typename T>
void TestProductGradients(const Shape& shape) {
  for (int derivative = 0; derivative < NumDerivatives(2, 2); ++derivative) {
    Arrays<T> x(shape, 2);
    x.args().is_gradient = true;
    x.args().derivative = derivative;
    EXPECT_LAUNCHED(LaunchTestProduct(x.args()));
    x.ExpectOutput(0, [&](int64_t i) -> Exact<T> {
      if (derivative == 0) return x.Input(2, i) * (x.Input(1, i) - 1.);
      return derivative == 2 ? x.Input(2, i) : 0;
    });
    x.ExpectOutput(1, [&](int64_t i) -> Exact<T> {
      if (derivative == 0) return x.Input(2, i) * x.Input(0, i);
      return derivative == 1 ? x.Input(2, i) : 0;
    });
  }
}

GPU_TEST(GradientsOfTwoInputs) {
  for (const int64_t n : gpu::kTestSizes) {
    TestProductGradients<gpu::Half>(WithoutBroadcast(n, 3));
    TestProductGradients<gpu::BFloat16>(WithoutBroadcast(n, 3));
    TestProductGradients<float>(WithoutBroadcast(n, 3));
    TestProductGradients<double>(WithoutBroadcast(n, 3));
  }
  TestProductGradients<float>({{3, 8}, {0b01, 0b10, 0}});
}

// The derivative of so high an order of TestPolynomial, with the attributes of
// Arrays.
double Polynomial(int order, double x) {
  const double derivatives[] = {x * x * x * x / 2 + 2 * x * x,
                                2 * x * x * x + 4 * x, 6 * x * x + 4};
  return derivatives[order];
}

template <typename T>
void TestPolynomials() {
  Arrays<T> value(WithoutBroadcast(257, 1), 1);
  EXPECT_LAUNCHED(LaunchTestPolynomial(value.args()));
  value.ExpectOutput(
      0, [&](int64_t i) { return Polynomial(0, value.Input(0, i)); });
  for (int derivative = 0; derivative < TestPolynomial::kOrder; ++derivative) {
    Arrays<T> x(WithoutBroadcast(257, 2), 1);
    x.args().is_gradient = true;
    x.args().derivative = derivative;
    EXPECT_LAUNCHED(LaunchTestPolynomial(x.args()));
    x.ExpectOutput(0, [&](int64_t i) {
      return x.Input(1, i) * Polynomial(derivative + 1, x.Input(0, i));
    });
  }
}

GPU_TEST(AttributesAndHigherDerivatives) {
  TestPolynomials<gpu::Half>();
  TestPolynomials<double>();
}

GPU_TEST(ThreeInputs) {
  Arrays<float> x(WithoutBroadcast(257, 4), 3);
  x.args().is_gradient = true;
  EXPECT_LAUNCHED(LaunchTestLarger(x.args()));
  const auto is_less = [&](int64_t i) { return x.Input(0, i) < x.Input(1, i); };
  x.ExpectOutput(0, [&](int64_t i) { return is_less(i) ? 0 : x.Input(3, i); });
  x.ExpectOutput(1, [&](int64_t i) {
    return is_less(i) ? x.Input(3, i) * x.Input(2, i) : 0;
  });
  x.ExpectOutput(2, [&](int64_t i) {
    return is_less(i) ? x.Input(3, i) * x.Input(1, i) : 0;
  });
}

template <typename T>
void TestSums(const Shape& shape, Bits misaligned = 0) {
  Arrays<T> x(shape, 1, misaligned);
  EXPECT_LAUNCHED(LaunchTestSum(x.args()));
  x.ExpectOutput(0, [&](int64_t i) {
    return x.Input(0, i) + 2 * x.Input(1, i) + 4 * x.Input(2, i) +
           8 * x.Input(3, i);
  });
}

GPU_TEST(Broadcasts) {
  const Shape shapes[] = {
      // Scalars
      {{1031}, {0, 1, 0, 0}},
      {{1031}, {1, 1, 1, 1}},
      {{0}, {0, 1, 0, 0}},
      // Rows of whole vectors, and others
      {{5, 64}, {0, 0b01, 0b10, 0b11}},
      {{5, 63}, {0, 0b01, 0b10, 0b11}},
      {{64, 5}, {0b10, 0b01, 0b10, 0b01}},
      {{300, 8}, {0b01, 0b01, 0b01, 0b01}},
      {{0, 8}, {0, 0b01, 0b10, 0b11}},
      {{7, 3, 16}, {0b010, 0b101, 0b100, 0b011}},
      // Vectors would have elements of several rows
      {{8, 2}, {0, 0b01, 0b10, 0}},
      {{2, 3, 2, 3, 2, 3, 2, 8},
       {0b01010101, 0b10101010, 0b00001111, 0b11110000}},
      {{3, 2, 3, 2, 1, 3, 2, 5},
       {0b10000000, 0b00000001, 0b11000011, 0b00111100}},
  };
  for (const Shape& shape : shapes) {
    for (const Bits misaligned : {0, 0b1, 0b100, 0b10000}) {
      TestSums<gpu::Half>(shape, misaligned);
      TestSums<float>(shape, misaligned);
      TestSums<double>(shape, misaligned);
    }
  }
}

template <typename T>
void TestInPlace(const Shape& shape, int input) {
  Arrays<T> x(shape, 1);
  x.MakeOutput(input);
  EXPECT_LAUNCHED(LaunchProduct<T>(x.args()));
  x.ExpectOutput(0, [&](int64_t i) {
    return x.Input(0, i) * x.Input(1, i) - x.Input(0, i);
  });
}

GPU_TEST(OutputsMayBeInputs) {
  for (const int64_t n : gpu::kTestSizes) {
    for (const int input : {0, 1}) {
      TestInPlace<gpu::Half>(WithoutBroadcast(n, 2), input);
      TestInPlace<float>(WithoutBroadcast(n, 2), input);
      TestInPlace<std::complex<double>>(WithoutBroadcast(n, 2), input);
    }
  }
  TestInPlace<float>({{6, 8}, {0, 0b01}}, 0);
  TestInPlace<float>({{6, 7}, {0b10, 0}}, 1);
}

GPU_TEST(RefusesWhatThereIsNot) {
  const auto launch = [](LaunchFunction function, auto change) {
    Arrays<float> x(WithoutBroadcast(8, 5), 4);
    change(x.args());
    EXPECT_EQ(function(x.args()), int{cudaErrorInvalidValue});
    for (int k = 0; k < 4; ++k) {
      x.ExpectOutput(k, [](int64_t) { return 99; });
    }
  };
  launch(LaunchTestOtherProduct,
         [](GpuArgs& args) { args.type = Type::kInt32; });
  launch(LaunchTestSum, [](GpuArgs& args) { args.type = Type::kInt64; });
  launch(LaunchTestSum, [](GpuArgs& args) { args.type = Type::kComplex64; });
  launch(LaunchTestSum, [](GpuArgs& args) { args.is_gradient = true; });
  launch(LaunchTestProduct, [](GpuArgs& args) {
    args.is_gradient = true;
    args.derivative = NumDerivatives(2, 2);
  });
  launch(LaunchTestProduct, [](GpuArgs& args) { args.rank = 0; });
  launch(LaunchTestProduct, [](GpuArgs& args) { args.rank = kMaxRank + 1; });
}

}  // namespace
}  // namespace elementwise
}  // namespace tensorflow_custom_ops
