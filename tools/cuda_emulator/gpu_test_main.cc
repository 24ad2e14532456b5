// SPDX-License-Identifier: Apache-2.0
//
// Runs all tests of a program, or those that its arguments name.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "tools/cuda_emulator/gpu_test.h"

namespace gpu_test {
namespace {

// Returns how many tests were run.
int RunTests(const std::vector<std::string>& names, const char* order) {
  int run = 0;
  for (const Test& test : Tests()) {
    if (!names.empty() &&
        std::find(names.begin(), names.end(), test.name) == names.end()) {
      continue;
    }
    const int failures = Failures();
    test.function();
    ++run;
    std::printf("%s %s: %s%s\n", Failures() == failures ? "ok    " : "FAILED",
                test.file, test.name, order);
  }
  return run;
}

int RunInAllOrders(const std::vector<std::string>& names) {
#ifdef __CUDACC__
  return RunTests(names, "");
#else
  if (std::getenv("CUDA_EMULATOR_ORDER") != nullptr) {
    return RunTests(names, "");
  }
  int run = 0;
  cuda_emulator::SetOrder(cuda_emulator::Order::kForward);
  run += RunTests(names, ", forward");
  cuda_emulator::SetOrder(cuda_emulator::Order::kReverse);
  run += RunTests(names, ", reverse");
  for (unsigned seed = 1; seed <= 3; ++seed) {
    cuda_emulator::SetOrder(cuda_emulator::Order::kRandom, seed);
    const std::string order = ", random, seed " + std::to_string(seed);
    run += RunTests(names, order.c_str());
  }
  return run;
#endif
}

}  // namespace
}  // namespace gpu_test

int main(int argc, char** argv) {
  const std::vector<std::string> names(argv + 1, argv + argc);
  const int run = gpu_test::RunInAllOrders(names);
  if (run == 0) std::fprintf(stderr, "There is no such test.\n");
  return run > 0 && gpu_test::Failures() == 0 ? 0 : 1;
}
