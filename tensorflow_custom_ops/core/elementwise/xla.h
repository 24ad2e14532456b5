// SPDX-License-Identifier: Apache-2.0
// The XLA kernel of elementwise ops.
#ifndef TENSORFLOW_CUSTOM_OPS_CORE_ELEMENTWISE_XLA_H_
#define TENSORFLOW_CUSTOM_OPS_CORE_ELEMENTWISE_XLA_H_

#include "tensorflow_custom_ops/core/elementwise/signature.h"
#include "tensorflow_custom_ops/core/elementwise/trace.h"

namespace tensorflow_custom_ops {
namespace elementwise {

// Registers the lowerings of an op and of its gradient.
class XlaRegistrar {
 public:
  XlaRegistrar(const Signature& signature, TraceFunction trace);
};

}  // namespace elementwise
}  // namespace tensorflow_custom_ops

#endif  // TENSORFLOW_CUSTOM_OPS_CORE_ELEMENTWISE_XLA_H_
