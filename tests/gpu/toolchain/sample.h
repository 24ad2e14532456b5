// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_GPU_TOOLCHAIN_SAMPLE_H_
#define TESTS_GPU_TOOLCHAIN_SAMPLE_H_

#include <cuda_fp16.h>

struct CUstream_st;

// Writes the double of each element; returns a cudaError_t.
int LaunchDouble(CUstream_st* stream, int size, const __half* input,
                 __half* output);

#endif  // TESTS_GPU_TOOLCHAIN_SAMPLE_H_
