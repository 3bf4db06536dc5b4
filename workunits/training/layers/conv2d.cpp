#include "workunits/training/layers/conv2d.h"

#include "base/error.h"
#include "workunits/training/layers/images.h"

namespace quorate {
namespace {

// One row per pixel, for what happens to every pixel alike.
template <class V>
V pixels_of(const V& rows, std::size_t channels) {
  return rows.part(0, {rows.shape.count() / channels, channels});
}

}  // namespace

Conv2d::Conv2d(Backend& backend, const LayerSpec& spec, Parameter weight,
               Parameter bias)
    : backend_(backend),
      in_(spec.in),
      out_(spec.out),
      how_{.stride = spec.stride, .padding = spec.padding},
      weight_(weight),
      bias_(bias) {
  check(weight.value.shape.rank() == 4 &&
            bias.value.shape.count() == out_.channels,
        "a convolution has a weight of four sizes and a bias per channel");
}

void Conv2d::forward(ConstView x, View y) {
  backend_.conv2d(images_of(x, in_), weight_.value, how_, images_of(y, out_),
                  {.bias = bias_.value});
}

void Conv2d::backward(ConstView x, ConstView dy, std::optional<View> dx) {
  backend_.conv2d_weight_gradient(images_of(x, in_), images_of(dy, out_), how_,
                                  weight_.gradient);
  backend_.sum_rows(pixels_of(dy, out_.channels), bias_.gradient);
  if (!dx) return;
  backend_.conv2d_input_gradient(images_of(dy, out_), weight_.value, how_,
                                 images_of(*dx, in_));
}

}  // namespace quorate
