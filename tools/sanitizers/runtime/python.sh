#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Starts TensorFlow's Python with a sanitizer. The caller's own options come last, and count.
#
# detect_leaks: Python and TensorFlow keep thousands of blocks until the end. //tests/stress:memory_test looks for leaks.
# allocator_may_return_null: tests ask for more memory than there is, and expect an error.
export ASAN_OPTIONS="detect_leaks=0:allocator_may_return_null=1:$ASAN_OPTIONS"
# ignore_noninstrumented_modules: what Python and TensorFlow do is seen in part only, and not at issue.
export TSAN_OPTIONS="ignore_noninstrumented_modules=1:halt_on_error=1:$TSAN_OPTIONS"
export UBSAN_OPTIONS="print_stacktrace=1:$UBSAN_OPTIONS"
LD_PRELOAD='@libraries@' exec '@python@' "$@"
