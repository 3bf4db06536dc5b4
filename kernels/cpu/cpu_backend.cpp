#include "kernels/cpu/cpu_backend.h"

#include <algorithm>
#include <atomic>
#include <vector>

#include <fmt/format.h>
#include <hwy/targets.h>

#include "base/arithmetic.h"
#include "base/error.h"
#include "kernels/cpu/convolution.h"
#include "kernels/cpu/kernels.h"
#include "kernels/cpu/product.h"
#include "kernels/cpu/thread_pool.h"
#include "kernels/float_environment.h"
#include "kernels/host_memory.h"
#include "kernels/reference/reference_backend.h"
#include "kernels/shapes.h"

namespace quorate {
namespace {

// Elements that one task of an elementwise operation takes: 64 KiB per array.
constexpr std::size_t kGrain = 16384;

class CpuBackend final : public Backend {
 public:
  CpuBackend(InstructionSet set, unsigned threads)
      : set_(set),
        elementwise_(elementwise_kernels(set)),
        reduction_(reduction_kernels(set)),
        pooling_(pooling_kernels(set)),
        matmul_(matmul_kernels(set)),
        pool_(threads),
        convolver_(pool_, matmul_, elementwise_, scratch_) {
    for (unsigned i = 0; i < threads; ++i) {
      scratch_.push_back(allocate_aligned(kMatmulScratch));
    }
  }

  DeviceInfo device() const override {
    bool wide = set_ == InstructionSet::avx512;
    return {wide ? "cpu:avx512" : "cpu:avx2",
            fmt::format("{} instructions, {} threads",
                        wide ? "AVX-512" : "AVX2", pool_.threads())};
  }

  std::unique_ptr<Memory> allocate(std::size_t count) override {
    return std::make_unique<HostMemory>(count);
  }

  void upload(View to, std::span<const float> from) override {
    check(from.size() == to.shape.count(), "upload of another size");
    std::copy(from.begin(), from.end(), host_data(to));
  }

  void upload_pixels(View to, std::span<const std::uint8_t> from) override {
    check(from.size() == to.shape.count(), "upload of another size");
    float* out = host_data(to);
    for_pieces(from.size(), [&](std::size_t i, std::size_t n) {
      elementwise_.pixels(from.data() + i, out + i, n);
    });
  }

  void download(ConstView from, std::span<float> to) override {
    check(to.size() == from.shape.count(), "download of another size");
    std::copy_n(host_data(from), to.size(), to.begin());
  }

  void matmul(ConstView a, Transpose transpose_a, ConstView b,
              Transpose transpose_b, View c, const Epilogue& then) override {
    MatmulSizes sizes = matmul_sizes(a, transpose_a, b, transpose_b, c);
    check_epilogue(then, sizes.rows, sizes.cols);
    std::size_t count = sizes.rows * sizes.cols;
    if (count == 0) return;
    float* out = host_data(c);
    Finish finish = finish_of(then, out, count);
    if (sizes.depth == 0) {
      return multiply_nothing(sizes.rows, sizes.cols, finish, out);
    }
    Product product =
        arrange_product(sizes, host_data(a), transpose_a, host_data(b),
                        transpose_b, out, matmul_.lanes);
    product.finish = finish;
    multiply(product);
  }

  void conv2d(ConstView x, ConstView w, const Convolution& how, View y,
              const Epilogue& then) override {
    ConvolutionSizes n = convolution_sizes(x.shape, w.shape, how, y.shape);
    check_epilogue(then, n.out.pixels(), n.out.channels);
    Finish finish = finish_of(then, host_data(y), y.shape.count());
    convolver_.forward(n, host_data(x), host_data(w), host_data(y), finish);
  }
  void conv2d_input_gradient(ConstView dy, ConstView w, const Convolution& how,
                             View dx) override {
    ConvolutionSizes n = convolution_sizes(dx.shape, w.shape, how, dy.shape);
    convolver_.input_gradient(n, host_data(dy), host_data(w), host_data(dx));
  }
  void conv2d_weight_gradient(ConstView x, ConstView dy, const Convolution& how,
                              View dw) override {
    ConvolutionSizes n = convolution_sizes(x.shape, dw.shape, how, dy.shape);
    convolver_.weight_gradient(n, host_data(x), host_data(dy), host_data(dw));
  }

