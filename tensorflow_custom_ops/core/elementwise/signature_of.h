// SPDX-License-Identifier: Apache-2.0
// The signature of a functor.
#ifndef TENSORFLOW_CUSTOM_OPS_CORE_ELEMENTWISE_SIGNATURE_OF_H_
#define TENSORFLOW_CUSTOM_OPS_CORE_ELEMENTWISE_SIGNATURE_OF_H_

#include <cstddef>
#include <utility>

#include "tensorflow_custom_ops/core/elementwise/signature.h"
#include "tensorflow_custom_ops/core/elementwise/value.h"

namespace tensorflow_custom_ops {
namespace elementwise {

template <typename F, size_t... kAttribute>
const char* CheckAttributes(const double* attributes,
                            std::index_sequence<kAttribute...>) {
  (void)attributes;  // There may be none.
  return F::Check(fn::Constant{attributes[kAttribute]}...);
}

// `name` is the functor's own.
template <typename F>
constexpr Signature SignatureOf(const char* name) {
  static_assert(F::kInputs >= 1 && F::kInputs <= kMaxInputs,
                "an elementwise op has one to four inputs");
  static_assert(F::kOrder >= 0 && F::kOrder <= (F::kInputs == 1 ? 4 : 2),
                "derivatives are up to order 4 of one input, 2 of several");
  static_assert(F::kOrder == 0 || (F::kTypes & ~kFloatingTypes) == 0,
                "of integers and complex numbers the gradient is by hand");
  static_assert(F::kOrder == 0 || F::kBroadcasts,
                "without broadcasting the gradient is by hand");
  return {name,
          F::kInputs,
          F::kAttributes,
          F::kOrder,
          F::kTypes,
          F::kBroadcasts,
          F::kTypeAttribute,
          [](const double* attributes) {
            return CheckAttributes<F>(
                attributes, std::make_index_sequence<F::kAttributes>());
          }};
}

}  // namespace elementwise
}  // namespace tensorflow_custom_ops

#endif  // TENSORFLOW_CUSTOM_OPS_CORE_ELEMENTWISE_SIGNATURE_OF_H_
