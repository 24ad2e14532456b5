// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_FACADE_FOREIGN_OP_KERNELS_SIGN_SPLIT_OP_H_
#define TESTS_FACADE_FOREIGN_OP_KERNELS_SIGN_SPLIT_OP_H_

#include "tensorflow/core/framework/tensor_types.h"
#include "unsupported/Eigen/CXX11/Tensor"

namespace tensorflow {
namespace functor {

template <typename Device, typename T>
struct SignSplit {
  void operator()(const Device& d, typename TTypes<T>::ConstFlat values,
                  typename TTypes<T>::Flat positive,
                  typename TTypes<T>::Flat negative);
};

}  // namespace functor
}  // namespace tensorflow

#endif  // TESTS_FACADE_FOREIGN_OP_KERNELS_SIGN_SPLIT_OP_H_
