// A tile of C: a few rows of a few vectors, whose sums stay in registers for a
// segment of k; a finished segment is added to the tile in memory. Included
// once per instruction set. Longer than other headers: whatever touches these
// sums must be inlined together.
#if defined(QUORATE_KERNELS_CPU_TILE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef QUORATE_KERNELS_CPU_TILE_INL_H
#undef QUORATE_KERNELS_CPU_TILE_INL_H
#else
#define QUORATE_KERNELS_CPU_TILE_INL_H
#endif

#include <hwy/highway.h>

#include "kernels/cpu/vector/product.h"
#include "kernels/cpu/vector/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace quorate::HWY_NAMESPACE {
namespace {

// 512 bits: 32 registers, and products read R from memory. 256 bits: 16, and
// one of them holds R.
constexpr bool kWide = kLanes == 16;
// A tile is at most 24 x 1, 12 x 2, 8 x 3 or 6 x 4 vectors of 512 bits, or 12 x
// 1 or 6 x 2 of 256 bits: what fits the registers with R and V.
constexpr std::size_t kMostVectors = most_tile_vectors(kLanes);
constexpr std::size_t kMostRows = kWide ? 24 : 12;

// Rows of a tile. Eight sums hide the latency of a product; rows with pointers
// of their own need a general register each.
constexpr std::size_t tile_rows(bool along_rows, std::size_t vectors) {
  constexpr std::size_t kAlong[] = {kWide ? 24 : 12, kWide ? 12 : 6, 8, 6};
  constexpr std::size_t kApart[] = {10, kWide ? 8 : 6, 8, 6};
  return along_rows ? kAlong[vectors - 1] : kApart[vectors - 1];
}

// One call's work: up to kMostRows rows times one panel of at most kMostVectors
// vectors. All pointers are borrowed.
struct Tile {
  // R(i,k) is rows[i][offset + k], or along the rows
  // rows[0][offset + i + k * r_k], with the offset of k's span.
  const float* rows[kMostRows];
  std::size_t r_k;
  const Span* spans;
  const Span* end;
  const float* v;  // V(k,j) is v[k * v_k + j]
  std::size_t v_k;
  const float* zeros;  // Product::zeros of the panel
  // What will be needed soon, asked for at every step along k.
  // Prefetching only: null is not allowed, any readable place will do.
  const float* ahead;
  std::size_t ahead_k;
  float* c[kMostRows];
  std::size_t last_lanes;  // of the last vector, which are stored
  bool continues;          // add to what is there
  // What follows the last segment, if anything does.
  bool finishes;
  const float* bias;               // null: none
  const float* addend[kMostRows];  // addend[0] null: none
  bool relu;
};

// Adds the products of one span of k to all sums: each step loads the panel's
// vectors once and multiplies them by one element of every row. v and ahead
// move on by the span's steps. Kept in registers by the unrolling: see
// store_sums.
template <bool kAlongRows, std::size_t kRows, std::size_t kVectors>
HWY_INLINE void sum_span(const Tile& t, const Span& span, const float*& v,
                         const float*& ahead, Vec (&acc)[kRows][kVectors]) {
  const std::size_t ahead_k = t.ahead_k;
  // One step along k: the vectors of V, then one element of R for each row,
  // spread over a vector and multiplied in.
  const auto step = [&](const auto& at) HWY_ATTR {
    // With one vector, what reads memory is what takes the time.
    if constexpr (kVectors > 1) {
      __builtin_prefetch(ahead, 0, 2);
      ahead += ahead_k;
    }
    Vec b[kVectors];
    for (std::size_t u = 0; u < kVectors; ++u) {
      b[u] = hn::LoadU(kF, v + u * kLanes);
    }
#pragma GCC unroll 32
    for (std::size_t i = 0; i < kRows; ++i) {
      const Vec a = hn::Set(kF, at(i));
      for (std::size_t u = 0; u < kVectors; ++u) {
        acc[i][u] = hn::MulAdd(a, b[u], acc[i][u]);
      }
    }
  };
  // R's rows lie side by side for one k (R was packed, or is stored so) ...
  if constexpr (kAlongRows) {
    const float* r = t.rows[0] + span.offset;
    const std::size_t r_k = t.r_k;
    const std::size_t v_k = t.v_k;
    for (std::size_t k = 0; k < span.count; ++k, r += r_k, v += v_k) {
      step([&](std::size_t i) HWY_ATTR { return r[i]; });
    }
  } else {
    // ... or each row has a pointer, along which k runs.
    const float* rows[kRows];
    for (std::size_t i = 0; i < kRows; ++i) rows[i] = t.rows[i] + span.offset;
    const std::size_t v_k = t.v_k;
    for (std::size_t k = 0; k < span.count; ++k, v += v_k) {
      step([&](std::size_t i) HWY_ATTR { return rows[i][k]; });
    }
  }
}

// What a span in the padding does to the sums, in one addition
// (docs/numerics.md, the end of section 4). v skips the span.
template <std::size_t kRows, std::size_t kVectors>
HWY_INLINE void add_zeros(const Tile& t, const Span& span, const float*& v,
                          Vec (&acc)[kRows][kVectors]) {
  // One row of zeros' sums for each span that lies in the padding.
  const float* zeros =
      t.zeros + static_cast<std::size_t>(span.zeros) * kVectors * kLanes;
#pragma GCC unroll 4
  for (std::size_t u = 0; u < kVectors; ++u) {
    const Vec zero = hn::LoadU(kF, zeros + u * kLanes);
#pragma GCC unroll 32
    for (std::size_t i = 0; i < kRows; ++i) {
      acc[i][u] = hn::Add(acc[i][u], zero);
    }
  }
  v += span.count * t.v_k;
}

// Unrolled: sums that a loop indexes would leave the registers.
// kAdd: to what is in memory. kWhole: the last vector is full, so no masks.
template <bool kAdd, bool kWhole, std::size_t kRows, std::size_t kVectors>
HWY_INLINE void store_sums(const Tile& t, Vec (&acc)[kRows][kVectors]) {
#pragma GCC unroll 32
  for (std::size_t i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
    for (std::size_t u = 0; u < kVectors; ++u) {
      float* c = t.c[i] + u * kLanes;
      const std::size_t lanes =
          kWhole || u + 1 < kVectors ? kLanes : t.last_lanes;
      Vec sum = acc[i][u];
      if (kAdd) sum = hn::Add(load_lanes(c, lanes), sum);
      store_lanes(sum, lanes, c);
    }
  }
}

// A segment's sums go to C: written, or added to what is there.
template <std::size_t kRows, std::size_t kVectors>
HWY_INLINE void store_segment(const Tile& t, bool add,
                              Vec (&acc)[kRows][kVectors]) {
  if (t.last_lanes == kLanes) {
    add ? store_sums<true, true>(t, acc) : store_sums<false, true>(t, acc);
  } else {
    add ? store_sums<true, false>(t, acc) : store_sums<false, false>(t, acc);
  }
}

// The tile is in the first-level cache: what follows costs little there, and
// would crowd the loop above.
// Bias, addend and relu on the stored tile, in this order.
HWY_NOINLINE void finish_tile(const Tile& t, std::size_t rows,
                              std::size_t vectors) {
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t u = 0; u < vectors; ++u) {
      const std::size_t at = u * kLanes;
      const std::size_t lanes = u + 1 < vectors ? kLanes : t.last_lanes;
      const Vec value = finished(
          load_lanes(t.c[i] + at, lanes), t.bias ? t.bias + at : nullptr,
          t.addend[0] ? t.addend[i] + at : nullptr, t.relu, lanes);
      store_lanes(value, lanes, t.c[i] + at);
    }
  }
}

