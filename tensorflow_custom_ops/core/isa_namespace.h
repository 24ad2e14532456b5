// SPDX-License-Identifier: Apache-2.0
// For sources that are compiled for several instruction sets: names that differ
// between the objects.
#ifndef TENSORFLOW_CUSTOM_OPS_CORE_ISA_NAMESPACE_H_
#define TENSORFLOW_CUSTOM_OPS_CORE_ISA_NAMESPACE_H_

// name_isa, after both are expanded.
#define ISA_NAME(name, isa) ISA_NAME_(name, isa)
#define ISA_NAME_(name, isa) name##_##isa

#if defined(__GNUC__) && !defined(__clang__)
// The compiler's own AVX-512 intrinsics use variables that they do not set.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif

#endif  // TENSORFLOW_CUSTOM_OPS_CORE_ISA_NAMESPACE_H_
