// SPDX-License-Identifier: Apache-2.0
// The order of floating-point numbers, for the code of all devices.
#ifndef TENSORFLOW_CUSTOM_OPS_OPS_TOP_K_MASK_TOP_K_MASK_KEY_H_
#define TENSORFLOW_CUSTOM_OPS_OPS_TOP_K_MASK_TOP_K_MASK_KEY_H_

#include <limits>

namespace tensorflow_custom_ops {

// Integers greater than 0 in the order of the floating-point numbers that have
// these bits, in a type whose infinity is given: -0 is 0, and NaN is greater
// than every number. By the bits, for comparisons of denormal numbers depend on
// whether the thread flushes them to zero.
template <typename Key>
constexpr Key TopKMaskKey(Key bits, Key infinity) {
  constexpr Key kSign = static_cast<Key>(Key{1} << (8 * sizeof(Key) - 1));
  const Key magnitude = static_cast<Key>(bits & ~kSign);
  if (magnitude > infinity) return std::numeric_limits<Key>::max();
  return static_cast<Key>(bits > kSign ? ~bits : magnitude | kSign);
}

}  // namespace tensorflow_custom_ops

#endif  // TENSORFLOW_CUSTOM_OPS_OPS_TOP_K_MASK_TOP_K_MASK_KEY_H_
