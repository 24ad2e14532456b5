// SPDX-License-Identifier: Apache-2.0
// How long the CPU takes for an element.
#ifndef TENSORFLOW_CUSTOM_OPS_CORE_ELEMENTWISE_COST_H_
#define TENSORFLOW_CUSTOM_OPS_CORE_ELEMENTWISE_COST_H_

#include <cstdint>

#include "tensorflow_custom_ops/core/elementwise/kernel_common.h"
#include "tensorflow_custom_ops/core/elementwise/trace.h"

namespace tensorflow_custom_ops {
namespace elementwise {

// An estimate, in the unit of tensorflow::Shard, which is about a nanosecond.
int64_t EstimateCost(TraceFunction trace, const Computation& computation);

}  // namespace elementwise
}  // namespace tensorflow_custom_ops

#endif  // TENSORFLOW_CUSTOM_OPS_CORE_ELEMENTWISE_COST_H_
