// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_GPU_LAUNCH_ERROR_FAIL_H_
#define TESTS_GPU_LAUNCH_ERROR_FAIL_H_

#include "tensorflow_custom_ops/core/gpu/launch.h"

// Launches a kernel with so many threads, some of which wait for others that do
// not come.
tensorflow_custom_ops::gpu::Error LaunchFail(
    tensorflow_custom_ops::gpu::Stream stream, int threads);

#endif  // TESTS_GPU_LAUNCH_ERROR_FAIL_H_
