// SPDX-License-Identifier: Apache-2.0
// Normalisations in XLA's terms.
#ifndef TENSORFLOW_CUSTOM_OPS_CORE_NORMALIZATION_XLA_H_
#define TENSORFLOW_CUSTOM_OPS_CORE_NORMALIZATION_XLA_H_

#include "tensorflow_custom_ops/core/normalization/norm.h"
#include "tensorflow_custom_ops/core/xla_lowering.h"

namespace tensorflow_custom_ops {
namespace normalization {

// The lowering of an op, or of its gradient: a custom call of the op's kernel,
// and HLO where that cannot be.
XlaLowering LoweringOf(Norm norm, bool is_gradient);

}  // namespace normalization
}  // namespace tensorflow_custom_ops

#endif  // TENSORFLOW_CUSTOM_OPS_CORE_NORMALIZATION_XLA_H_
