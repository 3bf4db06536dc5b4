#include "kernels/cpu/vector/product.h"

#include <set>
#include <vector>

#include <doctest/doctest.h>

namespace quorate {

TEST_CASE("the operand that fills vectors better is read in vectors") {
  std::vector<float> a(784 * 64), b(784 * 256), c(64 * 256);
  auto arrange = [&](MatmulSizes sizes, Transpose at, Transpose bt) {
    return arrange_product(sizes, a.data(), at, b.data(), bt, c.data(), 16);
  };
  using enum Transpose;
  // A B^T: the batch of 64 is cheaper to transpose than 256 weights' rows.
  CHECK(arrange({64, 256, 784}, no, yes).v == a.data());
  // A B: nothing to transpose.
  CHECK(arrange({64, 256, 784}, no, no).v == b.data());
  // A^T B: both can be read in vectors; C is stored along b's columns.
  CHECK(arrange({64, 256, 784}, yes, no).v == b.data());
}

TEST_CASE("pieces cover the product once") {
  for (std::size_t rows : {1U, 7U, 64U, 1000U}) {
    for (std::size_t cols : {1U, 10U, 100U, 1000U}) {
      std::vector<float> c(rows * cols);
      std::vector<float> r(rows);
      std::vector<float> v(cols);
      Product whole = {.r = r.data(),
                       .r_row = 1,
                       .r_k = rows,
                       .v = v.data(),
                       .v_k = cols,
                       .v_col = 1,
                       .c = c.data(),
                       .c_row = cols,
                       .c_col = 1,
                       .rows = rows,
                       .cols = cols,
                       .depth = 5000};
      std::size_t pieces = piece_count(whole, 4, 16);
      CHECK(pieces <= 4);
      for (std::size_t n = 0; n < pieces; ++n) {
        Product piece = piece_of(whole, pieces, n, 16);
        CHECK(piece.depth == whole.depth);
        for (std::size_t i = 0; i < piece.rows; ++i) {
          for (std::size_t j = 0; j < piece.cols; ++j) {
            piece.c[i * piece.c_row + j * piece.c_col] += 1.0F;
          }
        }
      }
      CHECK(std::set<float>(c.begin(), c.end()) == std::set<float>{1.0F});
    }
  }
}

TEST_CASE("small products stay whole, large ones are cut for every thread") {
  std::vector<float> data(100000);
  auto pieces_of = [&](std::size_t rows, std::size_t cols) {
    Product product = {.r = data.data(),
                       .r_row = 1,
                       .v = data.data(),
                       .v_col = 1,
                       .c = data.data(),
                       .c_col = 1,
                       .rows = rows,
                       .cols = cols,
                       .depth = 100};
    return piece_count(product, 4, 16);
  };
  CHECK(pieces_of(10, 100) == 1);
  CHECK(pieces_of(1000, 1000) == 4);
  CHECK(pieces_of(100000, 10) == 4);
}

}  // namespace quorate