  void max_pool2d(ConstView x, const Pooling& how, View y) override {
    PoolingSizes n = pooling_sizes(x.shape, how, y.shape);
    const float* px = host_data(x);
    float* py = host_data(y);
    run(n.in.images, x.shape.count(), [&](std::size_t image) {
      pooling_.max_pool(n, how, px + image * n.in.image(),
                        py + image * n.out.image());
    });
  }
  void max_pool2d_gradient(ConstView x, ConstView dy, const Pooling& how,
                           View dx) override {
    PoolingSizes n = pooling_sizes(x.shape, how, dy.shape);
    check(dx.shape == x.shape, "gradient of another shape");
    const float* px = host_data(x);
    const float* pdy = host_data(dy);
    float* pdx = host_data(dx);
    run(n.in.images, x.shape.count(), [&](std::size_t image) {
      std::size_t at = image * n.in.image();
      pooling_.max_pool_gradient(n, how, px + at, pdy + image * n.out.image(),
                                 pdx + at);
    });
  }

  void add_bias(View x, ConstView bias) override {
    MatrixSizes n = column_sizes(x.shape, bias.shape);
    float* px = host_data(x);
    const float* pb = host_data(bias);
    for_rows(n, [&](std::size_t row) {
      float* at = px + row * n.cols;
      elementwise_.add(at, pb, at, n.cols);
    });
  }

  void sum_rows(ConstView x, View y) override {
    MatrixSizes n = column_sizes(x.shape, y.shape);
    const float* px = host_data(x);
    float* py = host_data(y);
    std::size_t chunks = (n.cols + kColumnChunk - 1) / kColumnChunk;
    run(chunks, n.rows * n.cols, [&](std::size_t chunk) {
      std::size_t first = chunk * kColumnChunk;
      reduction_.sum_columns(px + first, n.cols, n.rows,
                             std::min(kColumnChunk, n.cols - first),
                             py + first);
    });
  }

  float sum(ConstView x) override {
    std::size_t count = x.shape.count();
    const float* px = host_data(x);
    std::vector<float> blocks((count + kSumBlock - 1) / kSumBlock);
    run(blocks.size(), count, [&](std::size_t block) {
      std::size_t first = block * kSumBlock;
      blocks[block] =
          reduction_.block_sum(px + first, std::min(kSumBlock, count - first));
    });
    CanonicalFloatMode mode;
    PairSum total;
    for (float block : blocks) total.push(block);
    return total.total();
  }

  void map(Function f, ConstView x, View y) override {
    apply(host_data(x), host_data(y), common_count(x.shape, y.shape),
          elementwise_.functions[static_cast<std::size_t>(f)]);
  }
  void map_gradient(Function f, ConstView x, ConstView dy, View dx) override {
    auto gradient = elementwise_.gradients[static_cast<std::size_t>(f)];
    check(gradient != nullptr, "a function that has a gradient");
    apply(host_data(x), host_data(dy), host_data(dx),
          common_count(x.shape, dy.shape, dx.shape), gradient);
  }
  void add(ConstView a, ConstView b, View y) override {
    apply(host_data(a), host_data(b), host_data(y),
          common_count(a.shape, b.shape, y.shape), elementwise_.add);
  }
  void subtract(ConstView a, ConstView b, View y) override {
    apply(host_data(a), host_data(b), host_data(y),
          common_count(a.shape, b.shape, y.shape), elementwise_.subtract);
  }
  void scale(ConstView x, float factor, View y) override {
    plain_->scale(x, factor, y);
  }
  void move_towards(ConstView x, float factor, float rate, View y) override {
    plain_->move_towards(x, factor, rate, y);
  }
  void dropout(ConstView x, const Dropout& how, View y) override {
    plain_->dropout(x, how, y);
  }

