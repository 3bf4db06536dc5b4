#include "kernels/reference/tables.h"

#include <algorithm>
#include <vector>

#include "base/arithmetic.h"
#include "base/random.h"

namespace quorate::reference {

void embedding(const EmbeddingSizes& n, Indices ids, const float* table,
               float* y) {
  for (std::size_t r = 0; r < n.rows; ++r) {
    std::copy_n(table + ids[r] * n.channels, n.channels, y + r * n.channels);
  }
}

void embedding_gradient(const EmbeddingSizes& n, Indices ids, const float* dy,
                        Accumulate accumulate, float* dtable) {
  for (std::size_t c = 0; c < n.channels; ++c) {
    std::vector<ChainSum> sums(n.symbols);
    for (std::size_t r = 0; r < n.rows; ++r) {
      sums[ids[r]].push(dy[r * n.channels + c]);
    }
    for (std::size_t symbol = 0; symbol < n.symbols; ++symbol) {
      float& to = dtable[symbol * n.channels + c];
      float total = sums[symbol].total();
      to = accumulate == Accumulate::yes ? to + total : total;
    }
  }
}

void dropout(std::size_t count, const Dropout& how, const float* x, float* y) {
  RandomStream words(how.seed, how.stream, how.step);
  for (std::size_t i = 0; i < count; ++i) {
    y[i] = words.next() >= how.threshold ? x[i] * how.scale : 0.0F;
  }
}

}  // namespace quorate::reference
