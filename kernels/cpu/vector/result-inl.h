// Tiles at their place in C, whichever way C is stored. Included once per
// instruction set.
//
// Comes after tile-inl.h and packing-inl.h and is used by matmul.cpp alone. C
// is stored along j (c_col is 1) or along i, which happens when the operands
// were exchanged; then a tile is computed in a buffer on the stack and
// transposed.
#if defined(QUORATE_KERNELS_CPU_RESULT_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef QUORATE_KERNELS_CPU_RESULT_INL_H
#undef QUORATE_KERNELS_CPU_RESULT_INL_H
#else
#define QUORATE_KERNELS_CPU_RESULT_INL_H
#endif

#include "kernels/cpu/vector/packing-inl.h"
#include "kernels/cpu/vector/tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace quorate::HWY_NAMESPACE {
namespace {

// A panel of V: the columns that one row of tiles shares.
struct Panel {
  PanelCut cut;
  const float* v;
  std::size_t v_k;
  float* packed;  // null: V is read in place
};

// A row tile: where R is read for it, in `tile`; its place in C.
// first, count: rows of C; at most as many as tile_rows() says.
struct RowTile {
  Tile tile;
  std::size_t first;
  std::size_t count;
};

// Bias, addend and relu of a tile that was stored across. bias belongs to the
// rows here, because the sides are exchanged. Scalar: such tiles are at the
// edge of a product, or the product is narrow.
void finish_across(const Product& p, std::size_t at, const RowTile& row_tile,
                   std::size_t cols) {
  const Finish& f = p.finish;
  if (!f.bias && !f.addend && !f.relu) return;
  for (std::size_t j = 0; j < cols; ++j) {
    for (std::size_t n = 0; n < row_tile.count; ++n) {
      float* c = p.c + at + j * p.c_col + n;
      float value = *c;
      if (f.bias) value = value + f.bias[row_tile.first + n];
      if (f.addend) value = value + f.addend[at + j * p.c_col + n];
      *c = f.relu && value <= 0.0F ? 0.0F : value;
    }
  }
}

// Where C is stored along its rows: computes the tile in a buffer, then
// transposes it to C. A tile that continues a sum is brought back first.
void make_across(const Product& p, bool is_last, RowTile& row_tile,
                 const Panel& panel, TileFunction function) {
  Tile& t = row_tile.tile;
  const std::size_t width = panel.cut.vectors * kLanes;
  // At most 24 x 4 x 16 floats, 6 KiB, which stay in the first-level cache.
  HWY_ALIGN float buffer[kMostRows * kMostVectors * kLanes];
  for (std::size_t n = 0; n < row_tile.count; ++n) {
    t.c[n] = buffer + n * width;
  }
  // c_row is 1 here: a row tile is a contiguous stretch of C.
  const std::size_t at = row_tile.first + panel.cut.first * p.c_col;
  float* c = p.c + at;
  // The sums so far come back into the buffer, as the tile adds to them.
  if (t.continues) {
    transpose(c, p.c_col, panel.cut.cols, row_tile.count, buffer, width);
  }
  function(t);
  transpose(buffer, width, row_tile.count, panel.cut.cols, c, p.c_col);
  if (is_last) finish_across(p, at, row_tile, panel.cut.cols);
}

// A row tile against a panel: fills in the tile's pointers and calls the
// function for its size. is_last: no steps along k follow, so the finish is
// due. row_tile.tile has R's part set by the caller, and is changed.
void make(const Product& p, bool along_rows, bool is_last, RowTile& row_tile,
          const Panel& panel) {
  Tile& t = row_tile.tile;
  t.v = panel.v;
  t.v_k = panel.v_k;
  t.zeros = p.zeros ? p.zeros + panel.cut.first * p.zero_count : nullptr;
  // The last vector of a panel may be partly filled; its other lanes are
  // computed and not stored.
  t.last_lanes = panel.cut.cols - (panel.cut.vectors - 1) * kLanes;
  t.finishes = false;
  // Tiles at the lower edge have fewer rows: one function for each number.
  const TileFunction function =
      along_rows ? pick_tile<true>(row_tile.count, panel.cut.vectors)
                 : pick_tile<false>(row_tile.count, panel.cut.vectors);
  if (p.c_col != 1) return make_across(p, is_last, row_tile, panel, function);
  const Finish& f = p.finish;
  // What follows is done by the tile itself where C lies along its rows.
  t.finishes = is_last && (f.bias || f.addend || f.relu);
  t.bias = f.bias ? f.bias + panel.cut.first : nullptr;
  t.addend[0] = nullptr;
  t.relu = f.relu;
  for (std::size_t n = 0; n < row_tile.count; ++n) {
    const std::size_t i = row_tile.first + n;
    // A table gives each row its place in C (convolutions), else a stride.
    const std::ptrdiff_t at =
        (p.c_rows ? p.c_rows[i] : static_cast<std::ptrdiff_t>(i * p.c_row)) +
        static_cast<std::ptrdiff_t>(panel.cut.first);
    t.c[n] = p.c + at;
    if (f.addend) t.addend[n] = f.addend + at;
  }
  function(t);
}

}  // namespace
}  // namespace quorate::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
