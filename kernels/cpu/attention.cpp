#include "kernels/cpu/attention.h"

#include <algorithm>

namespace quorate {
namespace {

// Positions come in blocks: a sum over positions takes whole ones.
constexpr std::size_t kBlock = 64;

// A matrix with a row per position, somewhere in memory.
template <class T>
struct Rows {
  T* data;
  std::size_t stride;

  T* row(std::size_t position) const { return data + position * stride; }
};
using ConstRows = Rows<const float>;
using MutableRows = Rows<float>;

// Queries, keys and values of one head, or what belongs to them.
template <class T>
struct Triple {
  Rows<T> query, key, value;

  Triple(const AttentionSizes& n, std::size_t sequence, std::size_t head,
         T* qkv) {
    std::size_t stride = 3 * n.channels();
    T* first = qkv + sequence * n.length * stride + head * n.head_size;
    query = {first, stride};
    key = {first + n.channels(), stride};
    value = {first + 2 * n.channels(), stride};
  }
};

// Of one head, in (B,T,C) and (B,heads,T,T).
template <class T>
Rows<T> output_rows(const AttentionSizes& n, std::size_t sequence,
                    std::size_t head, T* y) {
  return {y + sequence * n.length * n.channels() + head * n.head_size,
          n.channels()};
}
template <class T>
Rows<T> weight_rows(const AttentionSizes& n, std::size_t sequence,
                    std::size_t head, T* weights) {
  return {weights + (sequence * n.heads + head) * n.length * n.length,
          n.length};
}

// The products of one head, each through `multiply`.
class HeadProducts {
 public:
  HeadProducts(const AttentionSizes& n, const MatmulKernels& matmul,
               float* scratch)
      : n_(n), matmul_(matmul), scratch_(scratch) {}

  // to[i][j] = the product of a's row i and b's row j, for j <= i at least. A
  // block of b's rows at a time: `multiply` transposes it, once.
  void compare(ConstRows a, ConstRows b, MutableRows to) const {
    for_blocks([&](std::size_t first, std::size_t end) {
      multiply({.r = a.row(first),
                .r_row = a.stride,
                .r_k = 1,
                .v = b.row(first),
                .v_k = 1,
                .v_col = b.stride,
                .c = to.row(first) + first,
                .c_row = to.stride,
                .c_col = 1,
                .rows = n_.length - first,
                .cols = end - first,
                .depth = n_.head_size});
    });
  }

  // to[i] = the sum of weights[i][j] b[j] over the keys of i's block and those
  // before.
  void gather(ConstRows weights, ConstRows b, MutableRows to) const {
    for_blocks([&](std::size_t first, std::size_t end) {
      multiply({.r = weights.row(first),
                .r_row = weights.stride,
                .r_k = 1,
                .v = b.data,
                .v_k = b.stride,
                .v_col = 1,
                .c = to.row(first),
                .c_row = to.stride,
                .c_col = 1,
                .rows = end - first,
                .cols = n_.head_size,
                .depth = end});
    });
  }

  // to[j] = the sum of weights[i][j] b[i] over the queries of j's block and
  // those after.
  void scatter(ConstRows weights, ConstRows b, MutableRows to) const {
    for_blocks([&](std::size_t first, std::size_t end) {
      multiply({.r = weights.row(first) + first,
                .r_row = 1,
                .r_k = weights.stride,
                .v = b.row(first),
                .v_k = b.stride,
                .v_col = 1,
                .c = to.row(first),
                .c_row = to.stride,
                .c_col = 1,
                .rows = end - first,
                .cols = n_.head_size,
                .depth = n_.length - first});
    });
  }

 private:
  template <class F>
  void for_blocks(const F& f) const {
    for (std::size_t first = 0; first < n_.length; first += kBlock) {
      f(first, std::min(n_.length, first + kBlock));
    }
  }

  void multiply(const Product& product) const {
    matmul_.multiply(product, scratch_);
  }

  const AttentionSizes& n_;
  const MatmulKernels& matmul_;
  float* scratch_;
};

ConstRows readable(MutableRows rows) {
  return {rows.data, rows.stride};
}

}  // namespace

Attention::Attention(Tasks& tasks, const MatmulKernels& matmul,
                     const ReductionKernels& reduction,
                     const std::vector<AlignedFloats>& scratch)
    : tasks_(tasks),
      matmul_(matmul),
      reduction_(reduction),
      scratch_(scratch),
      slopes_(tasks.threads()) {}

template <class F>
void Attention::for_heads(const AttentionSizes& n, const F& f) {
  std::size_t tasks = n.batch * n.heads;
  tasks_.run(tasks, tasks * n.length * n.length,
             [&](std::size_t task, unsigned thread) {
               f(task / n.heads, task % n.heads, thread);
             });
}

void Attention::forward(const AttentionSizes& n, float scale, const float* qkv,
                        float* weights, float* y) {
  for_heads(n, [&](std::size_t sequence, std::size_t head, unsigned thread) {
    const Triple<const float> of(n, sequence, head, qkv);
    const MutableRows rows = weight_rows(n, sequence, head, weights);
    const HeadProducts products(n, matmul_, scratch_[thread].get());
    products.compare(of.query, of.key, rows);
    for (std::size_t i = 0; i < n.length; ++i) {
      reduction_.attention_row(rows.row(i), i + 1, n.length, scale);
    }
    products.gather(readable(rows), of.value,
                    output_rows(n, sequence, head, y));
  });
}

void Attention::gradient(const AttentionSizes& n, float scale, const float* qkv,
                         const float* weights, const float* dy, float* dqkv) {
  slopes_.reserve(n.length * n.length);
  for_heads(n, [&](std::size_t sequence, std::size_t head, unsigned thread) {
    const Triple<const float> of(n, sequence, head, qkv);
    const Triple<float> to(n, sequence, head, dqkv);
    const ConstRows p = weight_rows(n, sequence, head, weights);
    const ConstRows out = output_rows(n, sequence, head, dy);
    const MutableRows slopes{slopes_[thread], n.length};
    const HeadProducts products(n, matmul_, scratch_[thread].get());
    products.compare(out, of.value, slopes);
    for (std::size_t i = 0; i < n.length; ++i) {
      std::size_t end = std::min(n.length, (i / kBlock + 1) * kBlock);
      reduction_.attention_slopes(p.row(i), i + 1, end, scale, slopes.row(i));
    }
    products.gather(readable(slopes), of.key, to.query);
    products.scatter(readable(slopes), of.query, to.key);
    products.scatter(p, out, to.value);
  });
}

}  // namespace quorate
