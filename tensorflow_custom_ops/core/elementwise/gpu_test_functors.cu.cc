// SPDX-License-Identifier: Apache-2.0
#include "tensorflow_custom_ops/core/elementwise/gpu_test_functors.h"

#include "tensorflow_custom_ops/core/elementwise/gpu.h"
#include "tensorflow_custom_ops/core/elementwise/gpu_launch.h"

namespace tensorflow_custom_ops {
namespace elementwise {

gpu::Error LaunchTestPolynomial(const GpuArgs& args) {
  return Launch<TestPolynomial>(args);
}
gpu::Error LaunchTestProduct(const GpuArgs& args) {
  return Launch<TestProduct>(args);
}
gpu::Error LaunchTestOtherProduct(const GpuArgs& args) {
  return Launch<TestOtherProduct>(args);
}
gpu::Error LaunchTestLarger(const GpuArgs& args) {
  return Launch<TestLarger>(args);
}
gpu::Error LaunchTestSum(const GpuArgs& args) { return Launch<TestSum>(args); }

}  // namespace elementwise
}  // namespace tensorflow_custom_ops
