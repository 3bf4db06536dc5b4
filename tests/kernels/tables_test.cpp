// Embeddings and dropout on every device against the reference, and the
// reference against what their names say.
#include <cmath>

#include <doctest/doctest.h>

#include "base/arithmetic.h"
#include "base/random.h"
#include "kernels/devices/backends.h"
#include "tests/kernels/inputs.h"

namespace quorate {
namespace {

using test::append;
using test::Floats;
using test::InputKind;
using Ids = std::vector<std::uint32_t>;

struct Size {
  std::size_t symbols, rows, channels;
};

// Around chains of 64 and vectors; symbols that never occur; many tasks.
constexpr Size kSizes[] = {{1, 1, 1},     {1, 64, 16},    {1, 65, 17},
                           {1, 5000, 33}, {10, 300, 7},   {500, 3, 40},
                           {65, 900, 96}, {3000, 400, 24}};

Ids ids_for(const Size& n) {
  RandomStream words(1, 2, 3);
  Ids ids(n.rows);
  auto symbols = static_cast<std::uint32_t>(n.symbols);
  for (std::uint32_t& id : ids) id = integer_below(words.next(), symbols);
  return ids;
}

}  // namespace

TEST_CASE("embeddings and their gradients agree with the reference") {
  for (const Size& n : kSizes) {
    CAPTURE(n.symbols);
    CAPTURE(n.rows);
    Ids ids = ids_for(n);
    test::check_operation([&](Backend& backend, InputKind kind) {
      test::Run run(backend);
      std::size_t size = n.symbols * n.channels;
      View table =
          run.put({n.symbols, n.channels}, test::inputs(kind, size, 1));
      View y = run.put({n.rows, n.channels}, Floats(n.rows * n.channels));
      View dy = run.put({n.rows, n.channels},
                        test::inputs(kind, n.rows * n.channels, 2));
      View fresh = run.put({n.symbols, n.channels}, Floats(size, NAN));
      // Adding +0 to it is not nothing.
      View old = run.put({n.symbols, n.channels}, Floats(size, -0.0F));
      backend.embedding(table, ids, y);
      backend.embedding_gradient(ids, dy, fresh, Accumulate::no);
      backend.embedding_gradient(ids, dy, table, Accumulate::yes);
      backend.embedding_gradient(ids, dy, old, Accumulate::yes);
      return append(append(run.get(y), run.get(fresh)),
                    append(run.get(table), run.get(old)));
    });
  }
}

TEST_CASE("an embedding is a row, its gradient what came from that row") {
  for (const test::DeviceCase& on : test::all_devices()) {
    auto backend = make_backend(on.device, on.threads);
    test::Run run(*backend);
    View table = run.put({3, 2}, {1, 2, 3, 4, 5, 6});
    View y = run.put({4, 2}, Floats(8));
    Ids ids = {2, 0, 2, 2};
    backend->embedding(table, ids, y);
    CHECK(run.get(y) == Floats{5, 6, 1, 2, 5, 6, 5, 6});
    View dy = run.put({4, 2}, {1, 10, 2, 20, 4, 40, 8, 80});
    backend->embedding_gradient(ids, dy, table, Accumulate::yes);
    CHECK(run.get(table) == Floats{3, 22, 3, 4, 18, 136});
    backend->embedding_gradient(ids, dy, table, Accumulate::no);
    CHECK(run.get(table) == Floats{2, 20, 0, 0, 13, 130});
  }
}

TEST_CASE("dropout agrees with the reference") {
  for (std::size_t count : {1U, 31U, 32U, 65U, 16383U, 40001U}) {
    CAPTURE(count);
    test::check_operation([&](Backend& backend, InputKind kind) {
      test::Run run(backend);
      View x = run.put({count}, test::inputs(kind, count, 1));
      View y = run.put({count}, Floats(count));
      Dropout how{0xfedcba9876543210, 1 << 16 | 3, 17, 0x40000000, 1.25F};
      backend.dropout(x, how, y);
      how.threshold = 0xc0000001;
      how.seed += 1;
      backend.dropout(x, how, x);  // in place
      return append(run.get(y), run.get(x));
    });
  }
}

TEST_CASE("dropout keeps what its random words say, scaled") {
  constexpr std::size_t kCount = 10000;
  constexpr std::uint64_t kSeed = 0x0123456789abcdef;
  constexpr std::uint32_t kStream = 1 << 16 | 5;
  for (const test::DeviceCase& on : test::all_devices()) {
    auto backend = make_backend(on.device, on.threads);
    test::Run run(*backend);
    View x = run.put({kCount}, Floats(kCount, 3.0F));
    View y = run.put({kCount}, Floats(kCount));
    backend->dropout(x, {kSeed, kStream, 9, 1U << 30, 2.0F}, y);
    Floats found = run.get(y);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < kCount; ++i) {
      bool keep = random_word(kSeed, kStream, 9, i) >= 1U << 30;
      REQUIRE(bits(found[i]) == bits(keep ? 6.0F : 0.0F));
      kept += keep ? 1U : 0U;
    }
    CHECK(kept > kCount / 4 * 3 - 200);
    CHECK(kept < kCount / 4 * 3 + 200);
    // Nothing is dropped, then all but the greatest word.
    backend->dropout(x, {kSeed, kStream, 9, 0, 2.0F}, y);
    CHECK(run.get(y) == Floats(kCount, 6.0F));
  }
}

}  // namespace quorate
