// Operations element by element: pieces of the arrays are tasks. Sizes are
// simple enough to be checked here.
//
// These operations are bound by memory. Large arrays are shared among the
// threads in pieces of kGrain elements; small ones are done by the caller
// alone, since waking a thread takes longer.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/backend.h"
#include "kernels/cpu/tasks.h"
#include "kernels/cpu/vector/kernels.h"

namespace quorate {

// As the operations of Backend of the same names: sizes that differ abort,
// outputs may be inputs. Needs no memory of its own. One per backend, used by
// its caller's thread; borrows both arguments.
class Elements {
 public:
  Elements(Tasks& tasks, const ElementwiseKernels& kernels)
      : tasks_(tasks), kernels_(kernels) {}

  // Bytes to numbers in [0, 1]: upload_pixels.
  void pixels(View to, std::span<const std::uint8_t> from);
  void map(Function f, ConstView x, View y);
  void map_gradient(Function f, ConstView x, ConstView dy, View dx);
  void add(ConstView a, ConstView b, View y);
  void subtract(ConstView a, ConstView b, View y);
  void add_bias(View x, ConstView bias);
  void scale(ConstView x, float factor, View y);
  void move_towards(ConstView x, float factor, float rate, View y);
  // Pieces begin at multiples of four elements, as random words come in fours.
  void dropout(ConstView x, const Dropout& how, View y);
  void sgd(View w, ConstView g, View v, const SgdStep& step);
  void adamw(View w, ConstView g, View m, View v, const AdamWStep& step);
  // Every piece is read, also after a NaN was found.
  bool all_finite(ConstView x);

 private:
  Tasks& tasks_;
  const ElementwiseKernels& kernels_;
};

}  // namespace quorate
