// SPDX-License-Identifier: Apache-2.0
//
// Tests of GPU kernels, in the emulator or, compiled by nvcc, on a GPU:
//
//   GPU_TEST(Doubles) {
//     DeviceArray<float> x({1, 2, 3});
//     EXPECT_LAUNCHED(LaunchDouble(nullptr, x.size(), x.data()));
//     EXPECT_EQ(x.ToHost()[2], 6);
//   }
//
// gpu_test_main.cc has the main function. In the emulator it runs the tests in
// forward, reverse and three random orders, or in that of CUDA_EMULATOR_ORDER.
#ifndef TOOLS_CUDA_EMULATOR_GPU_TEST_H_
#define TOOLS_CUDA_EMULATOR_GPU_TEST_H_

#ifdef __CUDACC__
#include <cuda_runtime.h>
#else
#include "tools/cuda_emulator/cuda_emulator.h"
#endif

#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <new>
#include <sstream>
#include <string>
#include <vector>

namespace gpu_test {

struct Test {
  const char* file;
  const char* name;
  void (*function)();
};

inline std::vector<Test>& Tests() {
  static std::vector<Test> tests;
  return tests;
}

struct Registration {
  Registration(const char* file, const char* name, void (*function)()) {
    Tests().push_back({file, name, function});
  }
};

inline std::atomic<int>& Failures() {
  static std::atomic<int> failures(0);
  return failures;
}

inline void Fail(const char* file, int line, const std::string& message) {
  constexpr int kShown = 20;
  const int failures = ++Failures();
  if (failures <= kShown) {
    std::fprintf(stderr, "%s:%d: %s\n", file, line, message.c_str());
  }
  if (failures == kShown) std::fprintf(stderr, "Further ones are not shown.\n");
}

template <typename A, typename B>
void ExpectEqual(const char* file, int line, const char* text, const A& actual,
                 const B& expected) {
  if (actual == expected) return;
  std::ostringstream message;
  message.precision(17);
  message << text << " is " << actual << ", expected " << expected;
  Fail(file, line, message.str());
}

// NaN is near to NaN alone, an infinity to itself alone.
inline void ExpectNear(const char* file, int line, const char* text,
                       double actual, double expected, double tolerance) {
  if (actual == expected || std::fabs(actual - expected) <= tolerance) return;
  if (std::isnan(actual) && std::isnan(expected)) return;
  std::ostringstream message;
  message.precision(17);
  message << text << " is " << actual << ", expected " << expected
          << " with a tolerance of " << tolerance;
  Fail(file, line, message.str());
}

inline std::string ErrorMessage(int error) {
  return cudaGetErrorString(static_cast<cudaError_t>(error));
}

// Waits for the kernel, too: on a GPU, it is then that its errors show.
inline void ExpectLaunched(const char* file, int line, int error) {
#ifdef __CUDACC__
  if (error == cudaSuccess) error = cudaDeviceSynchronize();
#endif
  if (error != cudaSuccess) Fail(file, line, ErrorMessage(error));
}

// Calls the function as on GPUs of some architectures, such as 700 for sm_70.
// On a GPU, which has its own, once.
template <typename Function>
void OnArchitectures(std::initializer_list<int> architectures,
                     Function function) {
#ifdef __CUDACC__
  (void)architectures;
  function();
#else
  const int before = cuda_emulator::Architecture();
  for (const int architecture : architectures) {
    cuda_emulator::SetArchitecture(architecture);
    function();
  }
  cuda_emulator::SetArchitecture(before);
#endif
}

}  // namespace gpu_test

#define GPU_TEST(name)                                                     \
  static void name();                                                      \
  static const gpu_test::Registration name##_registration(__FILE__, #name, \
                                                          name);           \
  static void name()

#define EXPECT_TRUE(condition) \
  ((condition)                 \
       ? (void)0               \
       : gpu_test::Fail(__FILE__, __LINE__, #condition " does not hold"))
#define EXPECT_EQ(actual, expected) \
  gpu_test::ExpectEqual(__FILE__, __LINE__, #actual, actual, expected)
#define EXPECT_NEAR(actual, expected, tolerance) \
  gpu_test::ExpectNear(__FILE__, __LINE__, #actual, actual, expected, tolerance)
// For what functions that launch kernels return.
#define EXPECT_LAUNCHED(error) \
  gpu_test::ExpectLaunched(__FILE__, __LINE__, static_cast<int>(error))

// An array in the memory of the device.
template <typename T>
class DeviceArray {
 public:
  explicit DeviceArray(const std::vector<T>& values) : size_(values.size()) {
    Allocate();
    Copy(data_, values.data());
  }
  DeviceArray(size_t size, const T& value)
      : DeviceArray(std::vector<T>(size, value)) {}
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  T* data() const { return data_; }
  size_t size() const { return size_; }

  std::vector<T> ToHost() const {
    std::vector<T> values(size_);
    Copy(values.data(), data_);
    return values;
  }

#ifdef __CUDACC__
  ~DeviceArray() { cudaFree(data_); }

 private:
  void Allocate() { Check(cudaMalloc(&data_, size_ * sizeof(T))); }

  void Copy(T* to, const T* from) const {
    Check(cudaMemcpy(to, from, size_ * sizeof(T), cudaMemcpyDefault));
  }

  static void Check(cudaError_t error) {
    if (error == cudaSuccess) return;
    std::fprintf(stderr, "DeviceArray: %s\n", cudaGetErrorString(error));
    std::exit(1);
  }
#else
  ~DeviceArray() { operator delete[](data_, kAlignment); }

 private:
  // That of CUDA's arrays.
  static constexpr std::align_val_t kAlignment{256};

  // Of the exact size, for AddressSanitizer.
  void Allocate() { data_ = new (kAlignment) T[size_]; }

  void Copy(T* to, const T* from) const {
    for (size_t i = 0; i < size_; ++i) to[i] = from[i];
  }
#endif

  size_t size_;
  T* data_ = nullptr;
};

#endif  // TOOLS_CUDA_EMULATOR_GPU_TEST_H_
