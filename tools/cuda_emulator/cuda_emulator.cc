// SPDX-License-Identifier: Apache-2.0
//
// The scheduler. Compile it without sanitizers: ThreadSanitizer would take its
// order for an order of the CUDA threads.
#include "tools/cuda_emulator/cuda_emulator.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "tools/cuda_emulator/fiber.h"
#include "tools/cuda_emulator/sanitizers.h"
#include "tools/cuda_emulator/wmma.h"

namespace cuda_emulator {

__thread Indices current_indices = {};

namespace {

constexpr unsigned kMaxThreads = 1024;
constexpr unsigned kMaxWarps = kMaxThreads / 32;
constexpr size_t kMaxSharedBytes = 48 << 10;
constexpr int kUninitialized = 0xCD;

// Where dynamic shared memory begins: a multiple of that, as tensor cores and
// vectors need it.
constexpr std::align_val_t kSharedAlignment{128};

// Instead of a lane that a shuffle reads.
constexpr int kOwnValue = -1;
constexpr int kVotes = -2;
// Of operations that all lanes of a warp must take part in: with the same
// value, and with a TileProduct each.
constexpr int kSameValue = -3;
constexpr int kTileProduct = -4;
constexpr unsigned kAllLanes = 0xffffffffu;

struct Settings {
  Order order;
  unsigned seed;
};

Settings SettingsOfEnvironment() {
  Settings settings = {Order::kForward, 1};
  if (const char* seed = std::getenv("CUDA_EMULATOR_SEED")) {
    settings.seed = static_cast<unsigned>(std::strtoul(seed, nullptr, 10));
  }
  const char* const variable = std::getenv("CUDA_EMULATOR_ORDER");
  const std::string order = variable == nullptr ? "forward" : variable;
  if (order == "reverse") {
    settings.order = Order::kReverse;
  } else if (order == "random") {
    settings.order = Order::kRandom;
  } else if (order != "forward") {
    std::fprintf(stderr,
                 "CUDA_EMULATOR_ORDER must be forward, reverse or random, and "
                 "is '%s'\n",
                 order.c_str());
    std::abort();
  }
  return settings;
}

std::atomic<Settings>& CurrentSettings() {
  static std::atomic<Settings> settings(SettingsOfEnvironment());
  return settings;
}

int ArchitectureOfEnvironment() {
  const char* const variable = std::getenv("CUDA_EMULATOR_ARCHITECTURE");
  if (variable == nullptr) return 900;
  char* end = nullptr;
  const long architecture = std::strtol(variable, &end, 10);
  if (*end != '\0' || architecture < 500 || architecture > 9999) {
    std::fprintf(stderr,
                 "CUDA_EMULATOR_ARCHITECTURE must be a number such as 900, for "
                 "sm_90, and is '%s'\n",
                 variable);
    std::abort();
  }
  return static_cast<int>(architecture);
}

std::atomic<int>& CurrentArchitecture() {
  static std::atomic<int> architecture(ArchitectureOfEnvironment());
  return architecture;
}

bool Has(uint32_t bits, int i) { return (bits >> i & 1) != 0; }

int LowestBit(uint32_t bits) { return __builtin_ctz(bits); }

int HighestBit(uint32_t bits) { return 31 - __builtin_clz(bits); }

uint3 IndexOf(uint64_t i, const dim3& size) {
  return {static_cast<unsigned>(i % size.x),
          static_cast<unsigned>(i / size.x % size.y),
          static_cast<unsigned>(i / size.x / size.y)};
}

bool IsValidSize(const dim3& size, unsigned max_x, unsigned max_y,
                 unsigned max_z) {
  return size.x > 0 && size.x <= max_x && size.y > 0 && size.y <= max_y &&
         size.z > 0 && size.z <= max_z;
}

uint64_t Product(const dim3& size) {
  return uint64_t{size.x} * size.y * size.z;
}

std::string ToString(const uint3& index) {
  return "(" + std::to_string(index.x) + "," + std::to_string(index.y) + "," +
         std::to_string(index.z) + ")";
}

std::string ToString(const Place& place) {
  return std::string(place.file) + ":" + std::to_string(place.line);
}

std::string MaskToString(unsigned mask) {
  char text[sizeof("0x12345678")];
  std::snprintf(text, sizeof(text), "0x%08x", mask);
  return text;
}

bool IsSyncWarp(const Place& place) {
  return std::strcmp(place.function, "__syncwarp") == 0;
}

// Whether threads at these places meet.
bool Meet(const Place& a, const Place& b) {
  if (IsSyncWarp(a) && IsSyncWarp(b)) return true;
  return a.line == b.line && std::strcmp(a.function, b.function) == 0 &&
         std::strcmp(a.file, b.file) == 0;
}

enum class State { kReady, kAtBarrier, kInWarpOperation, kReturned };

struct CudaThread {
  uint3 index;
  int warp;
  int lane;
  State state;
  Fiber* fiber;  // null before it starts and after it has returned

