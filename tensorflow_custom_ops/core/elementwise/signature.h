// SPDX-License-Identifier: Apache-2.0
// What there is to know of an elementwise op beside what it computes. Plain
// types only: it is shared by code for several instruction sets, and by nvcc.
#ifndef TENSORFLOW_CUSTOM_OPS_CORE_ELEMENTWISE_SIGNATURE_H_
#define TENSORFLOW_CUSTOM_OPS_CORE_ELEMENTWISE_SIGNATURE_H_

#include <cstdint>

#include "tensorflow_custom_ops/core/type.h"

namespace tensorflow_custom_ops {
namespace elementwise {

using tensorflow_custom_ops::kNumTypes;
using tensorflow_custom_ops::Type;

// A set of types: bit i is Type i.
using TypeSet = uint32_t;
constexpr TypeSet kFloatingTypes = 0xf;
constexpr TypeSet kNumberTypes = 0xff;
constexpr bool Contains(TypeSet types, Type type) {
  return (types >> static_cast<int>(type) & 1) != 0;
}

constexpr int kMaxInputs = 4;

// A derivative of a function of several variables says how often it is
// differentiated by which: its orders. Those for which there is code are
// numbered. With one input the number is the order itself. With more, 0 is the
// function, and i + 1 its first derivative by input i.
constexpr int NumDerivatives(int inputs, int order) {
  return inputs == 1 || order == 0 ? order : 1 + (order - 1) * inputs;
}
constexpr int kMaxDerivatives = 5;

// What an op's functor says of itself.
struct Signature {
  const char* name;
  int inputs;
  int attributes;
  int order;
  TypeSet types;
  bool broadcasts;
  const char* type_attribute;
  // What is wrong with the attributes, or nullptr.
  const char* (*check)(const double* attributes);
};

}  // namespace elementwise
}  // namespace tensorflow_custom_ops

#endif  // TENSORFLOW_CUSTOM_OPS_CORE_ELEMENTWISE_SIGNATURE_H_
