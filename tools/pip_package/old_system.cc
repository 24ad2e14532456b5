// SPDX-License-Identifier: Apache-2.0
// What newer versions of glibc and of GCC's library have under a new symbol
// version. A library that is linked with these instead loads on every system
// that the wheel's manylinux tag is for.
#include <pthread.h>

#include <condition_variable>
#include <mutex>
#include <new>
#include <sstream>

#define HIDDEN __attribute__((visibility("hidden")))

// std::condition_variable::wait, which Eigen's thread pool calls:
// GLIBCXX_3.4.30 since GCC 12.
extern "C" HIDDEN void
WaitForCondition(std::condition_variable& condition, std::unique_lock<std::mutex>& lock) __asm__(
    "_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE");

extern "C" void WaitForCondition(std::condition_variable& condition,
                                 std::unique_lock<std::mutex>& lock) {
  pthread_cond_wait(condition.native_handle(), lock.mutex()->native_handle());
}

// Where operator new[] gets a size that is too large: GLIBCXX_3.4.29. The older
// function throws the base class of its exception.
namespace std {
void __throw_bad_alloc();
}
extern "C" HIDDEN void ThrowBadArrayNewLength() __asm__(
    "_ZSt28__throw_bad_array_new_lengthv");

extern "C" void ThrowBadArrayNewLength() { std::__throw_bad_alloc(); }

// The constructor without arguments: GLIBCXX_3.4.26.
template class std::basic_stringstream<char>;

// Whether the process has one thread for certain, which saves std::shared_ptr
// atomic operations: GLIBC_2.32.
extern "C" {
HIDDEN char __libc_single_threaded = 0;
}

#ifdef __x86_64__
// Functions of doubles without the error handling of SVID: GLIBC_2.29.
#define OLD_FUNCTION(name, Old, New, arguments, ...)     \
  extern "C" double Old arguments;                       \
  __asm__(".symver " #Old ", " #name "@GLIBC_2.2.5");    \
  extern "C" HIDDEN double New arguments __asm__(#name); \
  extern "C" double New arguments { return Old(__VA_ARGS__); }

OLD_FUNCTION(exp, OldExp, NewExp, (double x), x)
OLD_FUNCTION(log, OldLog, NewLog, (double x), x)
OLD_FUNCTION(log2, OldLog2, NewLog2, (double x), x)
OLD_FUNCTION(pow, OldPow, NewPow, (double x, double y), x, y)
#endif
