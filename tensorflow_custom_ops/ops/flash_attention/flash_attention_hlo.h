// SPDX-License-Identifier: Apache-2.0
// Attention as HLO, with matrices of all scores: for where XLA cannot call the
// op's own kernel.
#ifndef TENSORFLOW_CUSTOM_OPS_OPS_FLASH_ATTENTION_FLASH_ATTENTION_HLO_H_
#define TENSORFLOW_CUSTOM_OPS_OPS_FLASH_ATTENTION_FLASH_ATTENTION_HLO_H_

#include <optional>
#include <vector>

#include "tensorflow_custom_ops/ops/flash_attention/flash_attention_problem.h"
#include "xla/hlo/builder/xla_builder.h"
#include "xla/xla_data.pb.h"

namespace tensorflow_custom_ops {
namespace flash_attention {

// What the forward pass takes.
struct HloInputs {
  Sizes sizes;
  double scale;
  xla::PrimitiveType type;
  xla::XlaOp query;
  xla::XlaOp key;
  xla::XlaOp value;
  std::optional<xla::XlaOp> bias;
};

// What the backward pass takes, too.
struct HloGradInputs {
  xla::XlaOp output;
  xla::XlaOp log_sum_exp;
  xla::XlaOp output_grad;
  bool bias_grad;
};

// Returns output and log_sum_exp.
std::vector<xla::XlaOp> EmitForwardHlo(const HloInputs& inputs);

// Returns the gradients of query, key, value, and of the bias if it is wanted.
std::vector<xla::XlaOp> EmitBackwardHlo(const HloInputs& inputs,
                                        const HloGradInputs& grad_inputs);

}  // namespace flash_attention
}  // namespace tensorflow_custom_ops

#endif  // TENSORFLOW_CUSTOM_OPS_OPS_FLASH_ATTENTION_FLASH_ATTENTION_HLO_H_
