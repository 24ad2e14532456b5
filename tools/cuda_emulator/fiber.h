// SPDX-License-Identifier: Apache-2.0
#ifndef TOOLS_CUDA_EMULATOR_FIBER_H_
#define TOOLS_CUDA_EMULATOR_FIBER_H_

#include <cstddef>

namespace cuda_emulator {

// A stack on which functions run that can be suspended. It belongs to the OS
// thread that made it.
class Fiber {
 public:
  using Function = void (*)(void* argument);

  Fiber();
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // Calls the function, which is not resumed before it is suspended, and
  // returns when it suspends itself or returns.
  void Start(Function function, void* argument);
  void Resume();

  // By the function: lets the Start() or Resume() that runs it return.
  void Suspend();

  // Forgets a suspended function, which is not resumed again.
  void Reset();

  // Release() and Acquire() on behalf of a suspended function.
  void ReleaseTo(void* address);
  void AcquireFrom(void* address);

 private:
  [[noreturn]] static void Main() noexcept;
  void PrepareStack();
  void SwitchIn();
  void SwitchOut(void** fake_stack);

  char* mapping_;         // the guard, then the stack
  void* stack_pointer_;   // while suspended
  void* caller_pointer_;  // the stack pointer of Start() or Resume()
  Function function_ = nullptr;
  void* argument_ = nullptr;

  void* fake_stack_ = nullptr;  // AddressSanitizer's
  const void* caller_bottom_ = nullptr;
  size_t caller_size_ = 0;

  void* tsan_fiber_ = nullptr;
  void* tsan_caller_ = nullptr;
};

}  // namespace cuda_emulator

#endif  // TOOLS_CUDA_EMULATOR_FIBER_H_
