// SPDX-License-Identifier: Apache-2.0
//
// Runs CUDA kernels on the CPU, for tests on machines without a GPU. A source
// of kernels includes this header instead of <cuda_runtime.h> and is compiled
// by an ordinary C++ compiler. Each CUDA thread is a fiber: it runs until it
// waits for others (__syncthreads(), shuffles and so on) or returns. Blocks run
// one after another. A launch is over when GPU_LAUNCH returns, and runs on the
// OS thread that called it; other OS threads may launch at the same time.
//
// What it is for, beside wrong results:
//
// - Order. CUDA_EMULATOR_ORDER is forward (the default), reverse or random: the
//   order of blocks, warps and threads. A warp runs as far ahead of the others
//   as barriers allow. CUDA_EMULATOR_SEED, a number, chooses the random order;
//   it is the same in each launch. SetOrder() does what the variables do.
// - Broken rules. The launch ends with cudaErrorLaunchFailure, and
//   cudaGetErrorString() says file, line and reason, where
//     * a barrier, shuffle or vote is not reached by all threads concerned
//       (a thread that has returned is missed by __syncthreads(), though newer
//       GPUs forgive that, but not by the operations of its warp);
//     * threads of a block meet in different __syncthreads(), or lanes of a
//       mask in different shuffles or votes (told apart by file and line);
//     * a shuffle reads a lane that does not take part in it;
//     * a lane is not in the mask that it passes, or a width is not a power of
//       two up to 32.
// - Dynamic shared memory has no zeros at first, but bytes 0xCD.
// - AddressSanitizer, with kernels compiled with -fsanitize=address: accesses
//   out of bounds of global (heap) and dynamic shared memory.
// - UndefinedBehaviorSanitizer: overflows, misaligned accesses, indices out of
//   bounds of static shared arrays.
// - ThreadSanitizer, with kernels compiled with -fsanitize=thread and the
//   emulator without: races between threads of a block, as when a
//   __syncthreads() or __syncwarp() is missing. As in CUDA, shuffles and votes
//   order no accesses to memory.
//
// emulated_cuda_test (emulated_cuda_test.bzl) makes tests of all these.
//
// What differs from a GPU:
//
// - Threads are not preempted: one that spins until another writes hangs.
// - Static shared memory keeps what the previous block of this OS thread has
//   left there, zeros at first. AddressSanitizer does not watch it.
// - Races between blocks, or between launches, are not found.
// - A thread's stack is 256 KiB, and overflows end in a segmentation fault.
// - No more than 48 KiB of dynamic shared memory, as on a GPU where the kernel
//   does not ask for more. Launch bounds and static shared memory are ignored.
//
// CUDA_EMULATOR_ARCHITECTURE, such as 700 for sm_70, is the GPU's architecture,
// for kernels that choose by it: on a GPU by __CUDA_ARCH__, which is not
// defined here. Tensor cores are in wmma.h.
//
// Not there: concurrency of streams, events and copies; textures, cooperative
// groups, launches by kernels, __activemask(), exceptions.
#ifndef TOOLS_CUDA_EMULATOR_CUDA_EMULATOR_H_
#define TOOLS_CUDA_EMULATOR_CUDA_EMULATOR_H_

// Not <cmath>: as in CUDA, the overloads for float are to be global, too.
#include <math.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#define __global__
#define __device__
#define __host__
#define __constant__
#define __shared__ static thread_local
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define __align__(bytes) __attribute__((aligned(bytes)))

struct uint3 {
  unsigned x, y, z;
};

struct dim3 {
  // Not explicit: a launch takes numbers for sizes.
  constexpr dim3(unsigned vx = 1, unsigned vy = 1, unsigned vz = 1)
      : x(vx), y(vy), z(vz) {}

  unsigned x, y, z;
};

typedef struct CUstream_st* cudaStream_t;

enum cudaError {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorInvalidConfiguration = 9,
  cudaErrorLaunchFailure = 719,
  cudaErrorNotSupported = 801,
};
typedef enum cudaError cudaError_t;

// Errors of launches by this OS thread. As in CUDA, an error stays until
// cudaGetLastError() has returned it.
cudaError_t cudaGetLastError();
cudaError_t cudaPeekAtLastError();
const char* cudaGetErrorName(cudaError_t error);
// For cudaErrorLaunchFailure, this OS thread's latest: "file:line: reason".
const char* cudaGetErrorString(cudaError_t error);

