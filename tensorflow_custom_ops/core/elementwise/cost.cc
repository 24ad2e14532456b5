// SPDX-License-Identifier: Apache-2.0
#include "tensorflow_custom_ops/core/elementwise/cost.h"

#include <cstdint>
#include <vector>

#include "tensorflow_custom_ops/core/elementwise/traced.h"

namespace tensorflow_custom_ops {
namespace elementwise {
namespace {

// Adds up what the operations cost, in additions.
class Counter : public fn::Tracer {
 public:
  fn::Node Constant(double) override { return 0; }
  fn::Node Apply(fn::Operation operation, const fn::Node*) override {
    // Nothing but the transcendental functions and divisions takes long.
    if (operation == fn::Operation::kPow) {
      cost_ += 60;
    } else if (operation >= fn::Operation::kExp) {
      cost_ += 20;
    } else if (operation == fn::Operation::kDivide) {
      cost_ += 5;
    } else {
      cost_ += 1;
    }
    return 0;
  }
  int64_t cost() const { return cost_; }

 private:
  int64_t cost_ = 0;
};

}  // namespace

int64_t EstimateCost(TraceFunction trace, const Computation& computation) {
  // Additions that a core does in a nanosecond, with its vector units.
  constexpr int64_t kAdditions = 16;
  Counter counter;
  // All nodes have one number.
  const fn::Node inputs[kMaxInputs + 1] = {};
  fn::Node outputs[kMaxInputs];
  trace(computation.is_gradient ? computation.derivative : kValue, &counter,
        inputs, computation.attributes.data(), outputs);
  return 1 + counter.cost() / kAdditions;
}

}  // namespace elementwise
}  // namespace tensorflow_custom_ops
