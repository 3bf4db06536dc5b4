// Rows of a table, and their gradient (docs/numerics.md, section 7).
//
// The host sorts the rows by their ids and cuts them into chains
// (gpu/embedding.h): a device's atomic additions would come in any order.
#ifndef QUORATE_KERNELS_GPU_DEVICE_TABLES_H_
#define QUORATE_KERNELS_GPU_DEVICE_TABLES_H_

#include "kernels/gpu/device/sums.h"

// y[r] = table[ids[r]], rows of `channels`; one item for each element.
Q_KERNEL(embedding)
(q_word first, q_size count, Q_INPUT(table), Q_WORDS(ids), Q_OUTPUT(y),
 q_word channels) {
  Q_AT(table);
  Q_AT(ids);
  Q_AT(y);
  Q_FOR_ELEMENTS(i, count) {
    y[i] = table[(q_size)ids[i / channels] * channels + i % channels];
  }
}

// The sums of chains of at most 64 rows of dy. Chain c takes the rows
// order[starts[c]] ... order[starts[c + 1] - 1], all of one symbol.
Q_KERNEL(chain_sums)
(q_word first, q_size count, Q_INPUT(dy), Q_WORDS(order), Q_WORDS(starts),
 Q_OUTPUT(sums), q_word channels) {
  Q_AT(dy);
  Q_AT(order);
  Q_AT(starts);
  Q_AT(sums);
  Q_FOR_ELEMENTS(i, count) {
    const q_word channel = (q_word)(i % channels);
    // An item has one channel of one chain.
    const q_size chain = i / channels;
    float sum = 0.0f;
    // From +0, in the order of the rows: a chain of section 5.
    for (q_word r = starts[chain]; r < starts[chain + 1u]; ++r) {
      sum = q_add(sum, dy[(q_size)order[r] * channels + channel]);
    }
    sums[i] = sum;
  }
}

// dtable[v] (+)= the sums of chains chains[v] ... chains[v + 1] - 1, in pairs.
Q_KERNEL(add_chains)
(q_word first, q_size count, Q_INPUT(sums), Q_WORDS(chains), Q_OUTPUT(dtable),
 q_word channels, q_word accumulates) {
  Q_AT(sums);
  Q_AT(chains);
  Q_AT(dtable);
  Q_FOR_ELEMENTS(i, count) {
    const q_word channel = (q_word)(i % channels);
    const q_size symbol = i / channels;
    QPairs pairs;
    pairs.count = 0u;
    // In pairs, as the binary counter adds them (PairSum).
    for (q_word c = chains[symbol]; c < chains[symbol + 1u]; ++c) {
      q_push(&pairs, sums[(q_size)c * channels + channel]);
    }
    // +0 for a symbol without rows, which is still added if accumulating.
    const float total = q_total(&pairs);
    dtable[i] = accumulates != 0u ? q_add(dtable[i], total) : total;
  }
}

#endif  // QUORATE_KERNELS_GPU_DEVICE_TABLES_H_
