// Sums in their fixed orders (docs/numerics.md, section 5) on all threads, and
// operations that are sums at heart. Tasks make whole blocks or segments; the
// caller's thread adds these in pairs afterwards, so the order is the same for
// any number of threads.
#pragma once

#include <span>
#include <vector>

#include "kernels/cpu/tasks.h"
#include "kernels/cpu/vector/kernels.h"
#include "kernels/host_memory.h"
#include "kernels/shapes.h"

namespace quorate {

// As the operations of Backend. All throw io if there is no memory. One per
// backend; keeps its buffers.
class Reducer {
 public:
  Reducer(Tasks& tasks, const ElementwiseKernels& elementwise,
          const ReductionKernels& reduction)
      : tasks_(tasks),
        elementwise_(elementwise),
        reduction_(reduction),
        sums_(tasks.threads()) {}

  // R1 sums; +0 for no element.
  float sum(std::span<const float> x);
  float sum_of_squares(std::span<const float> x);
  // x (rows,cols) -> y (cols), R2.
  void sum_rows(const MatrixSizes& n, const float* x, float* y);
  // Sorts the positions by id first (a counting sort, linear), then each task
  // takes some rows of the table.
  void embedding_gradient(const EmbeddingSizes& n, Indices ids, const float* dy,
                          Accumulate accumulate, float* dtable);
  // The logarithms of all rows are taken in one pass at the end.
  void softmax_cross_entropy(const MatrixSizes& n, const float* logits,
                             Indices targets, float scale, float* losses,
                             float* dlogits);
  std::size_t count_correct(const MatrixSizes& n, const float* logits,
                            Indices targets);

 private:
  // The value of one R1 block of at most 1024 elements.
  using BlockValue = float (*)(const float* x, std::size_t n);
  // Adds the blocks' values in pairs.
  float sum_blocks(std::span<const float> x, BlockValue value);
  // Sorts positions by id: those of id i become positions_of(i), in order.
  // Returns how many positions the most frequent id has.
  std::size_t sort_positions(Indices ids, std::size_t symbols);
  // Valid until sort_positions() is called again.
  Indices positions_of(std::size_t id) const {
    return Indices(positions_).subspan(first_[id], first_[id + 1] - first_[id]);
  }

  Tasks& tasks_;
  const ElementwiseKernels& elementwise_;
  const ReductionKernels& reduction_;
  HostBuffer partials_;
  ThreadBuffers sums_;  // (segments,channels), of the rows of an id
  // Of sort_positions(): the rows of id i are positions_[first_[i]] to
  // positions_[first_[i + 1]].
  std::vector<std::uint32_t> positions_;
  std::vector<std::size_t> first_;
};

}  // namespace quorate
