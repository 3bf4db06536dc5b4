#include "kernels/gpu/embedding.h"

namespace quorate {

EmbeddingChains embedding_chains(Indices ids, std::size_t symbols) {
  constexpr std::uint32_t kChain = 64;
  // A counting sort, which keeps rows of one symbol in their order.
  std::vector<std::uint32_t> ends(symbols + 1, 0);
  for (std::uint32_t id : ids) ++ends[id + 1];
  for (std::size_t s = 0; s < symbols; ++s) ends[s + 1] += ends[s];
  EmbeddingChains lists;
  for (std::size_t s = 0; s < symbols; ++s) {
    lists.chains.push_back(static_cast<std::uint32_t>(lists.starts.size()));
    for (std::uint32_t r = ends[s]; r < ends[s + 1]; r += kChain) {
      lists.starts.push_back(r);
    }
  }
  lists.chains.push_back(static_cast<std::uint32_t>(lists.starts.size()));
  lists.starts.push_back(static_cast<std::uint32_t>(ids.size()));
  lists.order.resize(ids.size());
  for (std::uint32_t r = 0; r < ids.size(); ++r) {
    lists.order[ends[ids[r]]++] = r;
  }
  return lists;
}

}  // namespace quorate
