// How a group brings the factors of a product to its memory: the part of
// kernels/gpu/device/tile-inl.h that reads, included by it.
//
// Each of the 256 items reads Q_SHARE elements of either tile for one step of
// 16 along k, into registers; q_keep then writes them to the group's memory.
// Neighbouring items read neighbouring addresses: along k if the matrix lies
// so, else along the rows or columns.
//
// Beyond k_end the factor of a is -0 and that of b +0, since only (-0)*(+0)
// leaves every sum as it is. Beyond the rows and columns any value would do:
// those sums are dropped.

// An item's part of the tile of a at row m0, for 16 of k from k0 on. patches:
// what q_patch made of the rows that this item reads; one if a runs along m.
Q_FUNCTION void Q_SIZED(q_fetch_a)(const int kind, const QProduct p,
                                   const QConvolution n,
                                   Q_GLOBAL const float* a, q_word m0,
                                   q_word k0, q_word k_end,
                                   const QPatch* patches, float* values) {
  const q_word item = q_item();
  if (q_a_runs_along_k(kind)) {
    // 16 neighbouring items read 16 neighbouring elements of one row.
    const q_word k = k0 + item % 16u;
    const QStep step = q_step(kind, p, n, k);
    Q_UNROLL for (q_word i = 0u; i < Q_SHARE; ++i) {
      const q_word m = m0 + item / 16u + i * 16u;
      values[i] = k < k_end ? 0.0f : -0.0f;
      if (m < p.rows && k < k_end) {
        values[i] = q_a_element(kind, n, a, patches[i], step);
      }
    }
  } else {
    // Neighbouring items read neighbouring rows of one step along k.
    const q_word m = m0 + item % Q_TILE;
    Q_UNROLL for (q_word i = 0u; i < Q_SHARE; ++i) {
      const q_word k = k0 + item / Q_TILE + i * (256u / Q_TILE);
      values[i] = k < k_end ? 0.0f : -0.0f;
      if (m < p.rows && k < k_end) {
        values[i] = q_a_element(kind, n, a, patches[0], q_step(kind, p, n, k));
      }
    }
  }
}

// The same of b at column n0, for matrix z.
Q_FUNCTION void Q_SIZED(q_fetch_b)(const int kind, const QProduct p,
                                   const QConvolution n,
                                   Q_GLOBAL const float* b, q_word n0,
                                   q_word k0, q_word k_end, q_word z,
                                   float* values) {
  const q_word item = q_item();
  Q_UNROLL for (q_word i = 0u; i < Q_SHARE; ++i) {
    const q_word k =
        k0 + (q_b_runs_along_k(kind) ? item % 16u
                                     : item / Q_TILE + i * (256u / Q_TILE));
    const q_word column =
        n0 + (q_b_runs_along_k(kind) ? item / 16u + i * 16u : item % Q_TILE);
    values[i] = 0.0f;
    if (column < p.cols && k < k_end) {
      values[i] = b[q_b_at(kind, p, n, column, k, z)];
    }
  }
}

// Puts what was fetched in its place: tile[k][m]. Barriers are the caller's.
Q_FUNCTION void Q_SIZED(q_keep)(const int runs_along_k, const float* values,
                                Q_SHARED_POINTER float* tile) {
  const q_word item = q_item();
  Q_UNROLL for (q_word i = 0u; i < Q_SHARE; ++i) {
    const q_word k =
        runs_along_k ? item % 16u : item / Q_TILE + i * (256u / Q_TILE);
    const q_word m = runs_along_k ? item / 16u + i * 16u : item % Q_TILE;
    tile[k * Q_TILE_STRIDE + m] = values[i];
  }
}
