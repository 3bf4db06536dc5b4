#include "kernels/reference/attention.h"

#include <algorithm>
#include <vector>

#include "base/arithmetic.h"
#include "kernels/elementary.h"
#include "kernels/reference/segment_sum.h"

namespace quorate::reference {
namespace {

// Positions come in blocks: a sum over positions takes whole ones.
constexpr std::size_t kBlock = 64;

// Where the sum over keys ends for query i, and where the sum over queries
// begins for key j.
std::size_t keys_end(std::size_t i, std::size_t length) {
  return std::min(length, (i / kBlock + 1) * kBlock);
}
std::size_t queries_begin(std::size_t j) {
  return j / kBlock * kBlock;
}

enum Part : std::size_t { query = 0, key = 1, value = 2 };

// One head of one sequence.
struct Head {
  const AttentionSizes& n;
  std::size_t sequence;
  std::size_t head;

  // In (B,T,3C).
  std::size_t at(Part part, std::size_t position, std::size_t channel) const {
    return ((sequence * n.length + position) * 3 + part) * n.channels() +
           head * n.head_size + channel;
  }
  // In (B,T,C).
  std::size_t at_output(std::size_t position, std::size_t channel) const {
    return (sequence * n.length + position) * n.channels() +
           head * n.head_size + channel;
  }
  // In (B,heads,T,T).
  std::size_t row(std::size_t position) const {
    return ((sequence * n.heads + head) * n.length + position) * n.length;
  }
};

template <class F>
void for_heads(const AttentionSizes& n, F f) {
  for (std::size_t sequence = 0; sequence < n.batch; ++sequence) {
    for (std::size_t head = 0; head < n.heads; ++head) {
      f(Head{n, sequence, head});
    }
  }
}

// Of the first `count` scores; the rest becomes +0.
void softmax(float* row, std::size_t count, std::size_t length) {
  float m = row[0];
  for (std::size_t j = 1; j < count; ++j) m = row[j] > m ? row[j] : m;
  for (std::size_t j = 0; j < count; ++j) row[j] = canonical_exp(row[j] - m);
  std::fill(row + count, row + length, 0.0F);
  float r = 1.0F / sum_r1({row, count});
  for (std::size_t j = 0; j < count; ++j) row[j] = row[j] * r;
}

}  // namespace

void attention(const AttentionSizes& n, float scale, const float* qkv,
               float* weights, float* y) {
  for_heads(n, [&](const Head& h) {
    for (std::size_t i = 0; i < n.length; ++i) {
      float* row = weights + h.row(i);
      for (std::size_t j = 0; j <= i; ++j) {
        SegmentSum score;
        for (std::size_t d = 0; d < n.head_size; ++d) {
          score.push(qkv[h.at(query, i, d)], qkv[h.at(key, j, d)]);
        }
        row[j] = score.total() * scale;
      }
      softmax(row, i + 1, n.length);
      for (std::size_t d = 0; d < n.head_size; ++d) {
        SegmentSum sum;
        for (std::size_t j = 0; j < keys_end(i, n.length); ++j) {
          sum.push(row[j], qkv[h.at(value, j, d)]);
        }
        y[h.at_output(i, d)] = sum.total();
      }
    }
  });
}

void attention_gradient(const AttentionSizes& n, float scale, const float* qkv,
                        const float* weights, const float* dy, float* dqkv) {
  std::vector<float> slopes(n.length * n.length);  // by the scores of a head
  for_heads(n, [&](const Head& h) {
    std::fill(slopes.begin(), slopes.end(), 0.0F);
    for (std::size_t i = 0; i < n.length; ++i) {
      const float* p = weights + h.row(i);
      float* row = slopes.data() + i * n.length;
      for (std::size_t j = 0; j <= i; ++j) {
        SegmentSum sum;
        for (std::size_t d = 0; d < n.head_size; ++d) {
          sum.push(dy[h.at_output(i, d)], qkv[h.at(value, j, d)]);
        }
        row[j] = sum.total();
      }
      float mean = dot_r1({row, i + 1}, {p, i + 1});
      for (std::size_t j = 0; j <= i; ++j) {
        row[j] = p[j] * (row[j] - mean) * scale;
      }
    }
    for (std::size_t at = 0; at < n.length; ++at) {
      for (std::size_t d = 0; d < n.head_size; ++d) {
        SegmentSum dquery;
        for (std::size_t j = 0; j < keys_end(at, n.length); ++j) {
          dquery.push(slopes[at * n.length + j], qkv[h.at(key, j, d)]);
        }
        SegmentSum dkey;
        SegmentSum dvalue;
        for (std::size_t i = queries_begin(at); i < n.length; ++i) {
          dkey.push(slopes[i * n.length + at], qkv[h.at(query, i, d)]);
          dvalue.push(weights[h.row(i) + at], dy[h.at_output(i, d)]);
        }
        dqkv[h.at(query, at, d)] = dquery.total();
        dqkv[h.at(key, at, d)] = dkey.total();
        dqkv[h.at(value, at, d)] = dvalue.total();
      }
    }
  });
}

}  // namespace quorate::reference