  // What it waits in.
  Place place;
  unsigned mask;
  uint64_t value;
  int source;
  uint64_t result;
};

// Lanes as bits.
struct Warp {
  uint32_t ready;
  uint32_t waiting;  // in warp operations
  uint32_t present;  // not returned, nor beyond the end of the block
};

std::string Describe(const CudaThread& thread) {
  const std::string name = "thread " + ToString(thread.index);
  if (thread.state == State::kReturned) return name + ", which has returned";
  std::string mask;
  if (thread.state == State::kInWarpOperation) {
    mask = " with mask " + MaskToString(thread.mask);
  }
  return name + ", which is in " + thread.place.function + "()" + mask +
         " at " + ToString(thread.place);
}

// Whether `waiting` waits for the thread, which has not come.
bool IsMissing(const CudaThread& thread, const CudaThread& waiting) {
  if (waiting.state == State::kAtBarrier) {
    return thread.state != State::kAtBarrier;
  }
  return thread.warp == waiting.warp && Has(waiting.mask, thread.lane) &&
         thread.state != State::kReturned &&
         (thread.state != State::kInWarpOperation ||
          thread.mask != waiting.mask);
}

// Runs the launches of one OS thread.
class Scheduler {
 public:
  static Scheduler& OfThisThread() {
    static thread_local Scheduler scheduler;
    return scheduler;
  }

  void Launch(dim3 grid, dim3 block, size_t shared_bytes, Body body,
              void* arguments);
  int Architecture() { return CurrentArchitecture(); }

  void SetArchitecture(int architecture) {
    CurrentArchitecture() = architecture;
  }

  void* DynamicShared() { return shared_.get(); }
  // What decides which lane has which element of a tile.
  unsigned TileMask() const { return tile_mask_; }

  // For the CUDA thread that runs.
  uint64_t AtBarrier(const Place& place, bool predicate);
  uint64_t InWarpOperation(const Place& place, unsigned mask, uint64_t value,
                           int source);
  [[noreturn]] void Fail(const Place& place, const std::string& reason);

  cudaError_t error() const { return error_; }
  void clear_error() { error_ = cudaSuccess; }
  const std::string& message() const { return message_; }

 private:
  static void RunBody(void* scheduler);

  std::vector<uint64_t> RandomBlocks(uint64_t blocks);
  void StartBlock();
  void RunBlock();
  void EndBlock();
  CudaThread* ChooseReady();
  int Choose(uint32_t bits);
  void Run(CudaThread& thread);
  void Return(CudaThread& thread);

