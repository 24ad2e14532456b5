// SPDX-License-Identifier: Apache-2.0
#ifndef TENSORFLOW_CUSTOM_OPS_OPS_FUSED_DENSE_FUSED_DENSE_ISA_H_
#define TENSORFLOW_CUSTOM_OPS_OPS_FUSED_DENSE_FUSED_DENSE_ISA_H_

#include "absl/status/statusor.h"
#include "tensorflow_custom_ops/ops/fused_dense/fused_dense_tiles.h"

namespace tensorflow_custom_ops {
namespace fused_dense {

// The code for the best instruction set that this processor has, or for the one
// that the environment variable TF_CUSTOM_OPS_ISA names. An error if that names
// none, or one that the processor lacks.
absl::StatusOr<const Isa*> SelectIsa();

}  // namespace fused_dense
}  // namespace tensorflow_custom_ops

#endif  // TENSORFLOW_CUSTOM_OPS_OPS_FUSED_DENSE_FUSED_DENSE_ISA_H_
