// SPDX-License-Identifier: Apache-2.0
// The instruction sets that kernels are compiled for; their compiler options
// are in tools/build_defs/isa.bzl.
#ifndef TENSORFLOW_CUSTOM_OPS_CORE_ISA_H_
#define TENSORFLOW_CUSTOM_OPS_CORE_ISA_H_

#include <algorithm>

#include "absl/status/statusor.h"

namespace tensorflow_custom_ops {

// From the plainest to the best. The first is what every processor of the
// architecture has. All kernels have code for the first kNumIsas, and some for
// further ones.
#ifdef __x86_64__
enum class Isa { kBaseline, kAvx2, kAvx512, kAvx512Bf16 };
inline constexpr int kNumIsas = 3;
#else
enum class Isa { kBaseline };
inline constexpr int kNumIsas = 1;
#endif

// The best instruction set that this processor has, or the one that the
// environment variable TF_CUSTOM_OPS_ISA names. An error if that names none, or
// one that the processor lacks.
absl::StatusOr<Isa> SelectIsa();

// The code for that set, or for the best one before it that all kernels have
// code for; there is one for each of those, in their order.
template <typename Code>
absl::StatusOr<Code> ForIsa(const Code (&codes)[kNumIsas]) {
  absl::StatusOr<Isa> isa = SelectIsa();
  if (!isa.ok()) return isa.status();
  return codes[std::min(static_cast<int>(*isa), kNumIsas - 1)];
}

}  // namespace tensorflow_custom_ops

#endif  // TENSORFLOW_CUSTOM_OPS_CORE_ISA_H_
