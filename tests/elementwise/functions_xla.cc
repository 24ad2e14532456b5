// SPDX-License-Identifier: Apache-2.0
// The XLA kernels of the ops.
#include "tensorflow_custom_ops/core/elementwise/signature_of.h"
#include "tensorflow_custom_ops/core/elementwise/trace_functor.h"
#include "tensorflow_custom_ops/core/elementwise/xla.h"
#include "tests/elementwise/functions.h"

namespace tensorflow_custom_ops {
namespace {

#define REGISTER_XLA(F)                          \
  const elementwise::XlaRegistrar kRegistrar##F( \
      elementwise::SignatureOf<F>(#F), elementwise::TraceFunctor<F>);
FOR_EACH_FUNCTION(REGISTER_XLA)

}  // namespace
}  // namespace tensorflow_custom_ops
