// SPDX-License-Identifier: Apache-2.0
// TensorFlow 2.19's wheel lacks LLVM's headers, and one of its XLA headers
// declares functions with these types that an op never calls. The types must
// be complete, and no more.
#ifndef LLVM_ADT_ARRAYREF_H
#define LLVM_ADT_ARRAYREF_H

#include <vector>

namespace llvm {

template <typename T>
class ArrayRef {
 public:
  ArrayRef(const std::vector<T>& elements);  // NOLINT: implicit, as LLVM's.
};

}  // namespace llvm

#endif  // LLVM_ADT_ARRAYREF_H
