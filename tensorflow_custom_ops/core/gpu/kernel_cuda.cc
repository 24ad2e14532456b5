// SPDX-License-Identifier: Apache-2.0
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow_custom_ops/core/gpu/kernel.h"
#include "xla/stream_executor/stream.h"

namespace tensorflow_custom_ops {
namespace gpu {

const char kDevice[] = "GPU";

Stream StreamOf(tensorflow::OpKernelContext* context) {
  return static_cast<Stream>(context->op_device_context()
                                 ->stream()
                                 ->platform_specific_handle()
                                 .stream);
}

}  // namespace gpu
}  // namespace tensorflow_custom_ops
