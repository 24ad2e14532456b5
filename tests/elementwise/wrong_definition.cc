// SPDX-License-Identifier: Apache-2.0
// Ops that are defined wrongly. The environment variable WRONG_DEFINITION says
// which of them is registered: a library fails to load by the first.
#include <cstdlib>
#include <string>

#include "tensorflow_custom_ops/core/elementwise/functor.h"
#include "tensorflow_custom_ops/core/elementwise/op.h"

namespace tensorflow_custom_ops {
namespace {

struct WrongCounts : Elementwise</*inputs=*/2, /*attributes=*/1> {};
struct OneAttribute : Elementwise</*inputs=*/1, /*attributes=*/1> {};

class Registration {
 public:
  Registration() {
    const char* const wanted = std::getenv("WRONG_DEFINITION");
    const std::string name = wanted == nullptr ? "" : wanted;
    using elementwise::OpDefinition;
    using elementwise::SignatureOf;
    if (name == "WrongCounts") {
      Register(
          OpDefinition(SignatureOf<WrongCounts>("WrongCounts")).Input("x"));
    }
    const char* const attributes[][2] = {
        {"NoDefault", "alpha: float"},
        {"NoDefaultButAMinimum", "count: int >= 1"},
        {"OfTypeString", "mode: string = 'fast'"},
        {"OfTypeType", "U: {float, double} = DT_FLOAT"},
        {"OfTypeList", "weights: list(float) = [0.5]"},
        {"CalledOrders", "orders: int = 1"},
    };
    for (const auto& [op, attribute] : attributes) {
      if (name != op) continue;
      Register(OpDefinition(SignatureOf<OneAttribute>(op))
                   .Input("x")
                   .Attribute(attribute));
    }
  }

 private:
  static void Register(const elementwise::OpDefinition& definition) {
    elementwise::OpRegistration registration(definition);
  }
};

const Registration kRegistration;

}  // namespace
}  // namespace tensorflow_custom_ops
