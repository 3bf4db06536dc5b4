// The matrix product (docs/numerics.md, section 3) of one thread. Compiled once
// per instruction set.
//
// C is made in tiles (tile-inl.h). V comes in panels as wide as a tile, packed
// so that a panel is one stream, or read in place where that is as good. R is
// read in place, or packed a few row tiles at a time when it is stored along i
// and its columns lie far apart.
//
// Bits do not depend on tiles, panels or blocks: each element of C sees its
// products in increasing k, and blocks along k are whole segments.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/vector/matmul.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include "kernels/cpu/vector/product.h"

#if HWY_TARGET != HWY_STATIC_TARGET
#include "kernels/cpu/vector/packing-inl.h"
#include "kernels/cpu/vector/result-inl.h"
#include "kernels/cpu/vector/tile-inl.h"
#endif

HWY_BEFORE_NAMESPACE();
namespace quorate::HWY_NAMESPACE {
#if HWY_TARGET != HWY_STATIC_TARGET
namespace {

// Elements of V packed at a time: they stay in the second-level cache.
constexpr std::size_t kBlockElements = 512 * (kWide ? 384 : 256);
// Steps along k that are taken at a time, whole segments.
constexpr std::size_t kBlockSegments = 5;
constexpr std::size_t kMostDepth = kBlockSegments * kSegment;
// Columns packed at a time: a row tile of R is read for all of them from the
// first-level cache. More where R is packed again for each such block.
constexpr std::size_t kBlockCols = kWide ? 384 : 256;
constexpr std::size_t kAlongBlockCols = 2 * kBlockCols;
constexpr std::size_t kBlockPanels = kAlongBlockCols / kLanes;
// Rows of R copied at a time.
constexpr std::size_t kBlockRows = 48;
// Fewer rows than these do not repay packing V when it can be read in place;
// fewer still if its steps, whole pages apart, fall on few lines of a cache.
constexpr std::size_t kPackRows = 72;
constexpr std::size_t kPackRowsOfPages = 24;
constexpr std::size_t kPage = 4096 / sizeof(float);
// Steps of R so many elements apart fall on few lines of a cache.
constexpr std::size_t kFarApart = 192;

// More elements of R than these come from beyond the second-level cache.
constexpr std::size_t kFarElements = 1 << 18;

constexpr std::size_t kRowScratch = packed_tile(1, kMostDepth) * kBlockRows;
static_assert(kBlockElements + kRowScratch <= kMatmulScratch);

std::size_t least(std::size_t a, std::size_t b) {
  return a < b ? a : b;
}

// Some steps along k, for all of C.
struct Block {
  std::size_t k0;
  std::size_t depth;
  const Span* spans;
  const Span* end;
};

struct Multiplier {
  const Product& p;
  std::size_t most_height;  // of a row tile
  std::size_t height;       // of those that are made now
  bool along_rows;
  float* row_scratch;
  float* panel_scratch;

  Multiplier(const Product& product, float* scratch)
      : p(product),
        most_height(0),
        height(0),
        along_rows(product.r_rows == nullptr && product.r_row == 1 &&
                   product.r_k != 1),
        row_scratch(scratch),
        panel_scratch(scratch + kRowScratch) {
    const std::size_t vectors = (p.cols + kLanes - 1) / kLanes;
    const std::size_t panels = panel_count(p.cols, kLanes);
    most_height = tile_rows(along_rows, (vectors + panels - 1) / panels);
  }

  void run() {
    const std::size_t step = block_depth();
    for (std::size_t k0 = 0; k0 < p.depth; k0 += step) {
      run_block(k0, least(step, p.depth - k0));
    }
  }

  std::size_t block_cols() const {
    return along_rows ? kAlongBlockCols : kBlockCols;
  }

  // The fewer columns, the more steps at a time; all blocks alike.
  std::size_t block_depth() const {
    const std::size_t cols = (p.cols + kLanes - 1) / kLanes * kLanes;
    const std::size_t segments = (p.depth + kSegment - 1) / kSegment;
    const std::size_t most =
        least(kMostDepth, kBlockElements / least(cols, block_cols())) /
        kSegment;
    const std::size_t blocks = (segments + most - 1) / most;
    return (segments + blocks - 1) / blocks * kSegment;
  }

