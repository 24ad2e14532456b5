// SPDX-License-Identifier: Apache-2.0
#include "tools/cuda_emulator/primitives.h"

#include "tensorflow_custom_ops/core/gpu/device.h"
#include "tensorflow_custom_ops/core/gpu/tensor_cores.h"

namespace primitives {
namespace {

constexpr unsigned kFullMask = 0xffffffffu;

__global__ void IndicesKernel(Indices* out) {
  const unsigned block =
      blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  const unsigned thread =
      threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  out[block * blockDim.x * blockDim.y * blockDim.z + thread] = {
      {threadIdx.x, threadIdx.y, threadIdx.z},
      {blockIdx.x, blockIdx.y, blockIdx.z},
      {blockDim.x, blockDim.y, blockDim.z},
      {gridDim.x, gridDim.y, gridDim.z}};
}

__global__ void ShufflesKernel(int width, Shuffles* out) {
  const int thread = static_cast<int>(threadIdx.x);
  const int lane = thread % warpSize;
  // Lanes beyond the block's end take no part.
  const unsigned mask = __ballot_sync(kFullMask, 1);
  Shuffles& result = out[thread];
  result.index = __shfl_sync(mask, thread, 5, width);
  result.up = __shfl_up_sync(mask, thread, 3, width);
  // No lane reads beyond the last: there, delta is 0.
  const unsigned delta = thread == kThreads - 1 ? 0 : lane < 7 ? 1 : 2;
  result.down = __shfl_down_sync(mask, thread, delta, width);
  result.exclusive_or = __shfl_xor_sync(mask, thread, 1, width);
  result.wide = __shfl_sync(mask, thread + 0.25, 0);
  result.half_warp = -1;
  if (lane < 16 && thread < 64) {
    const long long value = thread * (1ll << 40);
    result.half_warp = __shfl_xor_sync(0xffffu, value, 8);
    __syncwarp(0xffffu);
  }
}

__global__ void VotesKernel(Votes* out) {
  const int thread = static_cast<int>(threadIdx.x);
  const int lane = thread % warpSize;
  const unsigned mask = __ballot_sync(kFullMask, 1);
  Votes& result = out[thread];
  result.ballot = __ballot_sync(mask, thread % 3 == 0);
  result.any = __any_sync(mask, lane == 9) != 0;
  result.all = __all_sync(mask, thread < 64) != 0;
  result.none = __any_sync(mask, thread < 0) != 0;
  result.block_count = __syncthreads_count(thread % 5 == 0);
  result.block_or = __syncthreads_or(thread == 70) != 0;
  result.block_and = __syncthreads_and(thread != 70) != 0;
}

__global__ void VoteOfRestKernel(unsigned* out) {
  if (threadIdx.x == 0 || threadIdx.x == 31) return;
  out[threadIdx.x] = __ballot_sync(kFullMask, 1);
}

__global__ void __launch_bounds__(kThreads)
    ScanKernel(const int* __restrict__ in, int* __restrict__ out) {
  __shared__ int warp_sums[(kThreads + 31) / 32];
  GPU_DYNAMIC_SHARED(int, sums);
  const int thread = static_cast<int>(threadIdx.x);
  const int lane = thread % warpSize;
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  sums[thread] = __ldg(in + i);
  __syncwarp();
  for (int distance = 1; distance < warpSize; distance *= 2) {
    const int earlier = lane >= distance ? sums[thread - distance] : 0;
    __syncwarp();
    sums[thread] += earlier;
    __syncwarp();
  }
  if (lane == warpSize - 1 || thread == kThreads - 1) {
    warp_sums[thread / warpSize] = sums[thread];
  }
  __syncthreads();
  int sum = sums[thread];
  for (int warp = 0; warp < thread / warpSize; ++warp) sum += warp_sums[warp];
  out[i] = sum;
}

__global__ void AtomicsKernel(Atomics* values) {
  const int number = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const unsigned positive = static_cast<unsigned>(number) + 1;
  atomicAdd(&values->add_int, -number);
  atomicMax(&values->max_int, number);
  atomicMin(&values->min_int, -number);
  atomicOr(&values->or_int, 1 << number % 7);
  atomicAnd(&values->and_int, ~(1 << number % 7));
  atomicAdd(&values->add_unsigned, positive);
  atomicMax(&values->max_unsigned, positive);
  atomicMin(&values->min_unsigned, positive);
  const unsigned long long large = static_cast<unsigned long long>(positive)
                                   << 40;
  atomicAdd(&values->add_long, large);
  atomicMax(&values->max_long, large);
  atomicMin(&values->min_long, large);
  atomicAdd(&values->add_float, 0.5f);
  atomicAdd(&values->add_double, 0.25);
  atomicAdd(&values->exchanged, atomicExch(&values->left, number));
  int expected = 0;
  for (;;) {
    const int found = atomicCAS(&values->cas_count, expected, expected + 2);
    if (found == expected) break;
    expected = found;
  }
}

__global__ void BitsKernel(long long value, float number, Bits* out) {
  const int low = static_cast<int>(value);
  out->popc = __popc(static_cast<unsigned>(low));
  out->popcll = __popcll(static_cast<unsigned long long>(value));
  out->ffs = __ffs(low);
  out->ffsll = __ffsll(value);
  out->clz = __clz(low);
  out->clzll = __clzll(value);
  out->float_as_int = __float_as_int(number);
  out->float_as_uint = __float_as_uint(number);
  out->int_as_float = __int_as_float(__float_as_int(number));
  out->uint_as_float = __uint_as_float(__float_as_uint(number));
  out->double_as_longlong = __double_as_longlong(number);
  out->longlong_as_double = __longlong_as_double(__double_as_longlong(number));
  out->rsqrt_float = rsqrtf(number);
  out->rsqrt_double = rsqrt(static_cast<double>(number));
}

template <typename T>
struct TileArrays {
  TileLayouts layouts;
  const T* a;
  const T* b;
  const float* c;
  const float* scale;
  float* d;
};

__device__ int Offset(int row, int column, int stride, bool by_row) {
  return by_row ? row * stride + column : column * stride + row;
}

template <bool kTensorCores>
struct TileProducts {
  template <typename T>
  static __device__ void Compute(const TileArrays<T>& tiles) {
    const TileLayouts& layouts = tiles.layouts;
    const int column = static_cast<int>(threadIdx.x);
    if (column >= kTileWarps * kTileSide) return;
    for (int row = 0; row < kTileSide; ++row) {
      const int i = Offset(row, column, kSumStride, layouts.sums_by_row);
      float sum = tiles.c[i];
      for (int k = 0; k < kTileTerms; ++k) {
        const int left = Offset(row, k, kFactorStride, layouts.a_by_row);
        const int right = Offset(k, column, kFactorStride, layouts.b_by_row);
        sum += static_cast<float>(tiles.a[left]) *
               static_cast<float>(tiles.b[right]);
      }
      tiles.d[i] = sum * tiles.scale[i];
    }
  }
};

#if GPU_WMMA
template <>
struct TileProducts<true> {
  template <typename T>
  static __device__ void Compute(const TileArrays<T>& tiles) {
    using nvcuda::wmma::col_major;
    using nvcuda::wmma::row_major;
    const TileLayouts& layouts = tiles.layouts;
    if (layouts.a_by_row) {
      layouts.b_by_row ? Multiply<row_major, row_major>(tiles)
                       : Multiply<row_major, col_major>(tiles);
    } else {
      layouts.b_by_row ? Multiply<col_major, row_major>(tiles)
                       : Multiply<col_major, col_major>(tiles);
    }
  }