  void attention(ConstView qkv, std::size_t heads, float scale, View weights,
                 View y) override {
    plain_->attention(qkv, heads, scale, weights, y);
  }
  void attention_gradient(ConstView qkv, ConstView weights, ConstView dy,
                          std::size_t heads, float scale, View dqkv) override {
    plain_->attention_gradient(qkv, weights, dy, heads, scale, dqkv);
  }
  void average_pool2d(ConstView x, const Pooling& how, float reciprocal,
                      View y) override {
    plain_->average_pool2d(x, how, reciprocal, y);
  }
  void average_pool2d_gradient(ConstView dy, const Pooling& how,
                               float reciprocal, View dx) override {
    plain_->average_pool2d_gradient(dy, how, reciprocal, dx);
  }
  void mean_pixels(ConstView x, float reciprocal, View y) override {
    plain_->mean_pixels(x, reciprocal, y);
  }
  void mean_pixels_gradient(ConstView dy, float reciprocal, View dx) override {
    plain_->mean_pixels_gradient(dy, reciprocal, dx);
  }
  void normalize(ConstView x, ConstView gamma, ConstView beta,
                 const Normalization& how, View y, View mean,
                 View variance) override {
    plain_->normalize(x, gamma, beta, how, y, mean, variance);
  }
  void normalize_with(ConstView x, ConstView mean, ConstView variance,
                      ConstView gamma, ConstView beta, const Normalization& how,
                      View y) override {
    plain_->normalize_with(x, mean, variance, gamma, beta, how, y);
  }
  void normalize_gradient(ConstView x, ConstView dy, ConstView mean,
                          ConstView variance, ConstView gamma, ConstView beta,
                          const Normalization& how, View dx, View dgamma,
                          View dbeta) override {
    plain_->normalize_gradient(x, dy, mean, variance, gamma, beta, how, dx,
                               dgamma, dbeta);
  }
  void sums_of_squares(std::span<const ConstView> x,
                       std::span<float> sums) override {
    plain_->sums_of_squares(x, sums);
  }
  void embedding(ConstView table, Indices ids, View y) override {
    plain_->embedding(table, ids, y);
  }
  void embedding_gradient(Indices ids, ConstView dy, View dtable,
                          Accumulate accumulate) override {
    plain_->embedding_gradient(ids, dy, dtable, accumulate);
  }
  void adamw(View w, ConstView g, View m, View v,
             const AdamWStep& step) override {
    plain_->adamw(w, g, m, v, step);
  }

  void softmax_cross_entropy(ConstView logits, Indices targets, float scale,
                             View losses, View dlogits) override {
    MatrixSizes n =
        cross_entropy_sizes(logits.shape, targets, losses.shape, dlogits.shape);
    const float* x = host_data(logits);
    float* loss = host_data(losses);
    float* dx = host_data(dlogits);
    std::vector<float> sums(n.rows);
    std::vector<float> at_targets(n.rows);
    std::vector<float> maxima(n.rows);
    for_rows(n, [&](std::size_t row) {
      std::size_t at = row * n.cols;
      at_targets[row] = x[at + targets[row]];
      ReductionKernels::SoftmaxRow result =
          reduction_.softmax_row(x + at, n.cols, targets[row], scale, dx + at);
      sums[row] = result.sum;
      maxima[row] = result.maximum;
    });
    CanonicalFloatMode mode;
    elementwise_.functions[static_cast<std::size_t>(Function::log)](
        sums.data(), loss, n.rows);
    for (std::size_t row = 0; row < n.rows; ++row) {
      loss[row] = loss[row] + maxima[row] - at_targets[row];
    }
  }

  std::size_t count_correct(ConstView logits, Indices targets) override {
    MatrixSizes n = target_sizes(logits.shape, targets);
    const float* x = host_data(logits);
    std::atomic<std::size_t> correct = 0;
    for_rows(n, [&](std::size_t row) {
      const float* at = x + row * n.cols;
      std::size_t best = 0;
      for (std::size_t j = 1; j < n.cols; ++j) {
        if (at[j] > at[best]) best = j;
      }
      if (best == targets[row]) ++correct;
    });
    return correct;
  }

  void sgd(View w, ConstView g, View v, const SgdStep& step) override {
    float* pw = host_data(w);
    const float* pg = host_data(g);
    float* pv = host_data(v);
    for_pieces(common_count(w.shape, g.shape, v.shape),
               [&](std::size_t i, std::size_t n) {
                 elementwise_.sgd(pw + i, pg + i, pv + i, step, n);
               });
  }

