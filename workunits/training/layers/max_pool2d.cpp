#include "workunits/training/layers/max_pool2d.h"

#include "workunits/training/layers/images.h"

namespace quorate {

void MaxPool2d::forward(ConstView x, View y) {
  backend_.max_pool2d(images_of(x, in_), how_, images_of(y, out_));
}

void MaxPool2d::backward(ConstView x, ConstView dy, std::optional<View> dx) {
  if (!dx) return;
  backend_.max_pool2d_gradient(images_of(x, in_), images_of(dy, out_), how_,
                               images_of(*dx, in_));
}

}  // namespace quorate
