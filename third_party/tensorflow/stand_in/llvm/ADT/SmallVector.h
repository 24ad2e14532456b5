// SPDX-License-Identifier: Apache-2.0
// See ArrayRef.h.
#ifndef LLVM_ADT_SMALLVECTOR_H
#define LLVM_ADT_SMALLVECTOR_H

#include <vector>

namespace llvm {

template <typename T>
class SmallVector : public std::vector<T> {};

}  // namespace llvm

#endif  // LLVM_ADT_SMALLVECTOR_H
