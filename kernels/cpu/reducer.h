// Sums in their fixed orders (docs/numerics.md, section 5) on all threads, and
// what is one at heart.
#pragma once

#include <span>
#include <vector>

#include "kernels/cpu/tasks.h"
#include "kernels/cpu/vector/kernels.h"
#include "kernels/host_memory.h"
#include "kernels/shapes.h"

namespace quorate {

// As the operations of Backend. All throw io if there is no memory.
class Reducer {
 public:
  Reducer(Tasks& tasks, const ElementwiseKernels& elementwise,
          const ReductionKernels& reduction)
      : tasks_(tasks),
        elementwise_(elementwise),
        reduction_(reduction),
        sums_(tasks.threads()) {}

  float sum(std::span<const float> x);
  float sum_of_squares(std::span<const float> x);
  void sum_rows(const MatrixSizes& n, const float* x, float* y);
  void embedding_gradient(const EmbeddingSizes& n, Indices ids, const float* dy,
                          Accumulate accumulate, float* dtable);
  void softmax_cross_entropy(const MatrixSizes& n, const float* logits,
                             Indices targets, float scale, float* losses,
                             float* dlogits);
  std::size_t count_correct(const MatrixSizes& n, const float* logits,
                            Indices targets);

 private:
  using BlockValue = float (*)(const float* x, std::size_t n);
  float sum_blocks(std::span<const float> x, BlockValue value);
  // Sorts positions by id: those of id i become positions_of(i), in order.
  // Returns how many positions the most frequent id has.
  std::size_t sort_positions(Indices ids, std::size_t symbols);
  Indices positions_of(std::size_t id) const {
    return Indices(positions_).subspan(first_[id], first_[id + 1] - first_[id]);
  }

  Tasks& tasks_;
  const ElementwiseKernels& elementwise_;
  const ReductionKernels& reduction_;
  HostBuffer partials_;
  ThreadBuffers sums_;  // (segments,channels), of the rows of an id
  std::vector<std::uint32_t> positions_;
  std::vector<std::size_t> first_;
};

}  // namespace quorate
