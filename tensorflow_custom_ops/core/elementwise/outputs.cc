// SPDX-License-Identifier: Apache-2.0
#include "tensorflow_custom_ops/core/elementwise/outputs.h"

#include <algorithm>
#include <vector>

#include "absl/status/status.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/tensor_shape.h"

namespace tensorflow_custom_ops {
namespace elementwise {

absl::Status AllocateOutputs(tensorflow::OpKernelContext* context,
                             const tensorflow::TensorShape& shape,
                             void** outputs) {
  std::vector<int> candidates;
  for (int i = 0; i < context->num_inputs(); ++i) {
    if (context->input(i).shape() == shape) candidates.push_back(i);
  }
  for (int i = 0; i < context->num_outputs(); ++i) {
    tensorflow::Tensor* output = nullptr;
    int forwarded = -1;
    const absl::Status status = context->forward_input_or_allocate_output(
        candidates, i, shape, &output, &forwarded);
    if (!status.ok()) return status;
    candidates.erase(
        std::remove(candidates.begin(), candidates.end(), forwarded),
        candidates.end());
    outputs[i] = output->data();
  }
  return absl::OkStatus();
}

}  // namespace elementwise
}  // namespace tensorflow_custom_ops
