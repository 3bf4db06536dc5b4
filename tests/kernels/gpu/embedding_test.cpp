#include "kernels/gpu/embedding.h"

#include <doctest/doctest.h>

namespace quorate {
namespace {

using Words = std::vector<std::uint32_t>;

}  // namespace

TEST_CASE("rows of a symbol come in their order, in chains of at most 64") {
  Words ids = {2, 0, 2, 5, 2};
  EmbeddingChains lists = embedding_chains(ids, 6);
  CHECK(lists.order == Words{1, 0, 2, 4, 3});
  CHECK(lists.starts == Words{0, 1, 4, 5});
  CHECK(lists.chains == Words{0, 1, 1, 2, 2, 2, 3});

  Words many(130, 1);
  lists = embedding_chains(many, 2);
  CHECK(lists.starts == Words{0, 64, 128, 130});
  CHECK(lists.chains == Words{0, 0, 3});
}

TEST_CASE("no rows at all are no chains") {
  EmbeddingChains lists = embedding_chains({}, 3);
  CHECK(lists.order.empty());
  CHECK(lists.starts == Words{0});
  CHECK(lists.chains == Words{0, 0, 0, 0});
}

}  // namespace quorate
