// SPDX-License-Identifier: Apache-2.0
#include "tensorflow_custom_ops/core/isa.h"

#include <cstdlib>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace tensorflow_custom_ops {
namespace {

constexpr const char* kNames[] = {"baseline", "avx2", "avx512", "avx512_bf16"};

// How many of the instruction sets this processor has, from the plainest on.
int NumSupported() {
#ifdef __x86_64__
  __builtin_cpu_init();
  const bool has_avx2 = __builtin_cpu_supports("avx2") &&
                        __builtin_cpu_supports("fma") &&
                        __builtin_cpu_supports("f16c");
  const bool has_avx512 = has_avx2 && __builtin_cpu_supports("avx512f") &&
                          __builtin_cpu_supports("avx512cd") &&
                          __builtin_cpu_supports("avx512bw") &&
                          __builtin_cpu_supports("avx512dq") &&
                          __builtin_cpu_supports("avx512vl");
  const bool has_avx512_bf16 =
      has_avx512 && __builtin_cpu_supports("avx512bf16");
  return 1 + (has_avx2 ? 1 : 0) + (has_avx512 ? 1 : 0) +
         (has_avx512_bf16 ? 1 : 0);
#else
  return 1;
#endif
}

}  // namespace

absl::StatusOr<Isa> SelectIsa() {
  const char* wanted = std::getenv("TF_CUSTOM_OPS_ISA");
  const int supported = NumSupported();
  if (wanted == nullptr) return static_cast<Isa>(supported - 1);
  for (int i = 0; i < supported; ++i) {
    if (std::string(wanted) == kNames[i]) return static_cast<Isa>(i);
  }
  return absl::InvalidArgumentError(
      absl::StrCat("the environment variable TF_CUSTOM_OPS_ISA is '", wanted,
                   "', and this processor has ",
                   absl::StrJoin(kNames, kNames + supported, ", "),
                   ". Set it to one of these, or unset it"));
}

}  // namespace tensorflow_custom_ops
