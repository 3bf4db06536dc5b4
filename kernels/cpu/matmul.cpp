// The matrix product (docs/numerics.md, section 3) of one thread. Compiled once
// per instruction set.
//
// C is made in tiles of up to kTileRows x (kTileVectors vectors), whose sums
// stay in registers for a segment of 256 steps along k; a finished segment is
// added to the tile in memory. V comes in panels as wide as a tile, packed so
// that a panel is one stream, or read in place where that is as good. R is
// read in place, or packed a row tile at a time when it is stored along i.
//
// Bits do not depend on tiles, panels or blocks: each element of C sees its
// products in increasing k, and blocks along k are whole segments.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/matmul.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include "kernels/cpu/kernels.h"

HWY_BEFORE_NAMESPACE();
namespace quorate::HWY_NAMESPACE {
#if HWY_TARGET != HWY_STATIC_TARGET
namespace {

namespace hn = hwy::HWY_NAMESPACE;

constexpr hn::ScalableTag<float> kF;
using Vec = hn::Vec<hn::ScalableTag<float>>;

constexpr std::size_t kLanes = hn::MaxLanes(hn::ScalableTag<float>());
constexpr std::size_t kSegment = 256;
// Along k, of a packed panel: whole segments, small enough for a block of
// panels to stay in the second-level cache.
constexpr std::size_t kDepthBlock = 2 * kSegment;
// 512 bits: 24 sums, 3 of V, all products read R from memory. 256 bits have
// half the registers.
constexpr bool kWide = kLanes == 16;
constexpr std::size_t kTileRows = kWide ? 8 : 6;
constexpr std::size_t kTileVectors = kWide ? 3 : 2;
constexpr std::size_t kTileCols = kTileVectors * kLanes;
// Panels packed at a time: a row tile of R is read that often from the
// first-level cache.
constexpr std::size_t kBlockPanels = kWide ? 8 : 16;
// Fewer rows than these do not repay packing a panel that can be read in
// place.
constexpr std::size_t kPackRows = 96;

constexpr std::size_t kPanelScratch = kDepthBlock * kTileCols;
constexpr std::size_t kRowScratch = kDepthBlock * kTileRows;
static_assert(kPanelScratch * kBlockPanels + kRowScratch <= kMatmulScratch);

std::size_t least(std::size_t a, std::size_t b) {
  return a < b ? a : b;
}

// A tile's inputs: R(i,k) at r[i * r_stride + k] or, if kAlongRows,
// r[i + k * r_stride]; V(k,j) at v[k * v_stride + j].
struct TileInput {
  const float* r;
  std::size_t r_stride;
  const float* v;
  std::size_t v_stride;
  std::size_t depth;
};

// c (kRows x kVectors vectors, rows c_stride apart) = the sum over k, in
// segments; added to what is there if `continues`.
template <bool kAlongRows, std::size_t kRows, std::size_t kVectors>
void tile(const TileInput& in, bool continues, float* c, std::size_t c_stride) {
  const float* v = in.v;
  for (std::size_t k0 = 0; k0 < in.depth; k0 += kSegment) {
    const std::size_t end = least(in.depth, k0 + kSegment);
    Vec acc[kRows][kVectors];
    for (std::size_t i = 0; i < kRows; ++i) {
      for (std::size_t u = 0; u < kVectors; ++u) acc[i][u] = hn::Zero(kF);
    }
    for (std::size_t k = k0; k < end; ++k, v += in.v_stride) {
      Vec b[kVectors];
      for (std::size_t u = 0; u < kVectors; ++u) {
        b[u] = hn::LoadU(kF, v + u * kLanes);
      }
      for (std::size_t i = 0; i < kRows; ++i) {
        const Vec a = hn::Set(kF, kAlongRows ? in.r[i + k * in.r_stride]
                                             : in.r[i * in.r_stride + k]);
        for (std::size_t u = 0; u < kVectors; ++u) {
          acc[i][u] = hn::MulAdd(a, b[u], acc[i][u]);
        }
      }
    }
    const bool add = continues || k0 > 0;
    for (std::size_t i = 0; i < kRows; ++i) {
      for (std::size_t u = 0; u < kVectors; ++u) {
        float* to = c + i * c_stride + u * kLanes;
        hn::StoreU(add ? hn::Add(hn::LoadU(kF, to), acc[i][u]) : acc[i][u], kF,
                   to);
      }
    }
  }
}

using TileFunction = void (*)(const TileInput&, bool, float*, std::size_t);

template <bool kAlongRows, std::size_t kVectors, std::size_t... kRowsLess1>
constexpr TileFunction pick_rows(std::size_t rows,
                                 std::index_sequence<kRowsLess1...>) {
  constexpr TileFunction table[] = {
      tile<kAlongRows, kRowsLess1 + 1, kVectors>...};
  return table[rows - 1];
}

template <bool kAlongRows, std::size_t kVectors = 1>
TileFunction pick(std::size_t rows, std::size_t vectors) {
  if constexpr (kVectors < kTileVectors) {
    if (vectors > kVectors) {
      return pick<kAlongRows, kVectors + 1>(rows, vectors);
    }
  }
  return pick_rows<kAlongRows, kVectors>(rows,
                                         std::make_index_sequence<kTileRows>());
}

// Columns [first, first + cols) of C, and where V is read for them.
struct Panel {
  std::size_t first;
  std::size_t cols;
  std::size_t vectors;  // the last may be partly filled
  const float* v;
  std::size_t v_stride;
};

// to[j * to_stride + i] = from[i * from_stride + j], i and j below 4.
HWY_INLINE void transpose_4x4(const float* from, std::size_t from_stride,
                              float* to, std::size_t to_stride) {
  const hn::Full128<float> one;
  const hn::Full128<std::uint64_t> two;
  const auto row0 = hn::LoadU(one, from);
  const auto row1 = hn::LoadU(one, from + from_stride);
  const auto row2 = hn::LoadU(one, from + 2 * from_stride);
  const auto row3 = hn::LoadU(one, from + 3 * from_stride);
  const auto low01 = hn::BitCast(two, hn::InterleaveLower(one, row0, row1));
  const auto low23 = hn::BitCast(two, hn::InterleaveLower(one, row2, row3));
  const auto high01 = hn::BitCast(two, hn::InterleaveUpper(one, row0, row1));
  const auto high23 = hn::BitCast(two, hn::InterleaveUpper(one, row2, row3));
  const auto store = [&](auto pairs, std::size_t j) HWY_ATTR {
    hn::StoreU(hn::BitCast(one, pairs), one, to + j * to_stride);
  };
  store(hn::InterleaveLower(two, low01, low23), 0);
  store(hn::InterleaveUpper(two, low01, low23), 1);
  store(hn::InterleaveLower(two, high01, high23), 2);
  store(hn::InterleaveUpper(two, high01, high23), 3);
}

// to[j * to_stride + i] = from[i * from_stride + j], i < rows, j < cols.
void transpose(const float* from, std::size_t from_stride, std::size_t rows,
               std::size_t cols, float* to, std::size_t to_stride) {
  const auto scalar = [&](std::size_t i0, std::size_t i1, std::size_t j0) {
    for (std::size_t i = i0; i < i1; ++i) {
      for (std::size_t j = j0; j < cols; ++j) {
        to[j * to_stride + i] = from[i * from_stride + j];
      }
    }
  };
  std::size_t i = 0;
  for (; i + 4 <= rows; i += 4) {
    std::size_t j = 0;
    for (; j + 4 <= cols; j += 4) {
      transpose_4x4(from + i * from_stride + j, from_stride,
                    to + j * to_stride + i, to_stride);
    }
    scalar(i, i + 4, j);
  }
  scalar(i, rows, 0);
}

// V for rows k0 to k0+depth of a panel as depth rows of `vectors` vectors; the
// lanes beyond `cols` hold +0 and are not used.
void pack_panel(const Product& p, const Panel& panel, std::size_t k0,
                std::size_t depth, float* to) {
  const std::size_t width = panel.vectors * kLanes;
  const float* from = p.v + k0 * p.v_k + panel.first * p.v_col;
  if (p.v_col == 1) {
    for (std::size_t k = 0; k < depth; ++k) {
      std::memcpy(to + k * width, from + k * p.v_k, panel.cols * sizeof(float));
    }
  } else {
    transpose(from, p.v_col, panel.cols, depth, to, width);
  }
  if (panel.cols == width) return;
  for (std::size_t k = 0; k < depth; ++k) {
    for (std::size_t j = panel.cols; j < width; ++j) to[k * width + j] = 0.0F;
  }
}

// Sets where V is read for the panel: packed into `scratch`, or in place.
void place_panel(const Product& p, Panel& panel, std::size_t k0,
                 std::size_t depth, float* scratch) {
  const bool ragged = panel.cols < panel.vectors * kLanes;
  if (p.v_col == 1 && p.rows < kPackRows && !ragged) {
    panel.v = p.v + k0 * p.v_k + panel.first;
    panel.v_stride = p.v_k;
    return;
  }
  pack_panel(p, panel, k0, depth, scratch);
  panel.v = scratch;
  panel.v_stride = panel.vectors * kLanes;
}

// C's rows [i0, i0 + rows) of a panel. Whole tiles along C's rows are made in
// place, others in a buffer.
void make_tile(const Product& p, const TileInput& in, bool along_rows,
               const Panel& panel, std::size_t i0, std::size_t rows,
               bool continues) {
  const TileFunction function = along_rows ? pick<true>(rows, panel.vectors)
                                           : pick<false>(rows, panel.vectors);
  float* c = p.c + i0 * p.c_row + panel.first * p.c_col;
  const std::size_t width = panel.vectors * kLanes;
  if (p.c_col == 1 && panel.cols == width) {
    function(in, continues, c, p.c_row);
    return;
  }
  float buffer[kTileRows * kTileCols];
  if (continues) {
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t j = 0; j < width; ++j) {
        buffer[i * width + j] =
            j < panel.cols ? c[i * p.c_row + j * p.c_col] : 0.0F;
      }
    }
  }
  function(in, continues, buffer, width);
  if (p.c_col != 1) {
    transpose(buffer, width, rows, panel.cols, c, p.c_col);
    return;
  }
  for (std::size_t i = 0; i < rows; ++i) {
    std::memcpy(c + i * p.c_row, buffer + i * width,
                panel.cols * sizeof(float));
  }
}

