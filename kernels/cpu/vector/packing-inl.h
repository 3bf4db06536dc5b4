// Copies of a product's sides in the order in which tiles read them. Included
// once per instruction set, after tile-inl.h.
//
// Packing pays where a side is read many times, or lies so that a tile's
// vectors would not be contiguous. It changes no bit: elements are copied. The
// guard toggles (Highway's idiom), so that each instruction set gets its own
// copy.
#if defined(QUORATE_KERNELS_CPU_PACKING_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef QUORATE_KERNELS_CPU_PACKING_INL_H
#undef QUORATE_KERNELS_CPU_PACKING_INL_H
#else
#define QUORATE_KERNELS_CPU_PACKING_INL_H
#endif

#include <cstring>

#include "kernels/cpu/vector/tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace quorate::HWY_NAMESPACE {
namespace {

// to[j * to_stride + i] = from[i * from_stride + j], i and j below 4. Pairs of
// rows are interleaved, then pairs of pairs: 128-bit registers on every
// instruction set, which all have this in one instruction each.
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

// to[j * to_stride + i] = from[i * from_stride + j], i < rows, j < cols. Blocks
// of 4 x 4, then the rest number by number. Strides are in elements; the two
// arrays must not overlap.
void transpose(const float* from, std::size_t from_stride, std::size_t rows,
               std::size_t cols, float* to, std::size_t to_stride) {
  const auto scalar = [&](std::size_t i0, std::size_t i1, std::size_t j0) {
    for (std::size_t i = i0; i < i1; ++i) {
      for (std::size_t j = j0; j < cols; ++j) {
        to[j * to_stride + i] = from[i * from_stride + j];
      }
    }
  };
  // Four rows at a time, since their cache lines are then used whole.
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

// Rows that are packed soon, and lie too far apart for the processor to guess.
constexpr std::size_t kRowsAhead = 8;

// Asks for `count` floats; beyond an array's end this has no effect.
HWY_INLINE void prefetch(const float* from, std::size_t count) {
  constexpr std::size_t kLine = 64 / sizeof(float);
  for (std::size_t i = 0; i < count; i += kLine) __builtin_prefetch(from + i);
}

// One row of a panel; lanes beyond its columns hold +0 and are not used.
// from: the panel's first column, contiguous. Reads panel.cols elements and
// writes vectors * kLanes.
HWY_INLINE void pack_row(const float* from, const PanelCut& panel, float* to) {
  for (std::size_t u = 0; u < panel.vectors; ++u) {
    const std::size_t lanes = panel.cols - u * kLanes;
    hn::StoreU(load_lanes(from + u * kLanes, lanes < kLanes ? lanes : kLanes),
               kF, to + u * kLanes);
  }
}

// MatmulKernels::pack: `depth` rows of V as one panel. Rows that lie along the
// columns are copied, others transposed in blocks of 4 x 4.
// `to` has depth * panel.vectors * kLanes floats; alignment is not needed.
void pack_panel(const float* v, std::size_t v_k, std::size_t v_col,
                std::size_t depth, const PanelCut& panel, float* to) {
  const std::size_t width = panel.vectors * kLanes;
  if (v_col == 1) {
    for (std::size_t k = 0; k < depth; ++k) {
      pack_row(v + k * v_k, panel, to + k * width);
    }
    return;
  }
  // V's columns are contiguous in k: the panel is their transpose. The lanes
  // that no column fills are set to +0, as pack_row does.
  transpose(v, v_col, panel.cols, depth, to, width);
  if (panel.cols == width) return;
  for (std::size_t k = 0; k < depth; ++k) {
    for (std::size_t j = panel.cols; j < width; ++j) to[k * width + j] = 0.0F;
  }
}

// Elements of a packed tile of R.
// The extra vector is room for the last store, which writes whole vectors.
constexpr std::size_t packed_tile(std::size_t height, std::size_t depth) {
  return height * depth + kLanes;
}

// Rows of R stored along i, for the spans of `depth` steps: tile after tile of
// `height` rows (the last may have fewer), each with the rows of a step side by
// side. Whole vectors are stored; the next step overwrites what is too much,
// and packed_tile has room for the last. to: packed_tile(height, depth) floats
// for each tile of rows.
void pack_along(const float* r, std::size_t r_k, const Span* spans,
                const Span* end, std::size_t rows, std::size_t height,
                std::size_t depth, float* to) {
  // Tiles lie apart by this, so that none overwrites the next one's start.
  const std::size_t tile = packed_tile(height, depth);
  for (const Span* span = spans; span != end; ++span) {
    const float* from = r + span->offset;
    for (std::size_t n = 0; n < span->count; ++n, from += r_k, to += height) {
      prefetch(from + kRowsAhead * r_k, rows);
      // One step along k goes to its place in every tile.
      float* row = to;
      for (std::size_t i = 0; i < rows; i += height, row += tile) {
        for (std::size_t j = 0; j < height && i + j < rows; j += kLanes) {
          const std::size_t lanes = rows - i - j;
          hn::StoreU(load_lanes(from + i + j, lanes < kLanes ? lanes : kLanes),
                     kF, row + j);
        }
      }
    }
  }
}

}  // namespace
}  // namespace quorate::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