  CudaThread& Current(const Place& place);
  CudaThread& Thread(int warp, int lane) {
    return threads_[static_cast<size_t>(warp * 32 + lane)];
  }
  uint64_t Wait(CudaThread& thread, State state, const Place& place,
                unsigned mask, uint64_t value, int source);
  void MakeReady(CudaThread& thread);
  void FinishBarrier();
  void FinishWarpOperation(const CudaThread& thread);
  void SynchronizeLanes(int warp, uint32_t members);
  bool IsOfWholeWarp(const CudaThread& thread, uint32_t members);
  void MultiplyTiles(int warp);
  void Record(const CudaThread& thread, const std::string& reason);
  void RecordDeadlock();

  Settings settings_ = {};
  std::minstd_rand random_;
  Body body_ = nullptr;
  void* arguments_ = nullptr;
  size_t shared_bytes_ = 0;
  std::unique_ptr<char[], void (*)(char*)> shared_{
      nullptr, [](char* bytes) { operator delete[](bytes, kSharedAlignment); }};
  unsigned tile_mask_ = 0;
  cudaError_t error_ = cudaSuccess;
  std::string message_;  // of the latest cudaErrorLaunchFailure

  std::vector<CudaThread> threads_;  // of the block
  Warp warps_[kMaxWarps] = {};
  uint32_t ready_warps_ = 0;
  size_t at_barrier_ = 0;
  size_t returned_ = 0;
  CudaThread* current_ = nullptr;
  bool failed_ = false;

  std::vector<std::unique_ptr<Fiber>> fibers_;
  std::vector<Fiber*> idle_;
  // Idle from the next block on: to ThreadSanitizer, a fiber is a thread.
  std::vector<Fiber*> used_;

