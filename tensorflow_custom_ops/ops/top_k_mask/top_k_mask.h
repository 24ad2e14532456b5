// SPDX-License-Identifier: Apache-2.0
// What TopKMask checks, and what it computes on the CPU, for its kernels and
// for XLA's code.
#ifndef TENSORFLOW_CUSTOM_OPS_OPS_TOP_K_MASK_TOP_K_MASK_H_
#define TENSORFLOW_CUSTOM_OPS_OPS_TOP_K_MASK_TOP_K_MASK_H_

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <new>
#include <type_traits>

#include "Eigen/Core"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow_custom_ops/ops/top_k_mask/top_k_mask_key.h"

namespace tensorflow_custom_ops {

// By this name XLA's code calls the kernel, whatever the device.
inline constexpr char kTopKMaskCustomCall[] = "tensorflow_custom_ops.TopKMask";

// Checks the ranks of the inputs.
inline absl::Status CheckTopKMaskRanks(int64_t input, int64_t k) {
  if (input == 0) {
    return absl::InvalidArgumentError(
        "TopKMask: input must have at least one dimension, but is a scalar");
  }
  if (k != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("TopKMask: k must be a scalar, but has rank ", k));
  }
  return absl::OkStatus();
}

// The value of k, a scalar of one of the types that the op takes. (data(), for
// scalar() ends the process where a tensor is not aligned.)
inline int64_t TopKMaskK(const tensorflow::Tensor& k) {
  return k.dtype() == tensorflow::DT_INT64
             ? *static_cast<const int64_t*>(k.data())
             : *static_cast<const int32_t*>(k.data());
}

// Checks k for rows of n elements.
inline absl::Status CheckTopKMaskK(int64_t k, int64_t n) {
  if (k < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("TopKMask: k must not be negative, but is ", k));
  }
  if (k > n) {
    return absl::InvalidArgumentError(absl::StrCat(
        "TopKMask: k must be at most the size of the last dimension of input, ",
        n, ", but is ", k));
  }
  return absl::OkStatus();
}

// Checks that a GPU's kernel can count the n elements of a row.
inline absl::Status CheckTopKMaskGpuRow(int64_t n) {
  if (n <= std::numeric_limits<uint32_t>::max()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "TopKMask: on a GPU, the last dimension of input must be below 2^32, but "
      "is ",
      n));
}

namespace top_k_mask_internal {

template <typename T>
using Key =
    std::conditional_t<sizeof(T) == 2, uint16_t,
                       std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>;

template <typename T>
Key<T> OrderedKey(T value) {
  using Eigen::numext::bit_cast;
  return TopKMaskKey(bit_cast<Key<T>>(value),
                     bit_cast<Key<T>>(std::numeric_limits<T>::infinity()));
}

// The most keys that RowMask needs scratch for.
inline int64_t ScratchSize(int64_t n, int64_t k) { return std::min(n, 2 * k); }

// One row. `output` may be `input`.
//
// Keeps up to 2k candidates. When they are that many, drops the smaller half,
// in O(k), and from then on what is not greater than all those dropped: O(n) in
// all, and for k much smaller than n hardly more than a look at each element.
template <typename T>
void RowMask(const T* input, int64_t n, int64_t k, T fill_value,
             Key<T>* scratch, T* output, bool* mask) {
  Key<T> kth = std::numeric_limits<Key<T>>::max();
  int64_t equal_to_kth = 0;  // How many of them are among the k largest.
  if (k > 0) {
    Key<T>* const limit = scratch + ScratchSize(n, k);
    Key<T>* const kth_candidate = scratch + (k - 1);
    Key<T>* end = scratch;
    Key<T> greatest_dropped = 0;
    for (int64_t i = 0; i < n; ++i) {
      const Key<T> key = OrderedKey(input[i]);
      if (key <= greatest_dropped) continue;
      if (end == limit) {
        std::nth_element(scratch, kth_candidate, end, std::greater<>());
        greatest_dropped = *kth_candidate;
        end = scratch + k;
        if (key <= greatest_dropped) continue;
      }
      *end++ = key;
    }
    std::nth_element(scratch, kth_candidate, end, std::greater<>());
    kth = *kth_candidate;
    equal_to_kth = std::count(scratch, scratch + k, kth);
  }
  for (int64_t i = 0; i < n; ++i) {
    const Key<T> key = OrderedKey(input[i]);
    const bool tie = (key == kth) & (equal_to_kth > 0);
    equal_to_kth -= tie;
    const bool keep = (key > kth) | tie;
    output[i] = keep ? input[i] : fill_value;
    mask[i] = keep;
  }
}

}  // namespace top_k_mask_internal

// Calls body(begin, end) on ranges that cover [0, total), maybe in parallel.
// `cycles` is about what one unit costs.
using ParallelFor =
    absl::FunctionRef<void(int64_t total, int64_t cycles,
                           absl::FunctionRef<void(int64_t, int64_t)> body)>;

// TopKMask of `rows` rows of n elements. `output` may be `input`.
template <typename T>
absl::Status TopKMask(const T* input, int64_t rows, int64_t n, int64_t k,
                      float fill_value, T* output, bool* mask,
                      ParallelFor parallel_for) {
  using top_k_mask_internal::Key;
  absl::Status status = CheckTopKMaskK(k, n);
  if (!status.ok()) return status;

  const int64_t scratch_size = top_k_mask_internal::ScratchSize(n, k);
  // Measured with k a tenth of n; a very small or large k takes half as many to
  // half more.
  constexpr int64_t kCyclesPerElement = 30;
  std::atomic<bool> out_of_memory{false};
  parallel_for(rows, n * kCyclesPerElement, [&](int64_t begin, int64_t end) {
    std::unique_ptr<Key<T>[]> scratch(new (std::nothrow) Key<T>[scratch_size]);
    if (scratch == nullptr) {
      out_of_memory = true;
      return;
    }
    for (int64_t i = begin * n; i < end * n; i += n) {
      top_k_mask_internal::RowMask(input + i, n, k, static_cast<T>(fill_value),
                                   scratch.get(), output + i, mask + i);
    }
  });
  if (out_of_memory) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "TopKMask: out of memory: cannot allocate ",
        scratch_size * static_cast<int64_t>(sizeof(Key<T>)), " bytes"));
  }
  return absl::OkStatus();
}

}  // namespace tensorflow_custom_ops

#endif  // TENSORFLOW_CUSTOM_OPS_OPS_TOP_K_MASK_TOP_K_MASK_H_
