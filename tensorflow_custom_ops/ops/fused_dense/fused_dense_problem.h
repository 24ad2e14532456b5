// SPDX-License-Identifier: Apache-2.0
// What is computed, for the code of all devices: plain types only.
#ifndef TENSORFLOW_CUSTOM_OPS_OPS_FUSED_DENSE_FUSED_DENSE_PROBLEM_H_
#define TENSORFLOW_CUSTOM_OPS_OPS_FUSED_DENSE_FUSED_DENSE_PROBLEM_H_

#include <cstdint>

namespace tensorflow_custom_ops {
namespace fused_dense {

enum class Activation { kLinear, kRelu, kTanh, kSigmoid };

// output = activation(input @ weights + bias), all row-major and of one type.
struct Problem {
  const void* input;    // [rows, in]
  const void* weights;  // [in, units]
  const void* bias;     // [units]
  void* output;         // [rows, units]
  int64_t in;
  int64_t units;
  Activation activation;
};

}  // namespace fused_dense
}  // namespace tensorflow_custom_ops

#endif  // TENSORFLOW_CUSTOM_OPS_OPS_FUSED_DENSE_FUSED_DENSE_PROBLEM_H_
