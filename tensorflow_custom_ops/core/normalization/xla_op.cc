// SPDX-License-Identifier: Apache-2.0
// Registers the XLA kernels of one op and of its gradient. NORMALIZATION is
// what it computes; see normalization_op.bzl.
#include "tensorflow_custom_ops/core/normalization/norm.h"
#include "tensorflow_custom_ops/core/normalization/xla.h"
#include "tensorflow_custom_ops/core/xla_lowering.h"

namespace tensorflow_custom_ops {
namespace normalization {
namespace {

constexpr Norm kNorm = Norm::NORMALIZATION;

REGISTER_XLA_LOWERING(OpName(kNorm), LoweringOf(kNorm, false));
REGISTER_XLA_LOWERING(OpName(kNorm, true), LoweringOf(kNorm, true));

}  // namespace
}  // namespace normalization
}  // namespace tensorflow_custom_ops
