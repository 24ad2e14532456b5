// SPDX-License-Identifier: Apache-2.0
// The functions of ops for one instruction set, whose name is ELEMENTWISE_ISA.
//
// A function that two objects for different instruction sets have under one
// name would be kept once by the linker, and crash processors that lack its
// instructions. So Eigen and this project's own namespace get another name in
// each, and a source that includes this includes no other header with functions
// before it. isa_symbols_test checks the result.
#ifndef TENSORFLOW_CUSTOM_OPS_CORE_ELEMENTWISE_CPU_FUNCTIONS_H_
#define TENSORFLOW_CUSTOM_OPS_CORE_ELEMENTWISE_CPU_FUNCTIONS_H_

#include <complex>
#include <cstring>

#include "tensorflow_custom_ops/core/elementwise/cpu.h"
#include "tensorflow_custom_ops/core/elementwise/signature.h"
#include "tensorflow_custom_ops/core/isa_namespace.h"

namespace shared = tensorflow_custom_ops::elementwise;

#define Eigen ISA_NAME(Eigen, ELEMENTWISE_ISA)
#define tensorflow_custom_ops ISA_NAME(tensorflow_custom_ops, ELEMENTWISE_ISA)

namespace tensorflow_custom_ops {
namespace elementwise {
using namespace shared;
}
}  // namespace tensorflow_custom_ops

#include "tensorflow_custom_ops/core/elementwise/apply.h"
#include "tensorflow_custom_ops/core/elementwise/packet.h"

namespace tensorflow_custom_ops {
namespace elementwise {

// Loads what follows `from`, n elements of it, and zeros.
template <typename T>
FN_INLINE fn::Packet<T> LoadFirst(const T* from, int64_t n) {
  T elements[fn::Packet<T>::kSize] = {};
  std::memcpy(elements, from, n * sizeof(T));
  return {Eigen::internal::ploadu<typename fn::Packet<T>::Bits>(elements)};
}
template <typename T>
FN_INLINE void StoreFirst(const fn::Packet<T>& packet, T* to, int64_t n) {
  T elements[fn::Packet<T>::kSize];
  Eigen::internal::pstoreu(elements, packet.bits);
  std::memcpy(to, elements, n * sizeof(T));
}

// Computes Step, which is a Value or a Gradient, packet by packet. The last
// elements are computed by the same code as the others: what becomes of an
// element does not depend on where it is.
template <typename Step, typename T>
void Compute(const Block& block) {
  using V = fn::Packet<T>;
  constexpr int kInputs = Step::kInputs;
  constexpr int kOutputs = Step::kOutputs;
  // Copies, which no store can change.
  const T* inputs[kInputs];
  T* outputs[kOutputs];
  double attributes[Step::kAttributes + 1];
#pragma GCC unroll 8
  for (int k = 0; k < kInputs; ++k) {
    inputs[k] = static_cast<const T*>(block.inputs[k]);
  }
#pragma GCC unroll 8
  for (int k = 0; k < kOutputs; ++k) {
    outputs[k] = static_cast<T*>(block.outputs[k]);
  }
#pragma GCC unroll 8
  for (int k = 0; k < Step::kAttributes; ++k) {
    attributes[k] = block.attributes[k];
  }
  V x[kInputs];
  V y[kOutputs];
  int64_t i = 0;
  for (; i + V::kSize <= block.n; i += V::kSize) {
#pragma GCC unroll 8
    for (int k = 0; k < kInputs; ++k) {
      x[k].bits = Eigen::internal::ploadu<typename V::Bits>(inputs[k] + i);
    }
    Step::Apply(x, attributes, y);
#pragma GCC unroll 8
    for (int k = 0; k < kOutputs; ++k) {
      Eigen::internal::pstoreu(outputs[k] + i, y[k].bits);
    }
  }
  if (i == block.n) return;
#pragma GCC unroll 8
  for (int k = 0; k < kInputs; ++k) {
    x[k] = LoadFirst(inputs[k] + i, block.n - i);
  }
  Step::Apply(x, attributes, y);
#pragma GCC unroll 8
  for (int k = 0; k < kOutputs; ++k) {
    StoreFirst(y[k], outputs[k] + i, block.n - i);
  }
}

// The function for a type, if the functor F has that.
template <typename F, typename Step, Type type, typename T>
constexpr BlockFunction FunctionOf() {
  if constexpr (Contains(F::kTypes, type)) {
    return Compute<Step, T>;
  } else {
    return nullptr;
  }
}

template <typename F, typename Step>
constexpr FunctionsByType FunctionsOf() {
  return {{
      nullptr,
      nullptr,
      FunctionOf<F, Step, Type::kFloat, float>(),
      FunctionOf<F, Step, Type::kDouble, double>(),
      FunctionOf<F, Step, Type::kInt32, int32_t>(),
      FunctionOf<F, Step, Type::kInt64, int64_t>(),
      FunctionOf<F, Step, Type::kComplex64, std::complex<float>>(),
      FunctionOf<F, Step, Type::kComplex128, std::complex<double>>(),
  }};
}

template <typename F, int kDerivative>
constexpr FunctionsByType GradientFunctionsOf() {
  if constexpr (kDerivative < NumDerivatives(F::kInputs, F::kOrder)) {
    return FunctionsOf<F, Gradient<F, kDerivative>>();
  } else {
    return {};
  }
}

template <typename F>
constexpr CpuFunctions CpuFunctionsOf() {
  return {FunctionsOf<F, Value<F>>(),
          {GradientFunctionsOf<F, 0>(), GradientFunctionsOf<F, 1>(),
           GradientFunctionsOf<F, 2>(), GradientFunctionsOf<F, 3>(),
           GradientFunctionsOf<F, 4>()}};
}

}  // namespace elementwise
}  // namespace tensorflow_custom_ops

#endif  // TENSORFLOW_CUSTOM_OPS_CORE_ELEMENTWISE_CPU_FUNCTIONS_H_