  bool all_finite(ConstView x) override {
    const float* px = host_data(x);
    std::atomic<bool> finite = true;
    for_pieces(x.shape.count(), [&](std::size_t i, std::size_t n) {
      if (!elementwise_.all_finite(px + i, n)) finite = false;
    });
    return finite;
  }

 private:
  // Calls f(task) for all tasks; on one thread if all of them together have
  // few elements.
  template <class F>
  void run(std::size_t tasks, std::size_t elements, F f) {
    if (elements > 2 * kGrain) {
      pool_.run(tasks, [&](std::size_t task, unsigned) { f(task); });
    } else {
      CanonicalFloatMode mode;
      for (std::size_t task = 0; task < tasks; ++task) f(task);
    }
  }

  // Calls f(first, count) for pieces that cover `count` elements.
  template <class F>
  void for_pieces(std::size_t count, F f) {
    run((count + kGrain - 1) / kGrain, count, [&](std::size_t piece) {
      std::size_t first = piece * kGrain;
      f(first, std::min(kGrain, count - first));
    });
  }

  // Calls f(row) for every row.
  template <class F>
  void for_rows(const MatrixSizes& n, F f) {
    std::size_t rows_per_task =
        std::max<std::size_t>(1, kGrain / std::max<std::size_t>(1, n.cols));
    std::size_t tasks = (n.rows + rows_per_task - 1) / rows_per_task;
    run(tasks, n.rows * n.cols, [&](std::size_t task) {
      std::size_t end = std::min(n.rows, (task + 1) * rows_per_task);
      for (std::size_t row = task * rows_per_task; row < end; ++row) f(row);
    });
  }

  using Map1 = void (*)(const float*, float*, std::size_t);
  void apply(const float* x, float* y, std::size_t count, Map1 f) {
    for_pieces(count,
               [=](std::size_t i, std::size_t n) { f(x + i, y + i, n); });
  }
  using Map2 = void (*)(const float*, const float*, float*, std::size_t);
  void apply(const float* x, const float* y, float* z, std::size_t count,
             Map2 f) {
    for_pieces(count, [=](std::size_t i, std::size_t n) {
      f(x + i, y + i, z + i, n);
    });
  }

  // Of a product of `count` elements at `out`.
  Finish finish_of(const Epilogue& then, const float* out, std::size_t count) {
    Finish finish{.relu = then.relu};
    if (then.bias) finish.bias = host_data(*then.bias);
    if (then.addend) finish.addend = host_data(*then.addend);
    if (finish.addend == out) {
      // The sum takes its place before it is added.
      finish.addend = std::copy_n(out, count, apart_.of(count)) - count;
    }
    return finish;
  }

  void multiply(const Product& product) {
    std::size_t pieces = piece_count(product, pool_.threads(), matmul_.lanes);
    pool_.run(pieces, [&](std::size_t i, unsigned thread) {
      matmul_.multiply(piece_of(product, pieces, i, matmul_.lanes),
                       scratch_[thread].get());
    });
  }

  InstructionSet set_;
  const ElementwiseKernels& elementwise_;
  const ReductionKernels& reduction_;
  const PoolingKernels& pooling_;
  const MatmulKernels& matmul_;
  std::vector<AlignedFloats> scratch_;  // of each thread
  ThreadPool pool_;
  Convolver convolver_;  // uses the members above
  HostBuffer apart_;
  std::unique_ptr<Backend> plain_ = make_reference_backend();
};

}  // namespace

std::string missing_for(InstructionSet set) {
  std::int64_t wanted = set == InstructionSet::avx512 ? HWY_AVX3 : HWY_AVX2;
  if ((hwy::SupportedTargets() & wanted) != 0) return {};
  return set == InstructionSet::avx512
             ? "this processor lacks AVX-512 (F, BW, CD, DQ, VL)"
             : "this processor lacks AVX2 with FMA (Intel Haswell of 2013, AMD "
               "Zen of 2017, or later)";
}

std::unique_ptr<Backend> make_cpu_backend(InstructionSet set,
                                          unsigned threads) {
  check(missing_for(set).empty(), "instructions that this host lacks");
  return std::make_unique<CpuBackend>(set, threads);
}

}  // namespace quorate
