// SPDX-License-Identifier: Apache-2.0
//
// Kernels with a bug each, for planted_bugs_test.py:
//
//   planted_bugs NAME   runs the kernel of that name with its bug
//   planted_bugs        runs all kernels without their bugs
//
// Exits with 1 for a wrong result and with 2 for a launch that failed. The
// lines that reports are to name are marked with the kernel's name.
#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>

#include "tools/cuda_emulator/cuda_emulator.h"
#include "tools/cuda_emulator/wmma.h"

namespace {

constexpr int kThreads = 64;
constexpr int kBlocks = 2;
constexpr int kSize = kThreads * kBlocks;
constexpr unsigned kFullMask = 0xffffffffu;

__device__ int Global() {
  return static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
}

__device__ int Thread() { return static_cast<int>(threadIdx.x); }

// All kernels give each thread the number of the thread that mirrors it in its
// block: 63 for 0, 62 for 1.
__device__ int Mirrored() { return kThreads - 1 - Thread(); }

__global__ void MissingSyncthreads(bool bug, int* out) {
  GPU_DYNAMIC_SHARED(int, shared);
  shared[Thread()] = Thread();
  if (!bug) __syncthreads();
  out[Global()] = shared[Mirrored()];  // MissingSyncthreads
}

// Each thread overwrites what another may not have read.
__global__ void MissingSecondSyncthreads(bool bug, int* out) {
  GPU_DYNAMIC_SHARED(int, shared);
  shared[Thread()] = Thread();
  __syncthreads();
  const int value = shared[Mirrored()];
  if (!bug) __syncthreads();
  shared[Thread()] = value;  // MissingSecondSyncthreads
  __syncthreads();
  out[Global()] = shared[Thread()];
}

// The shuffle makes the warp meet, but orders no accesses to memory.
__global__ void MissingSyncwarp(bool bug, int* out) {
  GPU_DYNAMIC_SHARED(int, shared);
  shared[Thread()] = Mirrored();
  const int same = __shfl_sync(kFullMask, Thread(), Thread());
  if (!bug) __syncwarp();
  const int value = shared[Thread() ^ 1];  // MissingSyncwarp
  __syncwarp();
  shared[Thread()] = value;
  __syncwarp();
  out[Global()] = shared[same ^ 1];
}

// A barrier of each half of a warp does not order the halves. One half alone
// reads, so that in forward order no access comes before the barriers.
__global__ void SyncwarpOfTooFewLanes(bool bug, int* out) {
  GPU_DYNAMIC_SHARED(int, shared);
  const bool upper = Thread() % 32 >= 16;
  const unsigned half = upper ? 0xffff0000u : 0xffffu;
  shared[Thread()] = Mirrored();
  __syncwarp(bug ? half : kFullMask);
  int value = Mirrored();
  if (upper) value = shared[Thread() - 16] - 16;  // SyncwarpOfTooFewLanes
  out[Global()] = value;
}

__global__ void UninitializedShared(bool bug, int* out) {
  GPU_DYNAMIC_SHARED(int, shared);
  if (!bug) shared[Thread()] = 0;
  shared[Thread()] += Mirrored();
  out[Global()] = shared[Thread()];
}

__global__ void GlobalOutOfBounds(bool bug, int* out) {
  const int i = Global() + (bug ? 1 : 0);
  out[i] = Mirrored();  // GlobalOutOfBounds
}

__global__ void SharedOutOfBounds(bool bug, int* out) {
  GPU_DYNAMIC_SHARED(int, shared);
  shared[Thread() + (bug ? 1 : 0)] = Mirrored();  // SharedOutOfBounds
  out[Global()] = shared[Thread()];
}

__global__ void StaticSharedOutOfBounds(bool bug, int* out) {
  __shared__ int shared[kThreads];
  shared[Thread() + (bug ? 1 : 0)] = Mirrored();  // StaticSharedOutOfBounds
  out[Global()] = shared[Thread()];
}

__global__ void SignedOverflow(bool bug, int* out) {
  const int large = bug ? INT_MAX : INT_MAX - kSize;
  const int sum = large + Thread();  // SignedOverflow
  out[Global()] = Mirrored() + (sum == 0 ? 1 : 0);
}

__global__ void MisalignedAccess(bool bug, int* out) {
  GPU_DYNAMIC_SHARED(char, bytes);
  auto* const number = reinterpret_cast<int*>(bytes + (bug ? 2 : 0));
  if (Thread() == 0) *number = 1;  // MisalignedAccess
  out[Global()] = Mirrored();
}

__global__ void DivergentShuffle(bool bug, int* out) {
  int value = Mirrored();
  if (!bug || Thread() < 40) {
    value = __shfl_xor_sync(kFullMask, value, 1);  // DivergentShuffle
  } else {
    value ^= 1;
  }
  __syncthreads();
  out[Global()] = value ^ 1;
}

__global__ void DivergentSyncthreads(bool bug, int* out) {
  out[Global()] = Mirrored();
  if (bug && Thread() >= 40) return;
  __syncthreads();  // DivergentSyncthreads
}

__global__ void TwoBarriers(bool bug, int* out) {
  out[Global()] = Mirrored();
  if (bug && Thread() >= 32) {
    __syncthreads();
  } else {
    __syncthreads();  // TwoBarriers
  }
}

__global__ void TwoShuffles(bool bug, int* out) {
  int value = Mirrored();
  if (bug && Thread() % 2 == 1) {
    value = __shfl_xor_sync(kFullMask, value, 1);  // TwoShuffles
  } else {
    value = __shfl_xor_sync(kFullMask, value, 1);  // TwoShuffles
  }
  out[Global()] = value ^ 1;
}

__global__ void TwoMasks(bool bug, int* out) {
  const unsigned mask = bug && Thread() % 2 == 1 ? 0xfffffffeu : kFullMask;
  const int value = __shfl_xor_sync(mask, Mirrored(), 1);  // TwoMasks
  out[Global()] = value ^ 1;
}

// The halves of a warp shuffle for themselves, and read each other.
__global__ void InactiveLane(bool bug, int* out) {
  const unsigned mask = Thread() % 32 < 16 ? 0xffffu : 0xffff0000u;
  const int other = bug ? 16 : 8;
  const int value = __shfl_xor_sync(mask, Thread(), other);  // InactiveLane
  out[Global()] = kThreads - 1 - (value ^ other);
}

__global__ void ReturnedLane(bool bug, int* out) {
  out[Global()] = Mirrored();
  if (bug && Thread() % 32 == 3) return;
  const int value = __shfl_sync(kFullMask, Thread(), 3);  // ReturnedLane
  if (value < 0) out[Global()] = value;
}

__global__ void LaneNotInMask(bool bug, int* out) {
  out[Global()] = Mirrored();
  __syncwarp(bug ? 0xfffffff0u : kFullMask);  // LaneNotInMask
}

__global__ void InvalidWidth(bool bug, int* out) {
  const int width = bug ? 12 : 16;
  const int value = __shfl_sync(kFullMask, 7, 1, width);  // InvalidWidth
  out[Global()] = Mirrored() + value - 7;
}

namespace wmma = nvcuda::wmma;
using Sums = wmma::fragment<wmma::accumulator, 16, 16, 16, float>;

// The upper half of a float.
class Half {
 public:
  explicit Half(float value) {
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof(bits));
    bits_ = static_cast<uint16_t>(bits >> 16);
  }
  Half() : Half(0.f) {}
  explicit operator float() const {
    const uint32_t bits = uint32_t{bits_} << 16;
    float value;
    std::memcpy(&value, &bits, sizeof(value));
    return value;
  }

