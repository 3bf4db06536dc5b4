// A product in tiles of Q_TILE x Q_TILE, for a group of 256 items, each of
// which has Q_SIDE x Q_SIDE results. Included once per size of tile, without a
// guard. docs/numerics.md, section 3: sums over k in segments of 256, k
// ascending; beyond the end (-0)*(+0) is added, which changes nothing.
//
// The memory of a group holds 16 steps along k of both tiles, each row 4 floats
// longer than the tile, so that writes along k do not meet in one bank.

#define Q_TILE_STRIDE (Q_TILE + 4u)
#define Q_TILE_DEPTH 16u
#define Q_TILE_FLOATS (Q_TILE_DEPTH * Q_TILE_STRIDE)
#define Q_SHARE (Q_TILE / 16u)  // what one item fetches of either tile

// Which row or column of the tile result i of an item is; runs of four.
Q_FUNCTION q_word Q_SIZED(q_place)(q_word index, q_word i) {
  return index * 4u + (i & 3u) + (i >> 2) * 64u;
}

#include "kernels/gpu/device/fetch-inl.h"

// Adds 16 products to each of the item's sums.
Q_FUNCTION void Q_SIZED(q_multiply)(Q_SHARED_POINTER const float* a_tile,
                                    Q_SHARED_POINTER const float* b_tile,
                                    float* sums) {
  const q_word row = q_item() / 16u;
  const q_word column = q_item() % 16u;
  Q_UNROLL for (q_word k = 0u; k < Q_TILE_DEPTH; ++k) {
    float a[Q_SIDE];
    float b[Q_SIDE];
    Q_UNROLL for (q_word i = 0u; i < Q_SIDE; ++i) {
      a[i] = a_tile[k * Q_TILE_STRIDE + Q_SIZED(q_place)(row, i)];
      b[i] = b_tile[k * Q_TILE_STRIDE + Q_SIZED(q_place)(column, i)];
    }
    Q_UNROLL for (q_word i = 0u; i < Q_SIDE; ++i) {
      Q_UNROLL for (q_word j = 0u; j < Q_SIDE; ++j) {
        sums[i * Q_SIDE + j] = q_fma(a[i], b[j], sums[i * Q_SIDE + j]);
      }
    }
  }
}

// The sums of one segment become part of c: added to those of the segments
// before, which wait in `totals` where their result will be in c; after the
// last, what follows the product is done. They go through the group's memory,
// 32 rows at a time, so that neighbouring items write neighbouring columns.
Q_FUNCTION void Q_SIZED(q_add_segment)(
    const int kind, const QProduct p, const QConvolution n,
    const QEpilogue then, q_word m0, q_word n0, q_size c_matrix, int is_first,
    int is_last, const float* sums, Q_SHARED_POINTER float* tiles,
    Q_GLOBAL float* totals, Q_GLOBAL float* c, Q_GLOBAL const float* bias,
    Q_GLOBAL const float* addend) {
  const q_word row = q_item() / 16u;
  const q_word column = q_item() % 16u;
  Q_UNROLL for (q_word i = 0u; i < Q_SIDE; i += 2u) {
    Q_UNROLL for (q_word j = 0u; j < Q_SIDE; ++j) {
      const q_word at = row * Q_TILE + Q_SIZED(q_place)(column, j);
      tiles[at] = sums[i * Q_SIDE + j];
      tiles[at + 16u * Q_TILE] = sums[(i + 1u) * Q_SIDE + j];
    }
    q_barrier();
    Q_ROLLED for (q_word e = q_item(); e < 32u * Q_TILE; e += 256u) {
      const q_word r = e / Q_TILE;
      const q_word m = m0 + Q_SIZED(q_place)(r % 16u, i + r / 16u);
      const q_word to = n0 + e % Q_TILE;
      if (m < p.rows && to < p.cols) {
        const q_size at =
            c_matrix + to +
            (p.is_partial != 0u ? (q_size)m * p.cols
                                : q_c_row(kind, n, m) * p.c_stride);
        const float total = is_first ? tiles[e] : q_add(totals[at], tiles[e]);
        if (is_last) {
          q_put(c, bias, addend, then, at, c_matrix + to, total);
        } else {
          totals[at] = total;
        }
      }
    }
    q_barrier();
  }
}