// Segment by segment; the spans say where one ends. The order along k is the
// order of the spans, whatever the tile's size.
template <bool kAlongRows, std::size_t kRows, std::size_t kVectors>
void make_tile(const Tile& t) {
  // C will be written soon; by then its lines should be here.
#pragma GCC unroll 32
  for (std::size_t i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
    for (std::size_t u = 0; u < kVectors; ++u) {
      __builtin_prefetch(t.c[i] + u * kLanes, 1);
    }
  }
  const float* v = t.v;
  const float* ahead = t.ahead;
  bool add = t.continues;
  for (const Span* span = t.spans; span != t.end; add = true) {
    Vec acc[kRows][kVectors];
#pragma GCC unroll 32
    for (std::size_t i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
      for (std::size_t u = 0; u < kVectors; ++u) acc[i][u] = hn::Zero(kF);
    }
    // All spans of one segment go to the same sums, from +0 on.
    bool ended = false;
    while (!ended) {
      if (span->zeros < 0) {
        sum_span<kAlongRows>(t, *span, v, ahead, acc);
      } else {
        add_zeros(t, *span, v, acc);
      }
      ended = span->ends_segment;
      ++span;
    }
    store_segment(t, add, acc);
  }
  if (t.finishes) finish_tile(t, kRows, kVectors);
}

using TileFunction = void (*)(const Tile&);

// One function for each number of rows, from 1 to the most.
template <bool kAlongRows, std::size_t kVectors, std::size_t... kRowsLess1>
TileFunction pick_rows(std::size_t rows, std::index_sequence<kRowsLess1...>) {
  // A table, as the number of rows is known at run time only and each needs its
  // own unrolled code.
  static constexpr TileFunction table[] = {
      make_tile<kAlongRows, kRowsLess1 + 1, kVectors>...};
  return table[rows - 1];
}

// rows: at most tile_rows(kAlongRows, vectors).
// vectors: 1 to kMostVectors. Called once for each tile, which takes some
// thousand cycles.
template <bool kAlongRows, std::size_t kVectors = 1>
TileFunction pick_tile(std::size_t rows, std::size_t vectors) {
  if constexpr (kVectors < kMostVectors) {
    if (vectors > kVectors) {
      return pick_tile<kAlongRows, kVectors + 1>(rows, vectors);
    }
  }
  return pick_rows<kAlongRows, kVectors>(
      rows, std::make_index_sequence<tile_rows(kAlongRows, kVectors)>());
}

}  // namespace
}  // namespace quorate::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
