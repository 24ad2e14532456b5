// SPDX-License-Identifier: Apache-2.0
// Registers the XLA kernels of one op. ELEMENTWISE_OP is its functor and
// ELEMENTWISE_NAME its name, and ELEMENTWISE_HEADER declares it; see
// elementwise_op.bzl.
#include "tensorflow_custom_ops/core/elementwise/signature_of.h"
#include "tensorflow_custom_ops/core/elementwise/trace_functor.h"
#include "tensorflow_custom_ops/core/elementwise/xla.h"
#include ELEMENTWISE_HEADER

namespace tensorflow_custom_ops {
namespace elementwise {
namespace {

const XlaRegistrar kRegistrar(SignatureOf<ELEMENTWISE_OP>(ELEMENTWISE_NAME),
                              TraceFunctor<ELEMENTWISE_OP>);

}  // namespace
}  // namespace elementwise
}  // namespace tensorflow_custom_ops