namespace cuda_emulator {

enum class Order { kForward, kReverse, kRandom };

// The order of launches from now on, in all OS threads.
void SetOrder(Order order, unsigned seed = 1);

// The GPU's architecture, as in __CUDA_ARCH__: 900 unless the environment says
// otherwise. It changes for all OS threads, for launches from now on.
int Architecture();
void SetArchitecture(int architecture);

// What follows is for the macros and functions below.

// Where a kernel calls which function.
struct Place {
  const char* function;
  const char* file;
  int line;
};

struct Indices {
  uint3 thread;
  uint3 block;
  dim3 block_size;
  dim3 grid_size;
  unsigned lane;
};

// Of the CUDA thread that runs on this OS thread. __thread and not thread_local
// because that would call a function for each access.
extern __thread Indices current_indices;

// No references: UndefinedBehaviorSanitizer takes them for null where gcc tests
// a sum of addresses, and the linker has made it an instruction without flags.
inline uint3 ThreadIdx() { return current_indices.thread; }
inline uint3 BlockIdx() { return current_indices.block; }
inline dim3 BlockDim() { return current_indices.block_size; }
inline dim3 GridDim() { return current_indices.grid_size; }

void* DynamicShared();

// Returns for how many threads the predicate holds.
int SyncThreads(const Place& place, bool predicate);

void SyncWarp(const Place& place, unsigned mask = 0xffffffffu);

unsigned Ballot(const Place& place, unsigned mask, bool predicate);

// Returns the bits of the lane that `source` says. A negative one means the
// calling lane itself.
uint64_t Shuffle(const Place& place, unsigned mask, uint64_t bits, int source);

// Checks the width and returns the first lane of the calling lane's segment.
int SegmentStart(const Place& place, int width);

template <typename T>
T ShuffleFrom(const Place& place, unsigned mask, T value, int source) {
  static_assert(
      std::is_arithmetic<T>::value && (sizeof(T) == 4 || sizeof(T) == 8),
      "CUDA shuffles numbers of 4 and 8 bytes");
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  bits = Shuffle(place, mask, bits, source);
  std::memcpy(&value, &bits, sizeof(T));
  return value;
}

template <typename T>
T ShuffleIndex(const Place& place, unsigned mask, T value, int index,
               int width = 32) {
  const int start = SegmentStart(place, width);
  return ShuffleFrom(place, mask, value, start + (index & (width - 1)));
}

template <typename T>
T ShuffleUp(const Place& place, unsigned mask, T value, unsigned delta,
            int width = 32) {
  const int start = SegmentStart(place, width);
  const unsigned lane = current_indices.lane;
  const bool inside = delta <= lane - static_cast<unsigned>(start);
  return ShuffleFrom(place, mask, value,
                     inside ? static_cast<int>(lane - delta) : -1);
}

template <typename T>
T ShuffleDown(const Place& place, unsigned mask, T value, unsigned delta,
              int width = 32) {
  const int start = SegmentStart(place, width);
  const unsigned lane = current_indices.lane;
  const bool inside = delta < static_cast<unsigned>(start + width) - lane;
  return ShuffleFrom(place, mask, value,
                     inside ? static_cast<int>(lane + delta) : -1);
}

template <typename T>
T ShuffleXor(const Place& place, unsigned mask, T value, int lane_mask,
             int width = 32) {
  const int start = SegmentStart(place, width);
  const int source = static_cast<int>(current_indices.lane) ^ (lane_mask & 31);
  // Earlier segments can be read, later ones cannot.
  return ShuffleFrom(place, mask, value, source < start + width ? source : -1);
}

using Body = void (*)(void* arguments);

void Launch(dim3 grid, dim3 block, size_t shared_bytes, Body body,
            void* arguments);

// `kernel` calls the kernel. The arguments are copied for each CUDA thread.
template <typename Kernel, typename... Arguments>
void LaunchKernel(dim3 grid, dim3 block, size_t shared_bytes, cudaStream_t,
                  Kernel kernel, Arguments... arguments) {
  auto call = [&] { kernel(arguments...); };
  Launch(
      grid, block, shared_bytes,
      [](void* bound) { (*static_cast<decltype(call)*>(bound))(); }, &call);
}

template <typename T, typename... Types>
constexpr bool kIsOneOf = (std::is_same<T, Types>::value || ...);

// Keeps a parameter out of the deduction of T.
template <typename T>
struct Identity {
  using type = T;
};
template <typename T>
using Plain = typename Identity<T>::type;

// Replaces *address by function(*address), and returns what was there. These
// and the other atomics are real ones, so that ThreadSanitizer knows them.
template <typename T, typename Function>
T Update(T* address, Function function) {
  T old;
  __atomic_load(address, &old, __ATOMIC_RELAXED);
  T updated = function(old);
  while (!__atomic_compare_exchange(address, &old, &updated, false,
                                    __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    updated = function(old);
  }
  return old;
}

template <typename To, typename From>
To BitCast(From value) {
  static_assert(sizeof(To) == sizeof(From), "sizes differ");
  To result;
  std::memcpy(&result, &value, sizeof(To));
  return result;
}

}  // namespace cuda_emulator

// Launching. A kernel with a comma in its name needs parentheses.

#define GPU_LAUNCH(kernel, grid, block, shared_bytes, stream, ...)  \
  ::cuda_emulator::LaunchKernel(grid, block, shared_bytes, stream,  \
                                [&](auto... gpu_launch_arguments) { \
                                  kernel(gpu_launch_arguments...);  \
                                } __VA_OPT__(, ) __VA_ARGS__)

#define GPU_DYNAMIC_SHARED(T, name) \
  T* const name = static_cast<T*>(::cuda_emulator::DynamicShared())

// Indices.

#define threadIdx (::cuda_emulator::ThreadIdx())
#define blockIdx (::cuda_emulator::BlockIdx())
#define blockDim (::cuda_emulator::BlockDim())
#define gridDim (::cuda_emulator::GridDim())

constexpr int warpSize = 32;

// Barriers, votes and shuffles.

#define CUDA_EMULATOR_PLACE(function) \
  (::cuda_emulator::Place{function, __FILE__, __LINE__})

#define __syncthreads() \
  ((void)::cuda_emulator::SyncThreads(CUDA_EMULATOR_PLACE("__syncthreads"), 0))
#define __syncthreads_count(predicate)                                     \
  ::cuda_emulator::SyncThreads(CUDA_EMULATOR_PLACE("__syncthreads_count"), \
                               (predicate) != 0)
#define __syncthreads_or(predicate)                                         \
  static_cast<int>(                                                         \
      ::cuda_emulator::SyncThreads(CUDA_EMULATOR_PLACE("__syncthreads_or"), \
                                   (predicate) != 0) != 0)
#define __syncthreads_and(predicate)                                         \
  static_cast<int>(                                                          \
      ::cuda_emulator::SyncThreads(CUDA_EMULATOR_PLACE("__syncthreads_and"), \
                                   (predicate) == 0) == 0)

#define __syncwarp(...)                                                      \
  ::cuda_emulator::SyncWarp(CUDA_EMULATOR_PLACE("__syncwarp") __VA_OPT__(, ) \
                                __VA_ARGS__)

#define __ballot_sync(mask, predicate)                                \
  ::cuda_emulator::Ballot(CUDA_EMULATOR_PLACE("__ballot_sync"), mask, \
                          (predicate) != 0)
#define __any_sync(mask, predicate)                                           \
  static_cast<int>(::cuda_emulator::Ballot(CUDA_EMULATOR_PLACE("__any_sync"), \
                                           mask, (predicate) != 0) != 0)
#define __all_sync(mask, predicate)                                           \
  static_cast<int>(::cuda_emulator::Ballot(CUDA_EMULATOR_PLACE("__all_sync"), \
                                           mask, (predicate) == 0) == 0)

#define __shfl_sync(...) \
  ::cuda_emulator::ShuffleIndex(CUDA_EMULATOR_PLACE("__shfl_sync"), __VA_ARGS__)
#define __shfl_up_sync(...) \
  ::cuda_emulator::ShuffleUp(CUDA_EMULATOR_PLACE("__shfl_up_sync"), __VA_ARGS__)
#define __shfl_down_sync(...)                                           \
  ::cuda_emulator::ShuffleDown(CUDA_EMULATOR_PLACE("__shfl_down_sync"), \
                               __VA_ARGS__)
#define __shfl_xor_sync(...)                                          \
  ::cuda_emulator::ShuffleXor(CUDA_EMULATOR_PLACE("__shfl_xor_sync"), \
                              __VA_ARGS__)

// Memory. All threads of a launch run on one OS thread: a fence has only the
// compiler to keep from moving accesses.

inline void __threadfence_block() { asm volatile("" ::: "memory"); }
inline void __threadfence() { asm volatile("" ::: "memory"); }

template <typename T>
T __ldg(const T* address) {
  return *address;
}

// Atomics, for the types that CUDA has them for.

template <typename T>
T atomicAdd(T* address, cuda_emulator::Plain<T> value) {
  static_assert(cuda_emulator::kIsOneOf<T, int, unsigned, unsigned long long,
                                        float, double>,
                "CUDA has no atomicAdd() of this type");
  if constexpr (std::is_integral<T>::value) {
    return __atomic_fetch_add(address, value, __ATOMIC_RELAXED);
  } else {
    return cuda_emulator::Update(address, [=](T old) { return old + value; });
  }
}

template <typename T>
T atomicMax(T* address, cuda_emulator::Plain<T> value) {
  static_assert(
      cuda_emulator::kIsOneOf<T, int, unsigned, long long, unsigned long long>,
      "CUDA has no atomicMax() of this type");
  return cuda_emulator::Update(
      address, [=](T old) { return old < value ? value : old; });
}

template <typename T>
T atomicMin(T* address, cuda_emulator::Plain<T> value) {
  static_assert(
      cuda_emulator::kIsOneOf<T, int, unsigned, long long, unsigned long long>,
      "CUDA has no atomicMin() of this type");
  return cuda_emulator::Update(
      address, [=](T old) { return value < old ? value : old; });
}

template <typename T>
T atomicExch(T* address, cuda_emulator::Plain<T> value) {
  static_assert(
      cuda_emulator::kIsOneOf<T, int, unsigned, unsigned long long, float>,
      "CUDA has no atomicExch() of this type");
  T old;
  __atomic_exchange(address, &value, &old, __ATOMIC_RELAXED);
  return old;
}

template <typename T>
T atomicCAS(T* address, cuda_emulator::Plain<T> compare,
            cuda_emulator::Plain<T> value) {
  static_assert(cuda_emulator::kIsOneOf<T, unsigned short, int, unsigned,
                                        unsigned long long>,
                "CUDA has no atomicCAS() of this type");
  __atomic_compare_exchange(address, &compare, &value, false, __ATOMIC_RELAXED,
                            __ATOMIC_RELAXED);
  return compare;
}

template <typename T>
T atomicAnd(T* address, cuda_emulator::Plain<T> value) {
  static_assert(cuda_emulator::kIsOneOf<T, int, unsigned, unsigned long long>,
                "CUDA has no atomicAnd() of this type");
  return __atomic_fetch_and(address, value, __ATOMIC_RELAXED);
}

template <typename T>
T atomicOr(T* address, cuda_emulator::Plain<T> value) {
  static_assert(cuda_emulator::kIsOneOf<T, int, unsigned, unsigned long long>,
                "CUDA has no atomicOr() of this type");
  return __atomic_fetch_or(address, value, __ATOMIC_RELAXED);
}

// Bits.

inline int __popc(unsigned value) { return __builtin_popcount(value); }
inline int __popcll(unsigned long long value) {
  return __builtin_popcountll(value);
}
inline int __ffs(int value) { return __builtin_ffs(value); }
inline int __ffsll(long long value) { return __builtin_ffsll(value); }
inline int __clz(int value) {
  return value == 0 ? 32 : __builtin_clz(static_cast<unsigned>(value));
}
inline int __clzll(long long value) {
  return value == 0 ? 64
                    : __builtin_clzll(static_cast<unsigned long long>(value));
}

inline int __float_as_int(float value) {
  return cuda_emulator::BitCast<int>(value);
}
inline unsigned __float_as_uint(float value) {
  return cuda_emulator::BitCast<unsigned>(value);
}
inline float __int_as_float(int value) {
  return cuda_emulator::BitCast<float>(value);
}
inline float __uint_as_float(unsigned value) {
  return cuda_emulator::BitCast<float>(value);
}
inline long long __double_as_longlong(double value) {
  return cuda_emulator::BitCast<long long>(value);
}
inline double __longlong_as_double(long long value) {
  return cuda_emulator::BitCast<double>(value);
}

// Mathematics that the C library lacks.

inline float rsqrtf(float value) { return 1.0f / sqrtf(value); }
inline double rsqrt(double value) { return 1.0 / sqrt(value); }

#endif  // TOOLS_CUDA_EMULATOR_CUDA_EMULATOR_H_