 private:
  uint16_t bits_;
};

constexpr auto kByRow = wmma::mem_row_major;
constexpr int kTile = 16 * 16;

// Two tiles for each warp.
struct Tiles {
  float* first;
  float* second;
};
__device__ Tiles TilesOfWarp() {
  __shared__ __align__(32) float tiles[kThreads / 32][2][kTile];
  float (*const of_warp)[kTile] = tiles[Thread() / 32];
  return {of_warp[0], of_warp[1]};
}

// Threads of a warp each have some elements of its tile, of which lane i's are
// i, i + 32 and so on.
__device__ void SetTile(float* tile, float value) {
  for (int i = Thread() % 32; i < kTile; i += 32) tile[i] = value;
}

// Tensor cores, too, order no accesses to memory.
__global__ void MissingSyncwarpOfTile(bool bug, int* out) {
  const auto [from, to] = TilesOfWarp();
  SetTile(from, static_cast<float>(Mirrored()));
  if (!bug) __syncwarp();
  Sums sums;
  wmma::load_matrix_sync(sums, from, 16, kByRow);  // MissingSyncwarpOfTile
  wmma::store_matrix_sync(to, sums, 16, kByRow);
  __syncwarp();
  out[Global()] = static_cast<int>(to[Thread() % 32]);
}

__global__ void MisalignedTile(bool bug, int* out) {
  const float* const from = TilesOfWarp().first + (bug ? 4 : 0);
  Sums sums;
  wmma::load_matrix_sync(sums, from, 16, kByRow);  // MisalignedTile
  out[Global()] = Mirrored();
}

__global__ void UnevenRowsOfTile(bool bug, int* out) {
  float* const to = TilesOfWarp().first;
  Sums sums;
  wmma::store_matrix_sync(to, sums, bug ? 18 : 16, kByRow);  // UnevenRowsOfTile
  out[Global()] = Mirrored();
}

__global__ void TwoTiles(bool bug, int* out) {
  const auto [first, second] = TilesOfWarp();
  float* const to = bug && Thread() % 2 == 1 ? second : first;
  Sums sums;
  wmma::store_matrix_sync(to, sums, 16, kByRow);  // TwoTiles
  out[Global()] = Mirrored();
}

__global__ void LaneMissingFromTile(bool bug, int* out) {
  out[Global()] = Mirrored();
  if (bug && Thread() == 3) return;
  Sums sums;
  float* const to = TilesOfWarp().first;
  wmma::store_matrix_sync(to, sums, 16, kByRow);  // LaneMissingFromTile
}

