// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include "Eigen/Core"
#include "absl/status/status.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow_custom_ops/core/gpu/matmul.h"

namespace tensorflow_custom_ops {
namespace gpu {
namespace {

template <typename T>
using Matrix =
    Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

template <typename Input, typename Output>
void Multiply(int64_t m, int64_t n, int64_t k, const void* a, const void* b,
              void* output) {
  const Eigen::Map<const Matrix<Input>> left(static_cast<const Input*>(a), m,
                                             k);
  const Eigen::Map<const Matrix<Input>> right(static_cast<const Input*>(b), k,
                                              n);
  Eigen::Map<Matrix<Output>>(static_cast<Output*>(output), m, n) =
      left.template cast<Output>() * right.template cast<Output>();
}

}  // namespace

absl::Status MatMul(tensorflow::OpKernelContext*, Type type, int64_t m,
                    int64_t n, int64_t k, const void* a, const void* b,
                    void* output) {
  switch (type) {
    case Type::kHalf:
      Multiply<Eigen::half, float>(m, n, k, a, b, output);
      return absl::OkStatus();
    case Type::kBFloat16:
      Multiply<Eigen::bfloat16, float>(m, n, k, a, b, output);
      return absl::OkStatus();
    case Type::kFloat:
      Multiply<float, float>(m, n, k, a, b, output);
      return absl::OkStatus();
    case Type::kDouble:
      Multiply<double, double>(m, n, k, a, b, output);
      return absl::OkStatus();
    default:
      return absl::InternalError("no matrix product of this type");
  }
}

}  // namespace gpu
}  // namespace tensorflow_custom_ops