  // The segments of `depth` steps from k0 on, in R with steps of r_k.
  static const Span* cut_segments(std::size_t r_k, std::size_t k0,
                                  std::size_t depth,
                                  Span (&spans)[kBlockSegments]) {
    std::size_t n = 0;
    for (; n < kBlockSegments && n * kSegment < depth; ++n) {
      const std::size_t k = n * kSegment;
      spans[n] = {static_cast<std::ptrdiff_t>((k0 + k) * r_k),
                  least(kSegment, depth - k), true};
    }
    return spans + n;
  }

  void run_block(std::size_t k0, std::size_t depth) {
    Block block{k0, depth, nullptr, nullptr};
    const std::size_t count = panel_count(p.cols, kLanes);
    for (std::size_t i = 0; i < count;) {
      Panel panels[kBlockPanels];
      std::size_t used = 0;
      std::size_t width = 0;
      for (; i < count; ++i, ++used) {
        const PanelCut cut = cut_panel(p.cols, kLanes, i);
        if (width + cut.vectors * kLanes > block_cols()) break;
        panels[used] =
            place_panel(block, cut, panel_scratch + width * block.depth);
        width += cut.vectors * kLanes;
      }
      if (packs()) pack_panels(block, panels, used);
      run_classes(block, panels, used);
    }
  }

  bool packs() const {
    const std::size_t least_rows =
        p.v_k % kPage == 0 ? kPackRowsOfPages : kPackRows;
    return !p.packed_v &&
           (p.v_col != 1 || p.rows >= least_rows || p.cols % kLanes != 0);
  }

  // Where V will be for a panel: packed at `to`, or where it is.
  Panel place_panel(const Block& block, const PanelCut& cut, float* to) const {
    const std::size_t width = cut.vectors * kLanes;
    if (packs()) return {cut, to, width, to};
    if (p.packed_v) {
      return {cut, p.packed_v + cut.first * p.depth + block.k0 * width, width,
              nullptr};
    }
    return {cut, p.v + block.k0 * p.v_k + cut.first, p.v_k, nullptr};
  }

  // Rows of V that lie side by side are read as such: as one stream.
  void pack_panels(const Block& block, const Panel* panels,
                   std::size_t count) const {
    const std::size_t width = panels[count - 1].cut.first +
                              panels[count - 1].cut.cols - panels[0].cut.first;
    const float* from = p.v + block.k0 * p.v_k;
    if (p.v_col != 1) {
      for (std::size_t n = 0; n < count; ++n) {
        const PanelCut& cut = panels[n].cut;
        pack_panel(from + cut.first * p.v_col, p.v_k, p.v_col, block.depth, cut,
                   panels[n].packed);
      }
      return;
    }
    for (std::size_t k = 0; k < block.depth; ++k) {
      const float* ahead =
          from + (k + kRowsAhead) * p.v_k + panels[0].cut.first;
      prefetch(ahead, width);
      for (std::size_t n = 0; n < count; ++n) {
        const Panel& panel = panels[n];
        pack_row(from + k * p.v_k + panel.cut.first, panel.cut,
                 panel.packed + k * panel.v_k);
      }
    }
  }

  // All rows of C against some panels.
  void run_classes(Block& block, const Panel* panels, std::size_t count) {
    if (!p.classes) {
      Span whole[kBlockSegments];
      block.spans = whole;
      block.end = cut_segments(p.r_k, block.k0, block.depth, whole);
      return run_rows(block, panels, count, 0, p.rows);
    }
    for (std::size_t n = 0; n < p.class_count; ++n) {
      const RowClass& alike = p.classes[n];
      block.spans = after_steps(alike.spans, block.k0);
      block.end = after_steps(block.spans, block.depth);
      run_rows(block, panels, count, alike.first, alike.first + alike.rows);
    }
  }

  static const Span* after_steps(const Span* spans, std::size_t steps) {
    for (std::size_t n = 0; n < steps; ++spans) n += spans->count;
    return spans;
  }

  // Rows [first_row, end_row) of C.
  void run_rows(const Block& block, const Panel* panels, std::size_t count,
                std::size_t first_row, std::size_t end_row) {
    if (first_row == end_row) return;
    // Tiles as equal as may be: the last should not be a sliver.
    const std::size_t least_tiles =
        (end_row - first_row + most_height - 1) / most_height;
    height = (end_row - first_row + least_tiles - 1) / least_tiles;
    const bool copies =
        along_rows && p.r_k >= kFarApart && count > 1 && block.depth > 64;
    const std::size_t tiles = copies ? kBlockRows / height : 1;
    for (std::size_t i0 = first_row; i0 < end_row; i0 += tiles * height) {
      const std::size_t end = least(end_row, i0 + tiles * height);
      if (copies) {
        pack_along(p.r + i0, p.r_k, block.spans, block.end, end - i0, height,
                   block.depth, row_scratch);
      }
      for (std::size_t i = i0; i < end; i += height) {
        Span whole[kBlockSegments];
        RowTile row_tile = place_rows(block, i, least(height, end - i));
        if (copies) use_copy(block, i - i0, row_tile, whole);
        for (std::size_t n = 0; n < count; ++n) {
          look_ahead(block, i, n, count, row_tile.tile);
          make(p, along_rows, block.k0 + block.depth == p.depth, row_tile,
               panels[n]);
        }
      }
    }
  }