__global__ void DivergentTensorCores(bool bug, int* out) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, Half, wmma::row_major> a;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, Half, wmma::row_major> b;
  Sums sums;
  wmma::fill_fragment(a, Half(0.5f));
  wmma::fill_fragment(b, Half(2.f));
  wmma::fill_fragment(sums, static_cast<float>(kThreads - 1));
  if (!bug || Thread() < 40) {
    wmma::mma_sync(sums, a, b, sums);  // DivergentTensorCores
  }
  __syncthreads();
  out[Global()] = static_cast<int>(sums.x[0]) - 16 - Thread();
}

// Which has NaN, and no number.
__global__ void UninitializedFragment(bool bug, int* out) {
  Sums sums;
  if (!bug) wmma::fill_fragment(sums, static_cast<float>(Mirrored()));
  out[Global()] = sums.x[0] >= 0 ? static_cast<int>(sums.x[0]) : -1;
}

// Small frames, of which the one too many is in the guard: AddressSanitizer
// tells an overflow by a fault near the stack pointer.
__device__ __attribute__((noinline)) int Recurse(int depth) {
  volatile char frame[1024];
  frame[0] = static_cast<char>(depth);
  const int below = depth > 0 ? Recurse(depth - 1) : 0;
  return below + frame[0] - static_cast<char>(depth);
}

// All stacks are there when one overflows, by less than the guard's size: it
// must not end in another one.
__global__ void StackOverflow(bool bug, int* out) {
  __syncthreads();
  out[Global()] = Mirrored() + Recurse(bug && Thread() == 0 ? 280 : 32);
}

const struct {
  const char* name;
  void (*kernel)(bool, int*);
} kKernels[] = {
    {"MissingSyncthreads", MissingSyncthreads},
    {"MissingSecondSyncthreads", MissingSecondSyncthreads},
    {"MissingSyncwarp", MissingSyncwarp},
    {"SyncwarpOfTooFewLanes", SyncwarpOfTooFewLanes},
    {"UninitializedShared", UninitializedShared},
    {"GlobalOutOfBounds", GlobalOutOfBounds},
    {"SharedOutOfBounds", SharedOutOfBounds},
    {"StaticSharedOutOfBounds", StaticSharedOutOfBounds},
    {"SignedOverflow", SignedOverflow},
    {"MisalignedAccess", MisalignedAccess},
    {"DivergentShuffle", DivergentShuffle},
    {"DivergentSyncthreads", DivergentSyncthreads},
    {"TwoBarriers", TwoBarriers},
    {"TwoShuffles", TwoShuffles},
    {"TwoMasks", TwoMasks},
    {"InactiveLane", InactiveLane},
    {"ReturnedLane", ReturnedLane},
    {"LaneNotInMask", LaneNotInMask},
    {"InvalidWidth", InvalidWidth},
    {"MissingSyncwarpOfTile", MissingSyncwarpOfTile},
    {"MisalignedTile", MisalignedTile},
    {"UnevenRowsOfTile", UnevenRowsOfTile},
    {"TwoTiles", TwoTiles},
    {"LaneMissingFromTile", LaneMissingFromTile},
    {"DivergentTensorCores", DivergentTensorCores},
    {"UninitializedFragment", UninitializedFragment},
    {"StackOverflow", StackOverflow},
};

int Run(const char* name, void (*kernel)(bool, int*), bool bug) {
  // The sanitizers know its bounds.
  const std::unique_ptr<int[]> out(new int[kSize]);
  for (int i = 0; i < kSize; ++i) out[static_cast<size_t>(i)] = -1;
  GPU_LAUNCH(kernel, kBlocks, kThreads, kThreads * sizeof(int), nullptr, bug,
             out.get());
  const cudaError_t error = cudaGetLastError();
  if (error != cudaSuccess) {
    std::printf("%s: %s: %s\n", name, cudaGetErrorName(error),
                cudaGetErrorString(error));
    return 2;
  }
  for (int i = 0; i < kSize; ++i) {
    const int expected = kThreads - 1 - i % kThreads;
    const int actual = out[static_cast<size_t>(i)];
    if (actual != expected) {
      std::printf("%s: wrong result %d of thread %d, expected %d\n", name,
                  actual, i, expected);
      return 1;
    }
  }
  return 0;
}

int RunWithoutBugs() {
  int status = 0;
  for (const auto& kernel : kKernels) {
    const int result = Run(kernel.name, kernel.kernel, false);
    if (result != 0) status = result;
  }
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 1) return RunWithoutBugs();
  for (const auto& kernel : kKernels) {
    if (std::strcmp(argv[1], kernel.name) != 0) continue;
    const int status = Run(kernel.name, kernel.kernel, true);
    // What a failed launch has left behind must not disturb the next ones.
    if (RunWithoutBugs() != 0) return 3;
    return status;
  }
  std::fprintf(stderr, "There is no kernel %s.\n", argv[1]);
  return 4;
}