  // What the CUDA threads synchronize on, to ThreadSanitizer.
  char block_start_ = 0;
  char block_end_ = 0;
  char barrier_ = 0;
  char warp_barriers_[kMaxThreads] = {};  // at the first lane of each mask
};

void Scheduler::Launch(dim3 grid, dim3 block, size_t shared_bytes, Body body,
                       void* arguments) {
  if (current_ != nullptr) {
    error_ = cudaErrorNotSupported;
    return;
  }
  if (!IsValidSize(grid, 0x7fffffff, 0xffff, 0xffff) ||
      !IsValidSize(block, kMaxThreads, kMaxThreads, 64) ||
      Product(block) > kMaxThreads) {
    error_ = cudaErrorInvalidConfiguration;
    return;
  }
  if (shared_bytes > kMaxSharedBytes) {
    error_ = cudaErrorInvalidValue;
    return;
  }
  settings_ = CurrentSettings();
  random_.seed(settings_.seed);
  constexpr unsigned kTileElements = 16 * 16;
  tile_mask_ = 0;
  if (settings_.order == Order::kReverse) tile_mask_ = kTileElements - 1;
  if (settings_.order == Order::kRandom) {
    tile_mask_ = static_cast<unsigned>(random_()) % kTileElements;
  }
  body_ = body;
  arguments_ = arguments;
  shared_bytes_ = shared_bytes;
  // Of this size, for AddressSanitizer.
  shared_.reset(new (kSharedAlignment) char[shared_bytes]);
  threads_.resize(Product(block));
  failed_ = false;
  current_indices.block_size = block;
  current_indices.grid_size = grid;

  const uint64_t blocks = Product(grid);
  std::vector<uint64_t> random_blocks;
  if (settings_.order == Order::kRandom) random_blocks = RandomBlocks(blocks);
  for (uint64_t i = 0; i < blocks && !failed_; ++i) {
    uint64_t next = i;
    if (settings_.order == Order::kReverse) next = blocks - 1 - i;
    if (settings_.order == Order::kRandom) next = random_blocks[i];
    current_indices.block = IndexOf(next, grid);
    StartBlock();
    RunBlock();
    EndBlock();
  }
}

std::vector<uint64_t> Scheduler::RandomBlocks(uint64_t blocks) {
  std::vector<uint64_t> order(blocks);
  std::iota(order.begin(), order.end(), uint64_t{0});
  std::shuffle(order.begin(), order.end(), random_);
  return order;
}

void Scheduler::StartBlock() {
  std::memset(shared_.get(), kUninitialized, shared_bytes_);
  ready_warps_ = 0;
  at_barrier_ = 0;
  returned_ = 0;
  for (Warp& warp : warps_) warp = {};
  for (size_t i = 0; i < threads_.size(); ++i) {
    CudaThread& thread = threads_[i];
    thread.index = IndexOf(i, current_indices.block_size);
    thread.warp = static_cast<int>(i / 32);
    thread.lane = static_cast<int>(i % 32);
    thread.fiber = nullptr;
    warps_[thread.warp].present |= 1u << thread.lane;
    MakeReady(thread);
  }
  Release(&block_start_);
}

void Scheduler::RunBlock() {
  while (!failed_ && returned_ < threads_.size()) {
    if (CudaThread* thread = ChooseReady()) {
      Run(*thread);
    } else if (at_barrier_ == threads_.size()) {
      FinishBarrier();
    } else {
      RecordDeadlock();
    }
  }
}

void Scheduler::EndBlock() {
  // In a block that has failed, threads may still wait.
  for (CudaThread& thread : threads_) {
    if (thread.fiber == nullptr) continue;
    thread.fiber->ReleaseTo(&block_end_);
    thread.fiber->Reset();
    used_.push_back(thread.fiber);
  }
  Acquire(&block_end_);
  idle_.insert(idle_.end(), used_.begin(), used_.end());
  used_.clear();
}

CudaThread* Scheduler::ChooseReady() {
  if (ready_warps_ == 0) return nullptr;
  const int warp = Choose(ready_warps_);
  return &Thread(warp, Choose(warps_[warp].ready));
}

int Scheduler::Choose(uint32_t bits) {
  if (settings_.order == Order::kForward) return LowestBit(bits);
  if (settings_.order == Order::kReverse) return HighestBit(bits);
  const auto count = static_cast<unsigned>(__builtin_popcount(bits));
  for (unsigned skip = static_cast<unsigned>(random_()) % count; skip > 0;
       --skip) {
    bits &= bits - 1;
  }
  return LowestBit(bits);
}

// Lets the thread run until it waits or returns.
void Scheduler::Run(CudaThread& thread) {
  Warp& warp = warps_[thread.warp];
  warp.ready &= ~(1u << thread.lane);
  if (warp.ready == 0) ready_warps_ &= ~(1u << thread.warp);

  current_ = &thread;
  current_indices.thread = thread.index;
  current_indices.lane = static_cast<unsigned>(thread.lane);
  if (thread.fiber != nullptr) {
    thread.fiber->Resume();
  } else {
    if (idle_.empty()) {
      fibers_.push_back(std::make_unique<Fiber>());
      idle_.push_back(fibers_.back().get());
    }
    thread.fiber = idle_.back();
    idle_.pop_back();
    thread.fiber->Start(&RunBody, this);
  }
  current_ = nullptr;

  if (failed_) return;
  if (thread.state == State::kReady) {
    Return(thread);
  } else if (thread.state == State::kAtBarrier) {
    ++at_barrier_;
  } else {
    warp.waiting |= 1u << thread.lane;
    FinishWarpOperation(thread);
  }
}

void Scheduler::RunBody(void* scheduler) {
  auto* const self = static_cast<Scheduler*>(scheduler);
  Acquire(&self->block_start_);
  self->body_(self->arguments_);
  Release(&self->block_end_);
}

void Scheduler::Return(CudaThread& thread) {
  thread.state = State::kReturned;
  ++returned_;
  (HasThreadSanitizer() ? used_ : idle_).push_back(thread.fiber);
  thread.fiber = nullptr;
  // Lanes may have been waiting for this one only.
  Warp& warp = warps_[thread.warp];
  warp.present &= ~(1u << thread.lane);
  for (int lane = 0; lane < 32 && !failed_; ++lane) {
    if (Has(warp.waiting, lane)) FinishWarpOperation(Thread(thread.warp, lane));
  }
}

CudaThread& Scheduler::Current(const Place& place) {
  if (current_ == nullptr) {
    std::fprintf(stderr, "%s: %s() is called outside of a kernel\n",
                 ToString(place).c_str(), place.function);
    std::abort();
  }
  return *current_;
}

uint64_t Scheduler::AtBarrier(const Place& place, bool predicate) {
  return Wait(Current(place), State::kAtBarrier, place, 0, predicate, 0);
}

uint64_t Scheduler::InWarpOperation(const Place& place, unsigned mask,
                                    uint64_t value, int source) {
  CudaThread& thread = Current(place);
  if (!Has(mask, thread.lane)) {
    Fail(place, "is called by lane " + std::to_string(thread.lane) +
                    ", which is not in its mask " + MaskToString(mask));
  }
  return Wait(thread, State::kInWarpOperation, place, mask, value, source);
}

void Scheduler::Fail(const Place& place, const std::string& reason) {
  CudaThread& thread = Current(place);
  thread.place = place;
  Record(thread, reason);
  thread.fiber->Suspend();
  std::abort();  // a fiber of a failed block is not resumed
}

uint64_t Scheduler::Wait(CudaThread& thread, State state, const Place& place,
                         unsigned mask, uint64_t value, int source) {
  thread.state = state;
  thread.place = place;
  thread.mask = mask;
  thread.value = value;
  thread.source = source;
  thread.fiber->Suspend();
  return thread.result;
}

void Scheduler::MakeReady(CudaThread& thread) {
  thread.state = State::kReady;
  warps_[thread.warp].ready |= 1u << thread.lane;
  ready_warps_ |= 1u << thread.warp;
}

void Scheduler::FinishBarrier() {
  uint64_t count = 0;
  for (const CudaThread& thread : threads_) {
    if (!Meet(thread.place, threads_[0].place)) {
      Record(threads_[0], "does not meet " + Describe(thread));
      return;
    }
    count += thread.value;
  }
  for (CudaThread& thread : threads_) thread.fiber->ReleaseTo(&barrier_);
  for (CudaThread& thread : threads_) {
    thread.fiber->AcquireFrom(&barrier_);
    thread.result = count;
    MakeReady(thread);
  }
  at_barrier_ = 0;
}

// Finishes what the thread waits in, if all lanes of its mask are there.
void Scheduler::FinishWarpOperation(const CudaThread& thread) {
  Warp& warp = warps_[thread.warp];
  const uint32_t members = thread.mask & warp.present;
  if ((members & ~warp.waiting) != 0) return;
  uint32_t votes = 0;
  for (uint32_t left = members; left != 0; left &= left - 1) {
    const CudaThread& member = Thread(thread.warp, LowestBit(left));
    if (member.mask != thread.mask) return;
    if (member.value != 0) votes |= 1u << member.lane;
  }
  for (uint32_t left = members; left != 0; left &= left - 1) {
    const CudaThread& member = Thread(thread.warp, LowestBit(left));
    if (!Meet(member.place, thread.place)) {
      Record(thread, "does not meet " + Describe(member));
      return;
    }
    if (member.source >= 0 && !Has(members, member.source)) {
      Record(member, "reads lane " + std::to_string(member.source) +
                         ", which does not take part in it");
      return;
    }
  }
  if (thread.source <= kSameValue && !IsOfWholeWarp(thread, members)) return;
  if (thread.source == kTileProduct) MultiplyTiles(thread.warp);
  if (IsSyncWarp(thread.place)) SynchronizeLanes(thread.warp, members);
  for (uint32_t left = members; left != 0; left &= left - 1) {
    CudaThread& member = Thread(thread.warp, LowestBit(left));
    if (member.source == kVotes) {
      member.result = votes;
    } else if (member.source < 0) {
      member.result = member.value;
    } else {
      member.result = Thread(thread.warp, member.source).value;
    }
    MakeReady(member);
  }
  warp.waiting &= ~members;
}

void Scheduler::SynchronizeLanes(int warp, uint32_t members) {
  // The first lane has met all that the others can have met at this address.
  char* const address = &warp_barriers_[warp * 32 + LowestBit(members)];
  for (uint32_t left = members; left != 0; left &= left - 1) {
    Thread(warp, LowestBit(left)).fiber->ReleaseTo(address);
  }
  for (uint32_t left = members; left != 0; left &= left - 1) {
    Thread(warp, LowestBit(left)).fiber->AcquireFrom(address);
  }
}

bool Scheduler::IsOfWholeWarp(const CudaThread& thread, uint32_t members) {
  if (members != kAllLanes) {
    Record(thread, "needs all 32 lanes of its warp, and has " +
                       std::to_string(__builtin_popcount(members)));
    return false;
  }
  if (thread.source != kSameValue) return true;
  for (int lane = 0; lane < 32; ++lane) {
    const CudaThread& member = Thread(thread.warp, lane);
    if (member.value == thread.value) continue;
    Record(thread, "has other arguments than thread " + ToString(member.index));
    return false;
  }
  return true;
}

void Scheduler::MultiplyTiles(int warp) {
  float a[16][16];
  float b[16][16];
  const auto for_each = [&](auto function) {
    for (int lane = 0; lane < 32; ++lane) {
      auto* const product =
          reinterpret_cast<TileProduct*>(Thread(warp, lane).value);
      for (int i = 0; i < kTileElementsOfLane; ++i) {
        function(TileElementOf(static_cast<unsigned>(lane), i), *product, i);
      }
    }
  };
  for_each([&](TileElement element, const TileProduct& product, int i) {
    a[element.row][element.column] = product.a[i];
    b[element.row][element.column] = product.b[i];
  });
  for_each([&](TileElement element, TileProduct& product, int i) {
    for (int k = 0; k < 16; ++k) {
      product.sum[i] += a[element.row][k] * b[k][element.column];
    }
  });
}

// The first error counts: it ends the launch.
void Scheduler::Record(const CudaThread& thread, const std::string& reason) {
  failed_ = true;
  error_ = cudaErrorLaunchFailure;
  message_ = ToString(thread.place) + ": " + thread.place.function +
             "() of thread " + ToString(thread.index) + " in block " +
             ToString(current_indices.block) + " " + reason;
}

// No thread can go on. A warp operation is the better one to name: where it is
// incomplete, a barrier is, too.
void Scheduler::RecordDeadlock() {
  const CudaThread* waiting = nullptr;
  for (const CudaThread& thread : threads_) {
    if (thread.state == State::kReturned) continue;
    if (waiting == nullptr) waiting = &thread;
    if (thread.state == State::kInWarpOperation) {
      waiting = &thread;
      break;
    }
  }
  const CudaThread* missing = nullptr;
  for (const CudaThread& thread : threads_) {
    if (IsMissing(thread, *waiting)) {
      missing = &thread;
      break;
    }
  }
  Record(*waiting, "is a deadlock: it waits for " + Describe(*missing));
}

}  // namespace

void SetOrder(Order order, unsigned seed) {
  CurrentSettings() = Settings{order, seed};
}

int Architecture() { return CurrentArchitecture(); }

void SetArchitecture(int architecture) { CurrentArchitecture() = architecture; }

void* DynamicShared() { return Scheduler::OfThisThread().DynamicShared(); }

int SyncThreads(const Place& place, bool predicate) {
  return static_cast<int>(
      Scheduler::OfThisThread().AtBarrier(place, predicate));
}

void SyncWarp(const Place& place, unsigned mask) {
  Scheduler::OfThisThread().InWarpOperation(place, mask, 0, kOwnValue);
}

unsigned Ballot(const Place& place, unsigned mask, bool predicate) {
  return static_cast<unsigned>(Scheduler::OfThisThread().InWarpOperation(
      place, mask, predicate, kVotes));
}

uint64_t Shuffle(const Place& place, unsigned mask, uint64_t bits, int source) {
  return Scheduler::OfThisThread().InWarpOperation(
      place, mask, bits, source < 0 ? kOwnValue : source);
}

int SegmentStart(const Place& place, int width) {
  if (width < 1 || width > 32 || (width & (width - 1)) != 0) {
    Scheduler::OfThisThread().Fail(
        place, "has the width " + std::to_string(width) +
                   ", which is not a power of two from 1 to 32");
  }
  return static_cast<int>(current_indices.lane) & -width;
}

void CheckMatrix(const Place& place, const void* address, size_t element_bytes,
                 unsigned row_distance, bool row_major) {
  Scheduler& scheduler = Scheduler::OfThisThread();
  const auto number = reinterpret_cast<uint64_t>(address);
  if (number % 32 != 0) {
    scheduler.Fail(place, "gets an address that is " +
                              std::to_string(number % 32) +
                              " bytes beyond a multiple of 32");
  }
  if (row_distance * element_bytes % 16 != 0) {
    scheduler.Fail(place, "gets rows (or columns) that are " +
                              std::to_string(row_distance * element_bytes) +
                              " bytes apart, not a multiple of 16");
  }
  // Addresses have zeros above bit 47.
  const uint64_t all =
      number ^ (uint64_t{row_distance} << 48) ^ (uint64_t{row_major} << 63);
  scheduler.InWarpOperation(place, kAllLanes, all, kSameValue);
}

TileElement TileElementOf(unsigned lane, int index) {
  const unsigned element =
      (lane * kTileElementsOfLane + static_cast<unsigned>(index)) ^
      Scheduler::OfThisThread().TileMask();
  return {static_cast<int>(element / 16), static_cast<int>(element % 16)};
}

void MultiplyTiles(const Place& place, TileProduct* product) {
  Scheduler::OfThisThread().InWarpOperation(
      place, kAllLanes, reinterpret_cast<uint64_t>(product), kTileProduct);
}

void Launch(dim3 grid, dim3 block, size_t shared_bytes, Body body,
            void* arguments) {
  Scheduler::OfThisThread().Launch(grid, block, shared_bytes, body, arguments);
}

}  // namespace cuda_emulator

