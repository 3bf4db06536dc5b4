// Tiles at their place in C, whichever way C is stored. Included once per
// instruction set.
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

struct Panel {
  PanelCut cut;
  const float* v;
  std::size_t v_k;
  float* packed;  // null: V is read in place
};

// A row tile: where R is read for it, in `tile`; its place in C.
struct RowTile {
  Tile tile;
  std::size_t first;
  std::size_t count;
};

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

// Where C is stored along its columns: in a buffer.
void make_across(const Product& p, bool is_last, RowTile& row_tile,
                 const Panel& panel, TileFunction function) {
  Tile& t = row_tile.tile;
  const std::size_t width = panel.cut.vectors * kLanes;
  HWY_ALIGN float buffer[kMostRows * kMostVectors * kLanes];
  for (std::size_t n = 0; n < row_tile.count; ++n) {
    t.c[n] = buffer + n * width;
  }
  const std::size_t at = row_tile.first + panel.cut.first * p.c_col;
  float* c = p.c + at;
  if (t.continues) {
    transpose(c, p.c_col, panel.cut.cols, row_tile.count, buffer, width);
  }
  function(t);
  transpose(buffer, width, row_tile.count, panel.cut.cols, c, p.c_col);
  if (is_last) finish_across(p, at, row_tile, panel.cut.cols);
}

// A row tile against a panel. is_last: no steps along k follow.
void make(const Product& p, bool along_rows, bool is_last, RowTile& row_tile,
          const Panel& panel) {
  Tile& t = row_tile.tile;
  t.v = panel.v;
  t.v_k = panel.v_k;
  t.zeros = p.zeros ? p.zeros + panel.cut.first * p.zero_count : nullptr;
  t.last_lanes = panel.cut.cols - (panel.cut.vectors - 1) * kLanes;
  t.finishes = false;
  const TileFunction function =
      along_rows ? pick_tile<true>(row_tile.count, panel.cut.vectors)
                 : pick_tile<false>(row_tile.count, panel.cut.vectors);
  if (p.c_col != 1) return make_across(p, is_last, row_tile, panel, function);
  const Finish& f = p.finish;
  t.finishes = is_last && (f.bias || f.addend || f.relu);
  t.bias = f.bias ? f.bias + panel.cut.first : nullptr;
  t.addend[0] = nullptr;
  t.relu = f.relu;
  for (std::size_t n = 0; n < row_tile.count; ++n) {
    const std::size_t i = row_tile.first + n;
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