// A row tile of R, stored along i, as `depth` rows of kTileRows.
void pack_rows(const float* r, std::size_t r_stride, std::size_t rows,
               std::size_t depth, float* to) {
  for (std::size_t k = 0; k < depth; ++k, r += r_stride, to += kTileRows) {
    // A constant size is a move, not a call.
    if (rows == kTileRows) {
      std::memcpy(to, r, kTileRows * sizeof(float));
    } else {
      std::memcpy(to, r, rows * sizeof(float));
    }
  }
}

// All rows of C against a block of panels, for depth steps from k0.
void make_block(const Product& p, const Panel* panels, std::size_t count,
                std::size_t k0, std::size_t depth, float* row_scratch) {
  const bool along_rows = p.r_row == 1;
  // In place, each step along k is in another page.
  const bool packed = along_rows && count > 1 && depth > 64;
  for (std::size_t i0 = 0; i0 < p.rows; i0 += kTileRows) {
    const std::size_t rows = least(kTileRows, p.rows - i0);
    const float* r = p.r + i0 * p.r_row + k0 * p.r_k;
    std::size_t r_stride = along_rows ? p.r_k : p.r_row;
    if (packed) {
      pack_rows(r, r_stride, rows, depth, row_scratch);
      r = row_scratch;
      r_stride = kTileRows;
    }
    for (std::size_t n = 0; n < count; ++n) {
      make_tile(p, {r, r_stride, panels[n].v, panels[n].v_stride, depth},
                along_rows, panels[n], i0, rows, k0 > 0);
    }
  }
}

