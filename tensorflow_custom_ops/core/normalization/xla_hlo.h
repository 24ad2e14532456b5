// SPDX-License-Identifier: Apache-2.0
// Normalisations as XLA's own operations.
#ifndef TENSORFLOW_CUSTOM_OPS_CORE_NORMALIZATION_XLA_HLO_H_
#define TENSORFLOW_CUSTOM_OPS_CORE_NORMALIZATION_XLA_HLO_H_

#include <vector>

#include "tensorflow_custom_ops/core/normalization/norm.h"
#include "xla/hlo/builder/xla_builder.h"
#include "xla/shape.h"

namespace tensorflow_custom_ops {
namespace normalization {

// The outputs of an op, or of its gradient, for inputs that were checked. x has
// the shape `rows`, of which all but the last dimension may be dynamic.
std::vector<xla::XlaOp> EmitHlo(Norm norm, bool is_gradient, float epsilon,
                                const xla::Shape& rows,
                                const std::vector<xla::XlaOp>& inputs);

}  // namespace normalization
}  // namespace tensorflow_custom_ops

#endif  // TENSORFLOW_CUSTOM_OPS_CORE_NORMALIZATION_XLA_HLO_H_
