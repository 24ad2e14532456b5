// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <limits>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/platform/tensor_float_32_utils.h"
#include "tensorflow/core/util/determinism.h"
#include "tensorflow_custom_ops/core/gpu/matmul.h"
#include "xla/stream_executor/blas.h"
#include "xla/stream_executor/stream.h"
#include "xla/stream_executor/stream_executor.h"

namespace tensorflow_custom_ops {
namespace gpu {
namespace {

namespace blas = stream_executor::blas;

#if __has_include("xla/stream_executor/device_address.h")
using DeviceAddress = stream_executor::DeviceAddressBase;
using Options = stream_executor::EngineOptions;
#else  // Before TensorFlow 2.21.
using DeviceAddress = stream_executor::DeviceMemoryBase;
using Options = stream_executor::NumericOptions;
#endif

// An array; cuBLAS looks at nothing but where it begins.
DeviceAddress Address(const void* data) {
  return DeviceAddress(const_cast<void*>(data));
}

blas::DataType BlasType(Type type) {
  switch (type) {
    case Type::kHalf:
      return blas::DataType::kHalf;
    case Type::kBFloat16:
      return blas::DataType::kBF16;
    case Type::kDouble:
      return blas::DataType::kDouble;
    default:
      return blas::DataType::kFloat;
  }
}

}  // namespace

absl::Status MatMul(tensorflow::OpKernelContext* context, Type type, int64_t m,
                    int64_t n, int64_t k, const void* a, const void* b,
                    void* output) {
  if (std::max({m, n, k}) > std::numeric_limits<int32_t>::max()) {
    return absl::InvalidArgumentError(absl::StrCat(
        context->op_kernel().type_string(),
        ": on a GPU, each size of the matrix product must be below 2^31, but "
        "it is of a [",
        m, ",", k, "] and a [", k, ",", n, "] matrix"));
  }
  stream_executor::Stream* stream = context->op_device_context()->stream();
  blas::BlasSupport* library = stream->parent()->AsBlas();
  if (library == nullptr) {
    return absl::InternalError(
        absl::StrCat(context->op_kernel().type_string(),
                     ": TensorFlow has no cuBLAS for this device"));
  }

  const bool allow_tf32 = tsl::tensor_float_32_execution_enabled();
  const bool is_double = type == Type::kDouble;
  const blas::DataType input_type = BlasType(type);
  const blas::DataType output_type =
      is_double ? blas::DataType::kDouble : blas::DataType::kFloat;
  blas::ComputationType computation = blas::ComputationType::kF32;
  if (is_double) {
    computation = blas::ComputationType::kF64;
  } else if (type == Type::kFloat && allow_tf32) {
    computation = blas::ComputationType::kTF32AsF32;
  }
  const float float_scalars[] = {1, 0};
  const double double_scalars[] = {1, 0};
  const auto scalar = [&](int i) -> const void* {
    if (is_double) return &double_scalars[i];
    return &float_scalars[i];
  };
  Options options;
  options.require_determinism = tensorflow::OpDeterminismRequired();
  options.allow_tf32 = allow_tf32;

  // BLAS has column-major matrices: it computes the transpose, b^T a^T.
  DeviceAddress result = Address(output);
  return library->DoBlasGemmWithAlgorithm(
      stream, blas::Transpose::kNoTranspose, blas::Transpose::kNoTranspose, n,
      m, k, /*alpha=*/scalar(0), Address(b), input_type, n, Address(a),
      input_type, k, /*beta=*/scalar(1), &result, output_type, n, computation,
      blas::kDefaultGemmAlgo, options, /*output_profile_result=*/nullptr,
      blas::CallContext::kNone);
}

}  // namespace gpu
}  // namespace tensorflow_custom_ops
