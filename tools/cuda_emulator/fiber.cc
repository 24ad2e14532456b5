// SPDX-License-Identifier: Apache-2.0
#include "tools/cuda_emulator/fiber.h"

#include <sys/mman.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "tools/cuda_emulator/sanitizers.h"

// Saves the registers that calls preserve on the stack, its pointer in *save,
// and goes on with the stack `load`. swapcontext() would do, but it makes a
// system call, which takes most of the time of kernels with barriers.
extern "C" void cuda_emulator_switch_stack(void** save, void* load);

#if defined(__x86_64__)
asm(R"(
  .pushsection .text
  .globl cuda_emulator_switch_stack
  .hidden cuda_emulator_switch_stack
  .type cuda_emulator_switch_stack, @function
cuda_emulator_switch_stack:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
  .size cuda_emulator_switch_stack, . - cuda_emulator_switch_stack
  .popsection
)");
#elif defined(__aarch64__)
asm(R"(
  .pushsection .text
  .globl cuda_emulator_switch_stack
  .hidden cuda_emulator_switch_stack
  .type cuda_emulator_switch_stack, %function
cuda_emulator_switch_stack:
  sub sp, sp, #160
  stp x19, x20, [sp, #0]
  stp x21, x22, [sp, #16]
  stp x23, x24, [sp, #32]
  stp x25, x26, [sp, #48]
  stp x27, x28, [sp, #64]
  stp x29, x30, [sp, #80]
  stp d8, d9, [sp, #96]
  stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]
  stp d14, d15, [sp, #144]
  mov x9, sp
  str x9, [x0]
  mov sp, x1
  ldp x19, x20, [sp, #0]
  ldp x21, x22, [sp, #16]
  ldp x23, x24, [sp, #32]
  ldp x25, x26, [sp, #48]
  ldp x27, x28, [sp, #64]
  ldp x29, x30, [sp, #80]
  ldp d8, d9, [sp, #96]
  ldp d10, d11, [sp, #112]
  ldp d12, d13, [sp, #128]
  ldp d14, d15, [sp, #144]
  add sp, sp, #160
  ret
  .size cuda_emulator_switch_stack, . - cuda_emulator_switch_stack
  .popsection
)");
#else
#error "The CUDA emulator has no stack switch for this processor."
#endif

namespace cuda_emulator {
namespace {

constexpr size_t kStackSize = 256 << 10;
// Cannot be accessed. No smaller than a page of any processor.
constexpr size_t kGuardSize = 64 << 10;

// The fiber that is started on this OS thread.
thread_local Fiber* starting = nullptr;

}  // namespace

Fiber::Fiber() {
  void* mapping =
      mmap(nullptr, kGuardSize + kStackSize, PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (mapping == MAP_FAILED || mprotect(mapping, kGuardSize, PROT_NONE) != 0) {
    std::perror("cuda_emulator: no memory for the stack of a CUDA thread");
    std::abort();
  }
  mapping_ = static_cast<char*>(mapping);
  if (HasThreadSanitizer()) tsan_fiber_ = __tsan_create_fiber(0);
  PrepareStack();
}

Fiber::~Fiber() {
  if (HasThreadSanitizer()) __tsan_destroy_fiber(tsan_fiber_);
  munmap(mapping_, kGuardSize + kStackSize);
}

void Fiber::Start(Function function, void* argument) {
  function_ = function;
  argument_ = argument;
  starting = this;
  SwitchIn();
}

void Fiber::Resume() { SwitchIn(); }

void Fiber::Suspend() { SwitchOut(&fake_stack_); }

void Fiber::Reset() {
  if (__asan_unpoison_memory_region) {
    __asan_unpoison_memory_region(mapping_ + kGuardSize, kStackSize);
  }
  if (HasThreadSanitizer()) {
    __tsan_destroy_fiber(tsan_fiber_);
    tsan_fiber_ = __tsan_create_fiber(0);
  }
  fake_stack_ = nullptr;
  PrepareStack();
}

void Fiber::ReleaseTo(void* address) {
  if (!HasThreadSanitizer()) return;
  void* const caller = __tsan_get_current_fiber();
  SwitchToTsanFiber(tsan_fiber_);
  Release(address);
  SwitchToTsanFiber(caller);
}

void Fiber::AcquireFrom(void* address) {
  if (!HasThreadSanitizer()) return;
  void* const caller = __tsan_get_current_fiber();
  SwitchToTsanFiber(tsan_fiber_);
  Acquire(address);
  SwitchToTsanFiber(caller);
}

// Serves one function after another.
void Fiber::Main() noexcept {
  Fiber* const self = starting;
  if (__sanitizer_finish_switch_fiber) {
    __sanitizer_finish_switch_fiber(nullptr, &self->caller_bottom_,
                                    &self->caller_size_);
  }
  for (;;) {
    self->function_(self->argument_);
    // An idle fiber needs no fake stack.
    self->fake_stack_ = nullptr;
    self->SwitchOut(nullptr);
  }
}

// Writes what cuda_emulator_switch_stack() reads to enter Main().
void Fiber::PrepareStack() {
  auto* top = reinterpret_cast<uintptr_t*>(mapping_ + kGuardSize + kStackSize);
  const auto main = reinterpret_cast<uintptr_t>(&Main);
#if defined(__x86_64__)
  // Six registers, the address to return to, and no caller of Main().
  constexpr int kWords = 8;
  constexpr int kReturnAddress = 6;
#else
  constexpr int kWords = 20;
  constexpr int kReturnAddress = 11;  // x30
#endif
  uintptr_t* const frame = top - kWords;
  for (int i = 0; i < kWords; ++i) frame[i] = 0;
  frame[kReturnAddress] = main;
  stack_pointer_ = frame;
}

void Fiber::SwitchIn() {
  void* caller_fake_stack = nullptr;
  if (__sanitizer_start_switch_fiber) {
    __sanitizer_start_switch_fiber(&caller_fake_stack, mapping_ + kGuardSize,
                                   kStackSize);
  }
  if (HasThreadSanitizer()) {
    tsan_caller_ = __tsan_get_current_fiber();
    SwitchToTsanFiber(tsan_fiber_);
  }
  cuda_emulator_switch_stack(&caller_pointer_, stack_pointer_);
  if (__sanitizer_finish_switch_fiber) {
    __sanitizer_finish_switch_fiber(caller_fake_stack, nullptr, nullptr);
  }
}

void Fiber::SwitchOut(void** fake_stack) {
  if (__sanitizer_start_switch_fiber) {
    __sanitizer_start_switch_fiber(fake_stack, caller_bottom_, caller_size_);
  }
  SwitchToTsanFiber(tsan_caller_);
  cuda_emulator_switch_stack(&stack_pointer_, caller_pointer_);
  if (__sanitizer_finish_switch_fiber) {
    __sanitizer_finish_switch_fiber(fake_stack_, &caller_bottom_,
                                    &caller_size_);
  }
}

}  // namespace cuda_emulator
