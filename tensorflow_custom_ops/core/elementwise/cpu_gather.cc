// SPDX-License-Identifier: Apache-2.0
#include "tensorflow_custom_ops/core/elementwise/cpu_gather.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace tensorflow_custom_ops {
namespace elementwise {
namespace {

// Writes one element n times.
void Repeat(const char* element, char* to, int64_t element_bytes, int64_t n) {
  std::memcpy(to, element, element_bytes);
  // What is there once more, until all is there.
  int64_t done = 1;
  while (done < n) {
    const int64_t more = std::min(done, n - done);
    std::memcpy(to + done * element_bytes, to, more * element_bytes);
    done += more;
  }
}

}  // namespace

Gatherer::Gatherer(const Broadcast& broadcast, int input, int64_t element_bytes,
                   int64_t begin)
    : broadcast_(broadcast),
      strides_(broadcast.strides[input]),
      element_bytes_(element_bytes),
      index_(broadcast.dims.size(), 0) {
  for (int i = static_cast<int>(index_.size()) - 1; i >= 0; --i) {
    index_[i] = begin % broadcast.dims[i];
    begin /= broadcast.dims[i];
    position_ += index_[i] * strides_[i];
  }
}

const void* Gatherer::Next(const void* array, char* to, int64_t n) {
  const char* const elements = static_cast<const char*>(array);
  // Shapes whose sizes are all 1 have no dimensions left.
  if (index_.empty()) return elements;
  const int last = static_cast<int>(index_.size()) - 1;
  const char* const start = elements + position_ * element_bytes_;
  const char* const copy = to;
  const bool in_one_piece =
      strides_[last] == 1 && n <= broadcast_.dims[last] - index_[last];
  while (n > 0) {
    const int64_t piece = std::min(n, broadcast_.dims[last] - index_[last]);
    const char* const from = elements + position_ * element_bytes_;
    if (strides_[last] == 0) {
      Repeat(from, to, element_bytes_, piece);
    } else if (!in_one_piece) {
      std::memcpy(to, from, piece * element_bytes_);
    }
    to += piece * element_bytes_;
    n -= piece;
    index_[last] += piece;
    position_ += piece * strides_[last];
    for (int i = last; i > 0 && index_[i] == broadcast_.dims[i]; --i) {
      position_ += strides_[i - 1] - index_[i] * strides_[i];
      index_[i] = 0;
      ++index_[i - 1];
    }
  }
  return in_one_piece ? start : copy;
}

}  // namespace elementwise
}  // namespace tensorflow_custom_ops