  template <typename LayoutA, typename LayoutB, typename T>
  static __device__ void Multiply(const TileArrays<T>& tiles) {
    namespace wmma = nvcuda::wmma;
    const TileLayouts& layouts = tiles.layouts;
    const auto memory =
        layouts.sums_by_row ? wmma::mem_row_major : wmma::mem_col_major;
    const int column = static_cast<int>(threadIdx.x) / warpSize * kTileSide;
    const int sums_start = Offset(0, column, kSumStride, layouts.sums_by_row);
    wmma::fragment<wmma::matrix_a, 16, 16, 16, T, LayoutA> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, T, LayoutB> b;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> other;
    wmma::fill_fragment(sums, 0.f);
    for (int k = 0; k < kTileTerms; k += 16) {
      wmma::load_matrix_sync(
          a, tiles.a + Offset(0, k, kFactorStride, layouts.a_by_row),
          kFactorStride);
      wmma::load_matrix_sync(
          b, tiles.b + Offset(k, column, kFactorStride, layouts.b_by_row),
          kFactorStride);
      wmma::mma_sync(sums, a, b, sums);
    }
    wmma::load_matrix_sync(other, tiles.c + sums_start, kSumStride, memory);
    for (int i = 0; i < sums.num_elements; ++i) sums.x[i] += other.x[i];
    wmma::load_matrix_sync(other, tiles.scale + sums_start, kSumStride, memory);
    for (int i = 0; i < sums.num_elements; ++i) sums.x[i] *= other.x[i];
    wmma::store_matrix_sync(tiles.d + sums_start, sums, kSumStride, memory);
  }
};
#endif

template <typename T>
__global__ void TileProductsKernel(TileArrays<T> tiles) {
  tensorflow_custom_ops::gpu::IfTensorCores<T>([&](auto has_tensor_cores) {
    TileProducts<decltype(has_tensor_cores)::value>::Compute(tiles);
  });
}

__global__ void LastBlockKernel(int* partial, unsigned* finished, int* sum) {
  __shared__ bool is_last;
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = static_cast<int>(blockIdx.x) + 1;
    __threadfence();
    is_last = atomicAdd(finished, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (!is_last || threadIdx.x != 0) return;
  __threadfence();
  const volatile int* const others = partial;
  int total = 0;
  for (unsigned i = 0; i < gridDim.x; ++i) total += others[i];
  *sum = total;
}

__global__ void NothingKernel() {}

}  // namespace

int LaunchIndices(CUstream_st* stream, Indices* out) {
  return tensorflow_custom_ops::gpu::Launch(IndicesKernel, dim3(3, 2, 2),
                                            dim3(4, 3, 5), 0, stream, out);
}

int LaunchShuffles(CUstream_st* stream, int width, Shuffles* out) {
  return tensorflow_custom_ops::gpu::Launch(ShufflesKernel, 1, kThreads, 0,
                                            stream, width, out);
}

int LaunchVotes(CUstream_st* stream, Votes* out) {
  return tensorflow_custom_ops::gpu::Launch(VotesKernel, 1, kThreads, 0, stream,
                                            out);
}

int LaunchVoteOfRest(CUstream_st* stream, unsigned* out) {
  return tensorflow_custom_ops::gpu::Launch(VoteOfRestKernel, 1, 32, 0, stream,
                                            out);
}

int LaunchScan(CUstream_st* stream, int blocks, const int* in, int* out) {
  return tensorflow_custom_ops::gpu::Launch(
      ScanKernel, static_cast<unsigned>(blocks), kThreads,
      kThreads * sizeof(int), stream, in, out);
}

int LaunchAtomics(CUstream_st* stream, Atomics* values) {
  return tensorflow_custom_ops::gpu::Launch(AtomicsKernel, 3, kThreads, 0,
                                            stream, values);
}

int LaunchBits(CUstream_st* stream, long long value, float number, Bits* out) {
  return tensorflow_custom_ops::gpu::Launch(BitsKernel, 1, 1, 0, stream, value,
                                            number, out);
}

template <typename T>
int LaunchTileProducts(CUstream_st* stream, TileLayouts layouts, const T* a,
                       const T* b, const float* c, const float* scale,
                       float* d) {
  return tensorflow_custom_ops::gpu::Launch(
      TileProductsKernel<T>, 1, kTileWarps * 32, 0, stream,
      TileArrays<T>{layouts, a, b, c, scale, d});
}
template int LaunchTileProducts(CUstream_st*, TileLayouts,
                                const tensorflow_custom_ops::gpu::Half*,
                                const tensorflow_custom_ops::gpu::Half*,
                                const float*, const float*, float*);
template int LaunchTileProducts(CUstream_st*, TileLayouts,
                                const tensorflow_custom_ops::gpu::BFloat16*,
                                const tensorflow_custom_ops::gpu::BFloat16*,
                                const float*, const float*, float*);

int LaunchLastBlock(CUstream_st* stream, int blocks, int* partial,
                    unsigned* finished, int* sum) {
  return tensorflow_custom_ops::gpu::Launch(LastBlockKernel,
                                            static_cast<unsigned>(blocks), 40,
                                            0, stream, partial, finished, sum);
}

int LaunchNothing(CUstream_st* stream, unsigned grid, unsigned block,
                  unsigned shared_bytes) {
  return tensorflow_custom_ops::gpu::Launch(NothingKernel, grid, block,
                                            shared_bytes, stream);
}

}  // namespace primitives
