// SPDX-License-Identifier: Apache-2.0
#if GOOGLE_CUDA

#define EIGEN_USE_GPU

#include "tests/facade/foreign_op/kernels/sign_split_op.h"

namespace tensorflow {
namespace functor {

using GPUDevice = Eigen::GpuDevice;

template <typename T>
struct SignSplit<GPUDevice, T> {
  void operator()(const GPUDevice& d, typename TTypes<T>::ConstFlat values,
                  typename TTypes<T>::Flat positive,
                  typename TTypes<T>::Flat negative) {
    positive.device(d) = values.cwiseMax(T(0));
    negative.device(d) = values.cwiseMin(T(0));
  }
};

template struct SignSplit<GPUDevice, float>;
template struct SignSplit<GPUDevice, double>;

}  // namespace functor
}  // namespace tensorflow

#endif  // GOOGLE_CUDA