// The tile of this group, of one matrix and some segments.
Q_FUNCTION void Q_SIZED(q_product)(
    const int kind, q_word group, Q_GLOBAL const float* a,
    Q_GLOBAL const float* b, Q_GLOBAL float* c, Q_GLOBAL float* totals,
    Q_GLOBAL const float* bias, Q_GLOBAL const float* addend, const QProduct p,
    const QConvolution n, const QEpilogue then, Q_SHARED_POINTER float* tiles) {
  Q_SHARED_POINTER float* a_tile = tiles;
  Q_SHARED_POINTER float* b_tile = tiles + Q_TILE_FLOATS;
  // Groups count columns of tiles first, then rows, matrices, parts.
  const q_word across = (p.cols + Q_TILE - 1u) / Q_TILE;
  const q_word down = (p.rows + Q_TILE - 1u) / Q_TILE;
  const q_word n0 = group % across * Q_TILE;
  const q_word m0 = group / across % down * Q_TILE;
  const q_word z = group / across / down % p.matrices;
  const q_word part = group / across / down / p.matrices;
  a += z / p.inner * p.a_outer + z % p.inner * p.a_inner;
  b += z / p.inner * p.b_outer + z % p.inner * p.b_inner;
  const q_size c_matrix =
      p.is_partial != 0u ? ((q_size)part * p.matrices + z) * p.rows * p.cols
                         : z / p.inner * p.c_outer + z % p.inner * p.c_inner;

  const q_word k_first = p.range == Q_K_FROM_ROWS ? m0 : 0u;
  const q_word k_last =
      p.range == Q_K_TO_ROWS ? q_least(m0 + Q_TILE, p.depth) : p.depth;
  const q_word segment = p.first_segment + part * p.segments_per_group;
  const q_word k_begin = k_first + segment * 256u;
  const q_word k_end = q_least(k_begin + p.segments_per_group * 256u, k_last);

  QPatch patches[Q_SHARE];
  Q_UNROLL for (q_word i = 0u; i < Q_SHARE; ++i) {
    const q_word m =
        q_a_runs_along_k(kind) ? q_item() / 16u + i * 16u : q_item() % Q_TILE;
    patches[i] = q_patch(kind, p, n, q_least(m0 + m, p.rows - 1u), z);
  }

  // The next part of both tiles is fetched while this one is multiplied.
  float from_a[Q_SHARE];
  float from_b[Q_SHARE];
  Q_SIZED(q_fetch_a)(kind, p, n, a, m0, k_begin, k_end, patches, from_a);
  Q_SIZED(q_fetch_b)(kind, p, n, b, n0, k_begin, k_end, z, from_b);
  q_word begin = k_begin;
  do {  // a sum over nothing is +0
    float sums[Q_SIDE * Q_SIDE];
    Q_UNROLL for (q_word i = 0u; i < Q_SIDE * Q_SIDE; ++i) sums[i] = 0.0f;
    const q_word end = q_least(begin + 256u, k_end);
    for (q_word k0 = begin; k0 < end; k0 += Q_TILE_DEPTH) {
      Q_SIZED(q_keep)(q_a_runs_along_k(kind), from_a, a_tile);
      Q_SIZED(q_keep)(q_b_runs_along_k(kind), from_b, b_tile);
      q_barrier();
      const q_word next = k0 + Q_TILE_DEPTH;
      if (next < k_end) {
        Q_SIZED(q_fetch_a)(kind, p, n, a, m0, next, k_end, patches, from_a);
        Q_SIZED(q_fetch_b)(kind, p, n, b, n0, next, k_end, z, from_b);
      }
      Q_SIZED(q_multiply)(a_tile, b_tile, sums);
      q_barrier();
    }
    Q_SIZED(q_add_segment)
    (kind, p, n, then, m0, n0, c_matrix, begin == k_begin,
     begin + 256u >= k_end, sums, tiles, totals, c, bias, addend);
    begin += 256u;
  } while (begin < k_end);
}

// The kernels themselves: one for each kind, so that `kind` is a constant.
#define Q_PRODUCT_PARAMETERS                                                  \
  q_word first, Q_INPUT(a), Q_INPUT(b), Q_OUTPUT(c), Q_OUTPUT(totals),        \
      Q_INPUT(bias), Q_INPUT(addend), const QProduct p, const QConvolution n, \
      const QEpilogue then
#define Q_PRODUCT_BODY(kind)                \
  Q_SHARED float tiles[2u * Q_TILE_FLOATS]; \
  Q_AT(a);                                  \
  Q_AT(b);                                  \
  Q_AT(c);                                  \
  Q_AT(totals);                             \
  Q_AT(bias);                               \
  Q_AT(addend);                             \
  Q_SIZED(q_product)                        \
  (kind, q_group(), a, b, c, totals, bias, addend, p, n, then, tiles)

Q_KERNEL_OF(Q_SIZED(product_ab), Q_RESIDENT)(Q_PRODUCT_PARAMETERS) {
  Q_PRODUCT_BODY(Q_AB);
}
Q_KERNEL_OF(Q_SIZED(product_atb), Q_RESIDENT)(Q_PRODUCT_PARAMETERS) {
  Q_PRODUCT_BODY(Q_ATB);
}
Q_KERNEL_OF(Q_SIZED(product_abt), Q_RESIDENT)(Q_PRODUCT_PARAMETERS) {
  Q_PRODUCT_BODY(Q_ABT);
}
Q_KERNEL_OF(Q_SIZED(convolution), Q_RESIDENT)(Q_PRODUCT_PARAMETERS) {
  Q_PRODUCT_BODY(Q_FORWARD);
}
Q_KERNEL_OF(Q_SIZED(convolution_dx), Q_RESIDENT)(Q_PRODUCT_PARAMETERS) {
  Q_PRODUCT_BODY(Q_INPUT_SLOPES);
}
Q_KERNEL_OF(Q_SIZED(convolution_dw), Q_RESIDENT)(Q_PRODUCT_PARAMETERS) {
  Q_PRODUCT_BODY(Q_WEIGHT_SLOPES);
}

#undef Q_PRODUCT_PARAMETERS
#undef Q_PRODUCT_BODY
#undef Q_TILE_STRIDE
#undef Q_TILE_DEPTH
#undef Q_TILE_FLOATS
#undef Q_SHARE
