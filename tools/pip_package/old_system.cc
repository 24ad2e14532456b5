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
// exp, log, log2 and pow without the error handling of SVID: GLIBC_2.29.
extern "C" {
double OldExp(double x);
double OldLog(double x);
double OldLog2(double x);
double OldPow(double x, double y);
__asm__(".symver OldExp, exp@GLIBC_2.2.5");
__asm__(".symver OldLog, log@GLIBC_2.2.5");
__asm__(".symver OldLog2, log2@GLIBC_2.2.5");
__asm__(".symver OldPow, pow@GLIBC_2.2.5");
HIDDEN double NewExp(double x) __asm__("exp");
HIDDEN double NewLog(double x) __asm__("log");
HIDDEN double NewLog2(double x) __asm__("log2");
HIDDEN double NewPow(double x, double y) __asm__("pow");
double NewExp(double x) { return OldExp(x); }
double NewLog(double x) { return OldLog(x); }
double NewLog2(double x) { return OldLog2(x); }
double NewPow(double x, double y) { return OldPow(x, y); }
}
#endif
