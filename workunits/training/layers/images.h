// Rows of a batch seen as images.
#pragma once

#include "kernels/tensor.h"
#include "workunits/sample_shape.h"

namespace quorate {

// V: View or ConstView. rows (B,values) -> (B,height,width,channels).
template <class V>
V images_of(const V& rows, const SampleShape& shape) {
  return rows.part(0,
                   {rows.shape[0], shape.height, shape.width, shape.channels});
}

}  // namespace quorate
