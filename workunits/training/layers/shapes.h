// Rows of a batch seen as images, pixels, or one row per pixel. V: View or
// ConstView, rows (B,values).
#pragma once

#include "kernels/tensor.h"
#include "workunits/models/sample_shape.h"

namespace quorate {

// (B,height,width,channels)
template <class V>
V images_of(const V& rows, const SampleShape& shape) {
  return rows.part(0,
                   {rows.shape[0], shape.height, shape.width, shape.channels});
}

inline std::size_t pixels_of(const SampleShape& shape) {
  return std::size_t{shape.height} * shape.width;
}

// (B,pixels,channels)
template <class V>
V pixel_arrays(const V& rows, const SampleShape& shape) {
  return rows.part(0, {rows.shape[0], pixels_of(shape), shape.channels});
}

// (B pixels,channels)
template <class V>
V pixel_rows(const V& rows, const SampleShape& shape) {
  return rows.part(0, {rows.shape[0] * pixels_of(shape), shape.channels});
}

}  // namespace quorate
