#include "kernels/gpu/attention.h"

#include <algorithm>

#include "kernels/gpu/products.h"

namespace quorate {
namespace {

// One factor or result: a matrix per head of each sequence.
struct Heads {
  GpuPlace place;
  std::uint64_t sequence;  // elements from one to the next
  std::uint64_t head;
  std::uint32_t stride;  // from row to row
};

// Positions by channels of a head, in an array of `parts` C channels.
Heads channels(const AttentionSizes& n, const GpuPlace& place,
               std::size_t parts) {
  std::uint32_t stride = gpu_word(parts * n.channels());
  return {place, n.length * stride, n.head_size, stride};
}

// Positions by positions.
Heads squares(const AttentionSizes& n, const GpuPlace& place) {
  std::uint64_t square = std::uint64_t{n.length} * n.length;
  return {place, n.heads * square, square, gpu_word(n.length)};
}

struct ProductSizes {
  std::size_t rows, cols, depth;
};

// Of all heads of all sequences.
void run_heads(GpuQueue& queue, const AttentionSizes& n, ProductKind kind,
               const ProductSizes& sizes, std::uint32_t range, const Heads& a,
               const Heads& b, const Heads& c) {
  QProduct p{};
  p.rows = gpu_word(sizes.rows);
  p.cols = gpu_word(sizes.cols);
  p.depth = gpu_word(sizes.depth);
  p.matrices = gpu_word(n.batch * n.heads);
  p.inner = gpu_word(n.heads);
  p.a_outer = a.sequence;
  p.a_inner = a.head;
  p.a_stride = a.stride;
  p.b_outer = b.sequence;
  p.b_inner = b.head;
  p.b_stride = b.stride;
  p.c_outer = c.sequence;
  p.c_inner = c.head;
  p.c_stride = c.stride;
  p.range = range;
  run_product(queue, kind, p, QConvolution{},
              {a.place, b.place, c.place, c.place, c.place});
}

// The softmax of every row.
GpuWork row_work(const AttentionSizes& n) {
  return {std::uint64_t{n.batch} * n.heads * n.length,
          4 * kElementCost * static_cast<double>(n.length + 256)};
}

void gradient_of_some(GpuQueue& queue, const AttentionSizes& n, float scale,
                      const GpuPlace& qkv, const GpuPlace& weights,
                      const GpuPlace& dy, const GpuPlace& dqkv) {
  std::size_t c = n.channels();
  GpuPlace scratch = queue.scratch(
      Scratch::slopes, std::uint64_t{n.batch} * n.heads * n.length * n.length);
  Heads query = channels(n, qkv, 3);
  Heads key = channels(n, qkv + c, 3);
  Heads value = channels(n, qkv + 2 * c, 3);
  Heads slopes = squares(n, scratch);
  ProductSizes by_channels{n.length, n.length, n.head_size};
  ProductSizes by_positions{n.length, n.head_size, n.length};
  run_heads(queue, n, ProductKind::abt, by_channels, Q_ALL_K,
            channels(n, dy, 1), value, slopes);
  queue.launch(GpuKernel::causal_softmax_gradient, row_work(n), weights,
               scratch, gpu_word(n.length), scale);
  run_heads(queue, n, ProductKind::ab, by_positions, Q_K_TO_ROWS, slopes, key,
            channels(n, dqkv, 3));
  run_heads(queue, n, ProductKind::atb, by_positions, Q_K_FROM_ROWS, slopes,
            query, channels(n, dqkv + c, 3));
  run_heads(queue, n, ProductKind::atb, by_positions, Q_K_FROM_ROWS,
            squares(n, weights), channels(n, dy, 1),
            channels(n, dqkv + 2 * c, 3));
}

}  // namespace

void gpu_attention(GpuQueue& queue, const AttentionSizes& n, float scale,
                   const GpuPlace& qkv, const GpuPlace& weights,
                   const GpuPlace& y) {
  std::size_t c = n.channels();
  run_heads(queue, n, ProductKind::abt, {n.length, n.length, n.head_size},
            Q_ALL_K, channels(n, qkv, 3), channels(n, qkv + c, 3),
            squares(n, weights));
  queue.launch(GpuKernel::causal_softmax, row_work(n), weights,
               gpu_word(n.length), scale);
  run_heads(queue, n, ProductKind::ab, {n.length, n.head_size, n.length},
            Q_K_TO_ROWS, squares(n, weights), channels(n, qkv + 2 * c, 3),
            channels(n, y, 1));
}

// Some sequences at a time: the slopes by the weights take memory.
void gpu_attention_gradient(GpuQueue& queue, const AttentionSizes& n,
                            float scale, const GpuPlace& qkv,
                            const GpuPlace& weights, const GpuPlace& dy,
                            const GpuPlace& dqkv) {
  constexpr std::uint64_t kMostSlopes = 1 << 26;  // 256 MiB
  std::uint64_t row = n.length * n.channels();
  std::uint64_t square = n.heads * std::uint64_t{n.length} * n.length;
  std::size_t most = std::max<std::uint64_t>(
      1, kMostSlopes / std::max<std::uint64_t>(square, 1));
  for (std::size_t first = 0; first < n.batch; first += most) {
    AttentionSizes some = n;
    some.batch = std::min(most, n.batch - first);
    gradient_of_some(queue, some, scale, qkv + 3 * row * first,
                     weights + square * first, dy + row * first,
                     dqkv + 3 * row * first);
  }
}

}  // namespace quorate
