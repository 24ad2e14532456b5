// SPDX-License-Identifier: Apache-2.0
// The conversions between float and the half types for one instruction set,
// ELEMENTWISE_ISA; see cpu_functions.cc.
#include "tensorflow_custom_ops/core/elementwise/cpu.h"
#include "tensorflow_custom_ops/core/isa_namespace.h"

namespace shared = tensorflow_custom_ops::elementwise;

#define Eigen ISA_NAME(Eigen, ELEMENTWISE_ISA)
#define tensorflow_custom_ops ISA_NAME(tensorflow_custom_ops, ELEMENTWISE_ISA)

#include "Eigen/Core"

namespace tensorflow_custom_ops {
namespace {

template <typename T>
using Array = Eigen::Map<Eigen::Array<T, Eigen::Dynamic, 1>>;
template <typename T>
using ConstArray = Eigen::Map<const Eigen::Array<T, Eigen::Dynamic, 1>>;

template <typename T>
void ToFloat(const void* from, float* to, int64_t n) {
  Array<float>(to, n) =
      ConstArray<T>(static_cast<const T*>(from), n).template cast<float>();
}

template <typename T>
void FromFloat(const float* from, void* to, int64_t n) {
  Array<T>(static_cast<T*>(to), n) =
      ConstArray<float>(from, n).template cast<T>();
}

}  // namespace

extern const shared::CpuConversions kConversions;
const shared::CpuConversions kConversions = {
    ToFloat<Eigen::half>, FromFloat<Eigen::half>, ToFloat<Eigen::bfloat16>,
    FromFloat<Eigen::bfloat16>};

}  // namespace tensorflow_custom_ops
