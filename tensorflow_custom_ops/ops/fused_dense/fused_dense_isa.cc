// SPDX-License-Identifier: Apache-2.0
#include "tensorflow_custom_ops/ops/fused_dense/fused_dense_isa.h"

#include <cstdlib>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace tensorflow_custom_ops {
namespace fused_dense {
namespace {

struct Candidate {
  const Isa* isa;
  bool supported;
};

// From the plainest to the best. What each is compiled for is in BUILD.
std::vector<Candidate> Candidates() {
  std::vector<Candidate> candidates = {{&baseline::kIsa, true}};
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
  candidates.push_back({&avx2::kIsa, has_avx2});
  candidates.push_back({&avx512::kIsa, has_avx512});
#endif
  return candidates;
}

}  // namespace

absl::StatusOr<const Isa*> SelectIsa() {
  const char* wanted = std::getenv("TF_CUSTOM_OPS_ISA");
  const Isa* best = nullptr;
  std::vector<std::string> supported;
  for (const Candidate& candidate : Candidates()) {
    if (!candidate.supported) continue;
    if (wanted != nullptr && std::string(wanted) == candidate.isa->name) {
      return candidate.isa;
    }
    supported.push_back(candidate.isa->name);
    best = candidate.isa;
  }
  if (wanted != nullptr) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the environment variable TF_CUSTOM_OPS_ISA is '", wanted,
        "', and this processor has ", absl::StrJoin(supported, ", "),
        ". Set it to one of these, or unset it"));
  }
  return best;
}

}  // namespace fused_dense
}  // namespace tensorflow_custom_ops
