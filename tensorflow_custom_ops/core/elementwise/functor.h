// SPDX-License-Identifier: Apache-2.0
// For the header in which an elementwise op declares its functor:
//
//   struct ScaledSilu : Elementwise</*inputs=*/1, /*attributes=*/1> {
//     template <typename V>
//     static FN_INLINE auto Apply(const V& x, fn::Constant alpha) {
//       return alpha * (x * fn::sigmoid(x));
//     }
//   };
//
// With several inputs Apply has a template parameter for each: what depends on
// one input only has no derivatives by the others, and so another type.
#ifndef TENSORFLOW_CUSTOM_OPS_CORE_ELEMENTWISE_FUNCTOR_H_
#define TENSORFLOW_CUSTOM_OPS_CORE_ELEMENTWISE_FUNCTOR_H_

#include "tensorflow_custom_ops/core/elementwise/functions.h"
#include "tensorflow_custom_ops/core/elementwise/operators.h"
#include "tensorflow_custom_ops/core/elementwise/signature.h"
#include "tensorflow_custom_ops/core/elementwise/value.h"

namespace tensorflow_custom_ops {

// Literals: 2_c, 0.5_c.
using fn::operator""_c;

// What a functor derives from. It may redefine what is here.
template <int inputs, int attributes = 0>
struct Elementwise {
  static constexpr int kInputs = inputs;
  static constexpr int kAttributes = attributes;

  // How often it can be differentiated: up to 4 times with one input, and up to
  // twice with more. 0 is for an op whose gradient is written by hand.
  static constexpr int kOrder = 2;

  // What it is registered for.
  static constexpr elementwise::TypeSet kTypes = elementwise::kFloatingTypes;

  // Whether inputs are broadcast, as NumPy does, or must have one shape.
  static constexpr bool kBroadcasts = true;

  // The name of the attribute that is the type of all inputs.
  static constexpr const char* kTypeAttribute = "T";

  // What is wrong with the attributes, or nullptr.
  template <typename... Constants>
  static const char* Check(Constants...) {
    return nullptr;
  }
};

}  // namespace tensorflow_custom_ops

#endif  // TENSORFLOW_CUSTOM_OPS_CORE_ELEMENTWISE_FUNCTOR_H_
