// SPDX-License-Identifier: Apache-2.0
// Radix selection: one block takes a row, and finds its k-th largest key digit
// by digit, with a histogram of each. After Alabi et al., "Fast K-selection
// Algorithms for Graphics Processing Units" (2012).
#include "tensorflow_custom_ops/ops/top_k_mask/top_k_mask_gpu.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "tensorflow_custom_ops/core/gpu/device.h"
#include "tensorflow_custom_ops/core/gpu/launch.h"
#include "tensorflow_custom_ops/ops/top_k_mask/top_k_mask_key.h"

namespace tensorflow_custom_ops {
namespace {

constexpr int kWarp = 32;
constexpr unsigned kAllLanes = 0xffffffff;
constexpr int kMostThreads = 512;
constexpr int kMostWarps = kMostThreads / kWarp;
constexpr int kDigitBits = 8;
constexpr int kDigits = 1 << kDigitBits;

// What the threads of a block share.
struct Shared {
  unsigned histogram[kDigits];
  // The digit of the k-th largest key, how many of the keys that have it are
  // among the k largest, and how many have it.
  unsigned digit;
  unsigned kept;
  unsigned equal;
  unsigned ties_of_warp[kMostWarps];
};

__device__ inline unsigned Thread() { return threadIdx.x; }
__device__ inline unsigned Lane() { return threadIdx.x % kWarp; }
__device__ inline unsigned Warp() { return threadIdx.x / kWarp; }

// The sum of the values of this lane and of those before it.
__device__ inline unsigned WarpInclusiveSum(unsigned value) {
  for (unsigned distance = 1; distance < kWarp; distance *= 2) {
    const unsigned other = __shfl_up_sync(kAllLanes, value, distance);
    if (Lane() >= distance) value += other;
  }
  return value;
}

// Finds the digit of the k-th largest of the keys that were counted. For the
// first warp.
__device__ inline void SelectDigit(unsigned k, Shared& shared) {
  constexpr int kPerLane = kDigits / kWarp;
  // The first lane has the largest digits.
  const int largest = kDigits - 1 - static_cast<int>(Lane()) * kPerLane;
  unsigned sum = 0;
  for (int i = 0; i < kPerLane; ++i) sum += shared.histogram[largest - i];
  const unsigned up_to_lane = WarpInclusiveSum(sum);
  unsigned greater = up_to_lane - sum;
  if (greater >= k || up_to_lane < k) return;  // Another lane has it.
  int digit = largest;
  while (greater + shared.histogram[digit] < k) {
    greater += shared.histogram[digit--];
  }
  shared.digit = digit;
  shared.kept = k - greater;
  shared.equal = shared.histogram[digit];
}

// The k-th largest key of a row, for 0 < k <= n. Also sets shared.kept and
// shared.equal, for the whole key.
template <typename Key>
__device__ Key KthKey(const Key* input, int64_t n, unsigned k, Key infinity,
                      Shared& shared) {
  Key found = 0;
  Key found_bits = 0;
  for (int shift = 8 * sizeof(Key) - kDigitBits; shift >= 0;
       shift -= kDigitBits) {
    for (int i = Thread(); i < kDigits; i += blockDim.x) {
      shared.histogram[i] = 0;
    }
    __syncthreads();
    for (int64_t i = Thread(); i < n; i += blockDim.x) {
      const Key key = TopKMaskKey(input[i], infinity);
      if ((key & found_bits) == found) {
        atomicAdd(&shared.histogram[(key >> shift) % kDigits], 1u);
      }
    }
    __syncthreads();
    if (Warp() == 0) SelectDigit(k, shared);
    __syncthreads();
    k = shared.kept;
    found |= static_cast<Key>(static_cast<Key>(shared.digit) << shift);
    found_bits |= static_cast<Key>(static_cast<Key>(kDigits - 1) << shift);
  }
  return found;
}

// How many threads before this one have a tie, and in `total` how many of the
// block. All threads must call it.
__device__ inline unsigned TiesBefore(bool tie, Shared& shared,
                                      unsigned& total) {
  const unsigned ties = __ballot_sync(kAllLanes, tie);
  if (Lane() == 0) shared.ties_of_warp[Warp()] = __popc(ties);
  __syncthreads();
  unsigned before = __popc(ties & ((1u << Lane()) - 1));
  total = 0;
  for (unsigned warp = 0; warp < blockDim.x / kWarp; ++warp) {
    if (warp == Warp()) before += total;
    total += shared.ties_of_warp[warp];
  }
  __syncthreads();
  return before;
}

template <typename Key>
__global__ void __launch_bounds__(kMostThreads)
    TopKMaskKernel(int64_t rows, int64_t n, unsigned k, Key infinity,
                   Key fill_value, const Key* input, Key* output, bool* mask) {
  __shared__ Shared shared;
  for (int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
    const int64_t start = row * n;
    const Key kth =
        k == 0 ? Key{0} : KthKey(input + start, n, k, infinity, shared);
    // Of equal keys the first are kept. Where that is all of them, their order
    // does not matter.
    const bool keep_all_ties = k == 0 || shared.kept == shared.equal;
    int64_t ties = 0;
    for (int64_t first = 0; first < n; first += blockDim.x) {
      const int64_t i = first + Thread();
      const Key value = i < n ? input[start + i] : Key{0};
      const Key key = TopKMaskKey(value, infinity);
      // Beyond the row, too: nothing comes after that.
      const bool tie = key == kth;
      bool keep = k > 0 && (key > kth || tie);
      if (!keep_all_ties) {
        unsigned total;
        const unsigned before = TiesBefore(tie, shared, total);
        if (tie) keep = ties + before < shared.kept;
        ties += total;
      }
      if (i < n) {
        output[start + i] = keep ? value : fill_value;
        mask[start + i] = keep;
      }
    }
  }
}

template <typename Key>
gpu::Error Launch(gpu::Stream stream, Key infinity, int64_t rows, int64_t n,
                  int64_t k, const void* fill_value, const void* input,
                  void* output, bool* mask) {
  const int64_t threads =
      kWarp * std::min<int64_t>((n - 1) / kWarp + 1, kMostWarps);
  Key fill_bits;
  std::memcpy(&fill_bits, fill_value, sizeof(fill_bits));
  return gpu::Launch(TopKMaskKernel<Key>,
                     static_cast<unsigned>(std::min(rows, kTopKMaskMostBlocks)),
                     static_cast<unsigned>(threads), 0, stream, rows, n,
                     static_cast<unsigned>(k), infinity, fill_bits,
                     static_cast<const Key*>(input), static_cast<Key*>(output),
                     mask);
}

}  // namespace

gpu::Error LaunchTopKMask(gpu::Stream stream, gpu::Type type, int64_t rows,
                          int64_t n, int64_t k, const void* fill_value,
                          const void* input, void* output, bool* mask) {
  if (rows == 0 || n == 0) return cudaSuccess;
  const auto launch = [&](auto infinity) {
    return Launch(stream, infinity, rows, n, k, fill_value, input, output,
                  mask);
  };
  switch (type) {
    case gpu::Type::kHalf:
      return launch(uint16_t{0x7c00});
    case gpu::Type::kBFloat16:
      return launch(uint16_t{0x7f80});
    case gpu::Type::kFloat:
      return launch(uint32_t{0x7f800000});
    case gpu::Type::kDouble:
      return launch(uint64_t{0x7ff0000000000000});
    default:
      return cudaErrorInvalidValue;
  }
}

}  // namespace tensorflow_custom_ops
