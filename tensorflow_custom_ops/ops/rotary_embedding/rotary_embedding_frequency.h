// SPDX-License-Identifier: Apache-2.0
#ifndef TENSORFLOW_CUSTOM_OPS_OPS_ROTARY_EMBEDDING_ROTARY_EMBEDDING_FREQUENCY_H_
#define TENSORFLOW_CUSTOM_OPS_OPS_ROTARY_EMBEDDING_ROTARY_EMBEDDING_FREQUENCY_H_

#include <cmath>
#include <cstdint>

namespace tensorflow_custom_ops {
namespace rotary_embedding {

// The angle by which pair i turns from one position to the next.
inline double Frequency(double base, int64_t rotary_dim, int64_t i) {
  return std::pow(
      base, -2.0 * static_cast<double>(i) / static_cast<double>(rotary_dim));
}

}  // namespace rotary_embedding
}  // namespace tensorflow_custom_ops

#endif  // TENSORFLOW_CUSTOM_OPS_OPS_ROTARY_EMBEDDING_ROTARY_EMBEDDING_FREQUENCY_H_
