// Which rows of a gradient belong to which row of a table (docs/numerics.md,
// section 7): lists that a GPU can follow.
//
// Computed on the host for every call: the ids are there anyway, and a sort
// with atomics on the device would not keep the order.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/backend.h"

namespace quorate {

// The rows of each symbol, in order, cut into chains of at most 64.
// Chains of symbol s are chains[s] to chains[s + 1] - 1; chain c has the rows
// order[starts[c]] to order[starts[c + 1] - 1].
struct EmbeddingChains {
  std::vector<std::uint32_t> order;   // rows, those of one symbol together
  std::vector<std::uint32_t> starts;  // of chains in `order`, and the end
  std::vector<std::uint32_t> chains;  // of symbols in `starts`, and the end
};
// ids: one below `symbols` for each row (not checked again here). Takes time
// and memory linear in rows and symbols. A symbol without rows has no chain, so
// its gradient becomes +0.
EmbeddingChains embedding_chains(Indices ids, std::size_t symbols);

}  // namespace quorate
