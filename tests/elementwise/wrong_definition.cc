// SPDX-License-Identifier: Apache-2.0
// An op with another number of inputs and attributes than its functor.
#include "tensorflow_custom_ops/core/elementwise/functor.h"
#include "tensorflow_custom_ops/core/elementwise/op.h"

namespace tensorflow_custom_ops {
namespace {

struct WrongDefinition : Elementwise</*inputs=*/2, /*attributes=*/1> {};

REGISTER_ELEMENTWISE_OP(WrongDefinition).Input("x");

}  // namespace
}  // namespace tensorflow_custom_ops
