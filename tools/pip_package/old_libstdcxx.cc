// SPDX-License-Identifier: Apache-2.0
// Functions that newer versions of GCC's library have under a new symbol
// version. A library that is linked with these instead loads on every system
// that the wheel's manylinux tag is for.
#include <pthread.h>

#include <condition_variable>
#include <mutex>

// std::condition_variable::wait, which Eigen's thread pool calls:
// GLIBCXX_3.4.30 since GCC 12.
extern "C" __attribute__((visibility("hidden"))) void
WaitForCondition(std::condition_variable& condition, std::unique_lock<std::mutex>& lock) __asm__(
    "_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE");

extern "C" void WaitForCondition(std::condition_variable& condition,
                                 std::unique_lock<std::mutex>& lock) {
  pthread_cond_wait(condition.native_handle(), lock.mutex()->native_handle());
}