cudaError_t cudaPeekAtLastError() {
  return cuda_emulator::Scheduler::OfThisThread().error();
}

cudaError_t cudaGetLastError() {
  const cudaError_t error = cudaPeekAtLastError();
  cuda_emulator::Scheduler::OfThisThread().clear_error();
  return error;
}

const char* cudaGetErrorName(cudaError_t error) {
  switch (error) {
    case cudaSuccess:
      return "cudaSuccess";
    case cudaErrorInvalidValue:
      return "cudaErrorInvalidValue";
    case cudaErrorInvalidConfiguration:
      return "cudaErrorInvalidConfiguration";
    case cudaErrorLaunchFailure:
      return "cudaErrorLaunchFailure";
    case cudaErrorNotSupported:
      return "cudaErrorNotSupported";
  }
  return "unrecognized error code";
}

const char* cudaGetErrorString(cudaError_t error) {
  switch (error) {
    case cudaSuccess:
      return "no error";
    case cudaErrorInvalidValue:
      return "invalid argument";
    case cudaErrorInvalidConfiguration:
      return "invalid configuration argument";
    case cudaErrorLaunchFailure: {
      const std::string& message =
          cuda_emulator::Scheduler::OfThisThread().message();
      return message.empty() ? "unspecified launch failure" : message.c_str();
    }
    case cudaErrorNotSupported:
      return "operation not supported";
  }
  return "unrecognized error code";
}
