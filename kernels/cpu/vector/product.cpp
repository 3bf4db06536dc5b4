#include "kernels/cpu/vector/product.h"

#include <algorithm>

namespace quorate {
namespace {

// Below this many multiply-adds a piece is not worth waking a thread.
constexpr double kLeastPiece = 1 << 20;

// The same product with the sides exchanged: C^T = op(b)^T op(a)^T.
Product exchange_sides(const Product& p) {
  return {.r = p.v,
          .r_row = p.v_col,
          .r_k = p.v_k,
          .v = p.r,
          .v_k = p.r_k,
          .v_col = p.r_row,
          .c = p.c,
          .c_row = p.c_col,
          .c_col = p.c_row,
          .rows = p.cols,
          .cols = p.rows,
          .depth = p.depth};
}

// In vector multiply-adds: the products, with partly filled vectors counted
// whole; V's elements if they must be transposed; C's if stored across. The
// weights come from measurements of the transposing loops.
double cost(const Product& p, std::size_t lanes) {
  double filled = static_cast<double>((p.cols + lanes - 1) / lanes);
  double cost =
      filled * static_cast<double>(p.rows) * static_cast<double>(p.depth);
  constexpr double kTransposed = 2;
  if (p.v_col != 1) {
    cost += kTransposed * static_cast<double>(p.cols) *
            static_cast<double>(p.depth);
  }
  if (p.c_col != 1) {
    cost +=
        kTransposed * static_cast<double>(p.cols) * static_cast<double>(p.rows);
  }
  return cost;
}

// Along the columns each piece packs its own part of V; along the rows every
// piece packs all of it.
bool is_cut_by_cols(const Product& product, std::size_t pieces,
                    std::size_t lanes) {
  return product.cols / lanes >= pieces;
}

// Pieces are whole vectors or whole tiles.
std::size_t unit_of(bool by_cols, std::size_t lanes) {
  constexpr std::size_t kRowUnit = 8;
  return by_cols ? lanes : kRowUnit;
}

std::size_t unit_count(const Product& product, bool by_cols,
                       std::size_t lanes) {
  std::size_t unit = unit_of(by_cols, lanes);
  return ((by_cols ? product.cols : product.rows) + unit - 1) / unit;
}

}  // namespace

Product arrange_product(const MatmulSizes& sizes, const float* a,
                        Transpose transpose_a, const float* b,
                        Transpose transpose_b, float* c, std::size_t lanes) {
  bool at = transpose_a == Transpose::yes;
  bool bt = transpose_b == Transpose::yes;
  Product product = {.r = a,
                     .r_row = at ? 1 : sizes.depth,
                     .r_k = at ? sizes.rows : 1,
                     .v = b,
                     .v_k = bt ? 1 : sizes.cols,
                     .v_col = bt ? sizes.depth : 1,
                     .c = c,
                     .c_row = sizes.cols,
                     .c_col = 1,
                     .rows = sizes.rows,
                     .cols = sizes.cols,
                     .depth = sizes.depth};
  Product exchanged = exchange_sides(product);
  return cost(exchanged, lanes) < cost(product, lanes) ? exchanged : product;
}

void multiply_nothing(std::size_t rows, std::size_t cols, const Finish& finish,
                      float* c) {
  for (std::size_t i = 0; i < rows * cols; ++i) {
    float value = 0.0F;
    if (finish.bias) value = value + finish.bias[i % cols];
    if (finish.addend) value = value + finish.addend[i];
    c[i] = finish.relu && value <= 0.0F ? 0.0F : value;
  }
}

std::size_t piece_count(const Product& product, std::size_t most,
                        std::size_t lanes) {
  double work = static_cast<double>(product.rows) *
                static_cast<double>(product.cols) *
                static_cast<double>(product.depth);
  auto pieces = static_cast<std::size_t>(
      std::clamp(work / kLeastPiece, 1.0, static_cast<double>(most)));
  bool by_cols = is_cut_by_cols(product, pieces, lanes);
  return std::min(pieces, unit_count(product, by_cols, lanes));
}

Product piece_of(const Product& product, std::size_t pieces, std::size_t i,
                 std::size_t lanes) {
  bool by_cols = is_cut_by_cols(product, pieces, lanes);
  std::size_t size = by_cols ? product.cols : product.rows;
  std::size_t unit = unit_of(by_cols, lanes);
  std::size_t units = unit_count(product, by_cols, lanes);
  std::size_t first = i * units / pieces * unit;
  std::size_t end = std::min((i + 1) * units / pieces * unit, size);
  Product part = product;
  std::size_t c_offset = first * (by_cols ? part.c_col : part.c_row);
  part.c += c_offset;
  if (part.finish.addend) part.finish.addend += c_offset;
  if (part.finish.bias && by_cols == (part.c_col == 1)) {
    part.finish.bias += first;
  }
  if (by_cols) {
    part.v += first * part.v_col;
    part.cols = end - first;
  } else {
    part.r += first * part.r_row;
    part.rows = end - first;
  }
  return part;
}

std::size_t panel_count(std::size_t cols, std::size_t lanes) {
  std::size_t vectors = (cols + lanes - 1) / lanes;
  std::size_t most = most_tile_vectors(lanes);
  // Three vectors leave room for more rows than four do.
  if (most == 4 && vectors % 3 == 0) most = 3;
  return (vectors + most - 1) / most;
}

PanelCut cut_panel(std::size_t cols, std::size_t lanes, std::size_t i) {
  std::size_t vectors = (cols + lanes - 1) / lanes;
  std::size_t count = panel_count(cols, lanes);
  std::size_t first = i * vectors / count;
  std::size_t end = (i + 1) * vectors / count;
  return {.first = first * lanes,
          .cols = std::min(end * lanes, cols) - first * lanes,
          .vectors = end - first};
}

std::size_t packed_size(std::size_t cols, std::size_t depth,
                        std::size_t lanes) {
  return (cols + lanes - 1) / lanes * lanes * depth;
}

}  // namespace quorate
