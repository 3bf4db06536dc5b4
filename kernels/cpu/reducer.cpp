#include "kernels/cpu/reducer.h"

#include <algorithm>
#include <atomic>

#include "base/arithmetic.h"
#include "kernels/float_environment.h"

namespace quorate {

float Reducer::sum_blocks(std::span<const float> x, BlockValue value) {
  std::size_t blocks = ceil_div(x.size(), kSumBlock);
  float* values = partials_.of(blocks);
  static_assert(kGrain % kSumBlock == 0, "pieces are whole blocks");
  tasks_.for_pieces(x.size(), [&](std::size_t first, std::size_t count) {
    for (std::size_t i = first; i < first + count; i += kSumBlock) {
      values[i / kSumBlock] =
          value(x.data() + i, std::min(kSumBlock, first + count - i));
    }
  });
  CanonicalFloatMode mode;
  PairSum total;
  for (float block : std::span(values, blocks)) total.push(block);
  return total.total();
}

float Reducer::sum(std::span<const float> x) {
  return sum_blocks(x, reduction_.block_sum);
}

float Reducer::sum_of_squares(std::span<const float> x) {
  return sum_blocks(x, reduction_.block_squares);
}

void Reducer::sum_rows(const MatrixSizes& n, const float* x, float* y) {
  std::size_t count = segment_count(n.rows);
  float* sums = partials_.of(count * n.cols);
  tasks_.run(count, n.rows * n.cols, [&](std::size_t segment) {
    std::size_t first = segment * kRowSegment;
    reduction_.segment_sums(x + first * n.cols, n.cols,
                            std::min(kRowSegment, n.rows - first), n.cols,
                            sums + segment * n.cols);
  });
  CanonicalFloatMode mode;
  reduction_.add_pairs(sums, count, n.cols);
  std::copy_n(sums, n.cols, y);
}

std::size_t Reducer::sort_positions(Indices ids, std::size_t symbols) {
  first_.assign(symbols + 1, 0);
  positions_.resize(ids.size());
  for (std::uint32_t id : ids) ++first_[id + 1];
  std::size_t most = *std::max_element(first_.begin(), first_.end());
  for (std::size_t i = 0; i < symbols; ++i) first_[i + 1] += first_[i];
  for (std::size_t r = 0; r < ids.size(); ++r) {
    positions_[first_[ids[r]]++] = static_cast<std::uint32_t>(r);
  }
  // Each is now where the next begins.
  std::shift_right(first_.begin(), first_.end(), 1);
  first_[0] = 0;
  return most;
}

void Reducer::embedding_gradient(const EmbeddingSizes& n, Indices ids,
                                 const float* dy, Accumulate accumulate,
                                 float* dtable) {
  sums_.reserve(segment_count(sort_positions(ids, n.symbols)) * n.channels);
  auto sum_symbol = [&](std::size_t symbol, float* sums) {
    Indices rows = positions_of(symbol);
    reduction_.listed_segment_sums(dy, rows, n.channels, sums);
    reduction_.add_pairs(sums, segment_count(rows.size()), n.channels);
    float* to = dtable + symbol * n.channels;
    if (accumulate == Accumulate::yes) {
      elementwise_.add(to, sums, to, n.channels);
    } else {
      std::copy_n(sums, n.channels, to);
    }
  };
  // So many symbols are a task of about kGrain elements.
  std::size_t elements = (n.symbols + n.rows) * n.channels;
  std::size_t grain = std::max<std::size_t>(
      1, kGrain * n.symbols / std::max<std::size_t>(1, elements));
  tasks_.run(ceil_div(n.symbols, grain), elements,
             [&](std::size_t task, unsigned thread) {
               std::size_t end = std::min(n.symbols, (task + 1) * grain);
               for (std::size_t i = task * grain; i < end; ++i) {
                 sum_symbol(i, sums_[thread]);
               }
             });
}

void Reducer::softmax_cross_entropy(const MatrixSizes& n, const float* logits,
                                    Indices targets, float scale, float* losses,
                                    float* dlogits) {
  float* maxima = partials_.of(2 * n.rows);
  float* at_targets = maxima + n.rows;
  tasks_.for_rows(n, [&](std::size_t row) {
    std::size_t at = row * n.cols;
    at_targets[row] = logits[at + targets[row]];
    ReductionKernels::SoftmaxRow result = reduction_.softmax_row(
        logits + at, n.cols, targets[row], scale, dlogits + at);
    losses[row] = result.sum;
    maxima[row] = result.maximum;
  });
  CanonicalFloatMode mode;
  elementwise_.functions[static_cast<std::size_t>(Function::log)](
      losses, losses, n.rows);
  for (std::size_t row = 0; row < n.rows; ++row) {
    losses[row] = losses[row] + maxima[row] - at_targets[row];
  }
}

std::size_t Reducer::count_correct(const MatrixSizes& n, const float* logits,
                                   Indices targets) {
  std::atomic<std::size_t> correct = 0;
  tasks_.for_rows(n, [&](std::size_t row) {
    const float* x = logits + row * n.cols;
    std::size_t best = 0;
    for (std::size_t j = 1; j < n.cols; ++j) best = x[j] > x[best] ? j : best;
    if (best == targets[row]) ++correct;
  });
  return correct;
}

}  // namespace quorate
