// SPDX-License-Identifier: Apache-2.0
//
// Kernels that use each primitive once, as the emulator and a GPU must agree on
// them. All return a cudaError_t.
#ifndef TOOLS_CUDA_EMULATOR_PRIMITIVES_H_
#define TOOLS_CUDA_EMULATOR_PRIMITIVES_H_

#include <cstdint>

struct CUstream_st;

namespace primitives {

// What a thread of a grid of three dimensions sees.
struct Indices {
  unsigned thread[3];
  unsigned block[3];
  unsigned block_size[3];
  unsigned grid_size[3];
};
int LaunchIndices(CUstream_st* stream, Indices* out);

constexpr int kThreads = 72;  // the last warp has 8 lanes

// `width` is that of the shuffles.
struct Shuffles {
  int index, up, down, exclusive_or;
  double wide;
  long long half_warp;  // of lanes 0 to 15 alone; -1 in others
};
int LaunchShuffles(CUstream_st* stream, int width, Shuffles* out);

struct Votes {
  unsigned ballot;
  int any, all, none;
  int block_count, block_or, block_and;
};
int LaunchVotes(CUstream_st* stream, Votes* out);

// A vote of the lanes from 1 to 30 with a full mask: lanes 0 and 31 return.
int LaunchVoteOfRest(CUstream_st* stream, unsigned* out);

// Inclusive sums over each block of kThreads threads, with shared memory.
int LaunchScan(CUstream_st* stream, int blocks, const int* in, int* out);

// Each thread applies the operation to the same element, with its own number.
struct Atomics {
  int add_int, max_int, min_int, or_int, and_int;
  unsigned add_unsigned, max_unsigned, min_unsigned;
  unsigned long long add_long, max_long, min_long;
  float add_float;
  double add_double;
  int exchanged;  // the sum of what the threads have got, and of what is left
  int left;
  int cas_count;
};
int LaunchAtomics(CUstream_st* stream, Atomics* values);

struct Bits {
  int popc, popcll, ffs, ffsll, clz, clzll;
  int float_as_int;
  unsigned float_as_uint;
  float int_as_float, uint_as_float;
  long long double_as_longlong;
  double longlong_as_double;
  float rsqrt_float;
  double rsqrt_double;
};
int LaunchBits(CUstream_st* stream, long long value, float number, Bits* out);

// Of the products of tiles. Each warp has a tile of the result.
constexpr int kTileWarps = 2;
constexpr int kTileSide = 16;
constexpr int kTileTerms = 32;
// The distances of rows, or of columns where the matrix is by columns.
constexpr int kFactorStride = 40;
constexpr int kSumStride = 36;
struct TileLayouts {
  bool a_by_row, b_by_row, sums_by_row;
};
// d = (a * b + c) * scale, all 16 elements high or wide or both; scale has one
// element for each of c. By tensor cores where the GPU has them for T, which is
// half or bfloat16.
template <typename T>
int LaunchTileProducts(CUstream_st* stream, TileLayouts layouts, const T* a,
                       const T* b, const float* c, const float* scale,
                       float* d);

// The last block to finish sums up what the others have written.
int LaunchLastBlock(CUstream_st* stream, int blocks, int* partial,
                    unsigned* finished, int* sum);

int LaunchNothing(CUstream_st* stream, unsigned grid, unsigned block,
                  unsigned shared_bytes);

}  // namespace primitives

#endif  // TOOLS_CUDA_EMULATOR_PRIMITIVES_H_