  // R's rows from i on, in place.
  RowTile place_rows(const Block& block, std::size_t i,
                     std::size_t rows) const {
    RowTile row_tile;
    row_tile.first = i;
    row_tile.count = rows;
    Tile& t = row_tile.tile;
    t.r_k = p.r_k;
    t.spans = block.spans;
    t.end = block.end;
    t.continues = p.continues || block.k0 > 0;
    for (std::size_t n = 0; n < rows; ++n) {
      t.rows[n] =
          p.r + (p.r_rows ? p.r_rows[i + n]
                          : static_cast<std::ptrdiff_t>((i + n) * p.r_row));
    }
    return row_tile;
  }

  // The same in the copy, i rows from its begin.
  void use_copy(const Block& block, std::size_t i, RowTile& row_tile,
                Span (&spans)[kBlockSegments]) const {
    Tile& t = row_tile.tile;
    t.rows[0] = row_scratch + i / height * packed_tile(height, block.depth);
    t.r_k = height;
    t.spans = spans;
    t.end = cut_segments(height, 0, block.depth, spans);
  }

  // Panel n of `count`, with the row tile from i on, asks for its share of what
  // comes next from far away: the next row tile of R, or the next block of V.
  void look_ahead(const Block& block, std::size_t i, std::size_t n,
                  std::size_t count, Tile& t) const {
    t.ahead = t.rows[0];
    t.ahead_k = 0;
    if (!along_rows && !p.r_rows && p.r_row <= 2 * block.depth &&
        p.rows * p.r_row >= kFarElements && i + 2 * height <= p.rows) {
      const std::size_t share = height * p.r_row / count;
      t.ahead = p.r + (i + height) * p.r_row + n * share;
      t.ahead_k = (share + block.depth - 1) / block.depth;
    } else if (asks_for_v(block)) {
      const std::size_t tiles = (p.rows + height - 1) / height;
      const std::size_t share =
          (block.depth * p.v_k + tiles * count - 1) / (tiles * count);
      t.ahead = p.v + (block.k0 + block.depth) * p.v_k +
                (i / height * count + n) * share;
      t.ahead_k = (share + block.depth - 1) / block.depth;
    }
  }

  // The next steps' rows of V come from far away, for all columns at once.
  bool asks_for_v(const Block& block) const {
    return p.v_col == 1 && !p.packed_v && !p.classes &&
           p.cols <= block_cols() && p.depth * p.v_k >= kFarElements &&
           block.k0 + 2 * block.depth <= p.depth;
  }
};

void multiply(const Product& p, float* scratch) {
  Multiplier(p, scratch).run();
}

void pack(const float* v, std::size_t v_k, std::size_t v_col, std::size_t depth,
          const PanelCut& panel, float* to) {
  pack_panel(v, v_k, v_col, depth, panel, to);
}

void sum_zeros(const float* v, std::size_t depth, std::size_t width,
               float* sum) {
  const Vec zero = hn::Zero(kF);
  for (std::size_t j = 0; j < width; j += kLanes) {
    Vec acc = hn::Set(kF, -0.0F);
    for (std::size_t k = 0; k < depth; ++k) {
      acc = hn::MulAdd(zero, hn::LoadU(kF, v + k * width + j), acc);
    }
    hn::StoreU(acc, kF, sum + j);
  }
}

constexpr MatmulKernels kTable = {multiply, pack, sum_zeros, kLanes};

}  // namespace

const MatmulKernels& matmul_table() {
  return kTable;
}

#endif  // HWY_STATIC_TARGET
}  // namespace quorate::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace quorate {

const MatmulKernels& matmul_kernels(InstructionSet set) {
  return set == InstructionSet::avx512 ? N_AVX3::matmul_table()
                                       : N_AVX2::matmul_table();
}

}  // namespace quorate
#endif
