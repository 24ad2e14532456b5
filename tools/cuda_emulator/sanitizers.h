// SPDX-License-Identifier: Apache-2.0
//
// What fibers have to tell the sanitizers that the program is linked with. The
// emulator itself is compiled without them, so their functions are weak.
#ifndef TOOLS_CUDA_EMULATOR_SANITIZERS_H_
#define TOOLS_CUDA_EMULATOR_SANITIZERS_H_

#include <cstddef>

extern "C" {
[[gnu::weak]] void __sanitizer_start_switch_fiber(void** fake_stack_save,
                                                  const void* bottom,
                                                  size_t size);
[[gnu::weak]] void __sanitizer_finish_switch_fiber(void* fake_stack_save,
                                                   const void** bottom_old,
                                                   size_t* size_old);
[[gnu::weak]] void __asan_unpoison_memory_region(const volatile void* address,
                                                 size_t size);
[[gnu::weak]] void* __tsan_get_current_fiber();
[[gnu::weak]] void* __tsan_create_fiber(unsigned flags);
[[gnu::weak]] void __tsan_destroy_fiber(void* fiber);
[[gnu::weak]] void __tsan_switch_to_fiber(void* fiber, unsigned flags);
[[gnu::weak]] void __tsan_acquire(void* address);
[[gnu::weak]] void __tsan_release(void* address);
}

namespace cuda_emulator {

inline bool HasThreadSanitizer() { return __tsan_create_fiber != nullptr; }

// Makes what the current fiber does from now on come after all that fibers have
// done before they released the same address.
inline void Acquire(void* address) {
  if (HasThreadSanitizer()) __tsan_acquire(address);
}

inline void Release(void* address) {
  if (HasThreadSanitizer()) __tsan_release(address);
}

// To the sanitizer alone, not to another stack. The switch orders nothing.
inline void SwitchToTsanFiber(void* fiber) {
  constexpr unsigned kNoSync = 1;
  if (HasThreadSanitizer()) __tsan_switch_to_fiber(fiber, kNoSync);
}

}  // namespace cuda_emulator

#endif  // TOOLS_CUDA_EMULATOR_SANITIZERS_H_