void multiply(const Product& p, float* scratch) {
  float* row_scratch = scratch;
  float* panel_scratch = scratch + kRowScratch;
  const std::size_t vectors = (p.cols + kLanes - 1) / kLanes;
  const std::size_t panel_count = (vectors + kTileVectors - 1) / kTileVectors;
  for (std::size_t k0 = 0; k0 < p.depth; k0 += kDepthBlock) {
    const std::size_t depth = least(kDepthBlock, p.depth - k0);
    // Panels as equal as whole vectors allow: narrow tiles are slow.
    std::size_t first_vector = 0;
    for (std::size_t n = 0; n < panel_count;) {
      Panel panels[kBlockPanels];
      std::size_t in_block = 0;
      for (; in_block < kBlockPanels && n < panel_count; ++in_block, ++n) {
        const std::size_t end_vector = (n + 1) * vectors / panel_count;
        Panel& panel = panels[in_block];
        panel.first = first_vector * kLanes;
        panel.vectors = end_vector - first_vector;
        panel.cols = least(panel.vectors * kLanes, p.cols - panel.first);
        place_panel(p, panel, k0, depth,
                    panel_scratch + in_block * kPanelScratch);
        first_vector = end_vector;
      }
      make_block(p, panels, in_block, k0, depth, row_scratch);
    }
  }
}

constexpr MatmulKernels kTable = {multiply, kLanes};

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
