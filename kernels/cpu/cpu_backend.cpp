#include "kernels/cpu/cpu_backend.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "kernels/cpu/attention.h"
#include "kernels/cpu/convolution.h"
#include "kernels/cpu/elements.h"
#include "kernels/cpu/normalizer.h"
#include "kernels/cpu/pooler.h"
#include "kernels/cpu/reducer.h"
#include "kernels/cpu/tasks.h"
#include "kernels/cpu/thread_pool.h"
#include "kernels/cpu/vector/kernels.h"
#include "kernels/cpu/vector/product.h"
#include "kernels/host_memory.h"
#include "kernels/shapes.h"

namespace quorate {
namespace {

class CpuBackend final : public Backend {
 public:
  CpuBackend(InstructionSet set, unsigned threads)
      : set_(set),
        elementwise_(elementwise_kernels(set)),
        matmul_(matmul_kernels(set)),
        pool_(threads),
        tasks_(pool_),
        convolver_(pool_, matmul_, depthwise_kernels(set), elementwise_,
                   scratch_),
        attention_(tasks_, matmul_, reduction_kernels(set), scratch_),
        normalizer_(tasks_, reduction_kernels(set), normalization_kernels(set)),
        reducer_(tasks_, elementwise_, reduction_kernels(set)),
        pooler_(tasks_, pooling_kernels(set), reduction_kernels(set),
                elementwise_),
        elements_(tasks_, elementwise_) {
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
    elements_.pixels(to, from);
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

  void attention(ConstView qkv, std::size_t heads, float scale, View weights,
                 View y) override {
    AttentionSizes n =
        attention_sizes(qkv.shape, heads, weights.shape, y.shape);
    attention_.forward(n, scale, host_data(qkv), host_data(weights),
                       host_data(y));
  }
  void attention_gradient(ConstView qkv, ConstView weights, ConstView dy,
                          std::size_t heads, float scale, View dqkv) override {
    AttentionSizes n =
        attention_sizes(qkv.shape, heads, weights.shape, dy.shape);
    check(dqkv.shape == qkv.shape, "gradient of another shape");
    attention_.gradient(n, scale, host_data(qkv), host_data(weights),
                        host_data(dy), host_data(dqkv));
  }

  void max_pool2d(ConstView x, const Pooling& how, View y) override {
    pooler_.max(pooling_sizes(x.shape, how, y.shape), how, host_data(x),
                host_data(y));
  }
  void max_pool2d_gradient(ConstView x, ConstView dy, const Pooling& how,
                           View dx) override {
    PoolingSizes n = pooling_sizes(x.shape, how, dy.shape);
    check(dx.shape == x.shape, "gradient of another shape");
    pooler_.max_gradient(n, how, host_data(x), host_data(dy), host_data(dx));
  }
  void average_pool2d(ConstView x, const Pooling& how, float reciprocal,
                      View y) override {
    pooler_.average(pooling_sizes(x.shape, how, y.shape), how, reciprocal,
                    host_data(x), host_data(y));
  }
  void average_pool2d_gradient(ConstView dy, const Pooling& how,
                               float reciprocal, View dx) override {
    pooler_.average_gradient(pooling_sizes(dx.shape, how, dy.shape), how,
                             reciprocal, host_data(dy), host_data(dx));
  }
  void mean_pixels(ConstView x, float reciprocal, View y) override {
    pooler_.mean(pixel_mean_sizes(x.shape, y.shape), reciprocal, host_data(x),
                 host_data(y));
  }
  void mean_pixels_gradient(ConstView dy, float reciprocal, View dx) override {
    pooler_.mean_gradient(pixel_mean_sizes(dx.shape, dy.shape), reciprocal,
                          host_data(dy), host_data(dx));
  }

  void normalize(ConstView x, ConstView gamma, ConstView beta,
                 const Normalization& how, View y, View mean,
                 View variance) override {
    PixelSizes n = normalization_sizes(x.shape, y.shape, how, mean.shape,
                                       variance.shape, gamma.shape, beta.shape);
    normalizer_.normalize(n, how,
                          {host_data(x), host_data(gamma), host_data(beta)},
                          host_data(y), host_data(mean), host_data(variance));
  }
  void normalize_with(ConstView x, ConstView mean, ConstView variance,
                      ConstView gamma, ConstView beta, const Normalization& how,
                      View y) override {
    PixelSizes n = normalization_sizes(x.shape, y.shape, how, mean.shape,
                                       variance.shape, gamma.shape, beta.shape);
    normalizer_.normalize_with(
        n, how, {host_data(x), host_data(gamma), host_data(beta)},
        host_data(mean), host_data(variance), host_data(y));
  }
  void normalize_gradient(ConstView x, ConstView dy, ConstView mean,
                          ConstView variance, ConstView gamma, ConstView beta,
                          const Normalization& how, View dx, View dgamma,
                          View dbeta) override {
    PixelSizes n = normalization_sizes(x.shape, dx.shape, how, mean.shape,
                                       variance.shape, gamma.shape, beta.shape);
    check(dy.shape == x.shape && dgamma.shape.count() == n.channels &&
              dbeta.shape.count() == n.channels,
          "gradients of another shape");
    normalizer_.gradient(
        n, how, {host_data(x), host_data(gamma), host_data(beta)},
        host_data(mean), host_data(variance),
        {host_data(dy), host_data(dx), host_data(dgamma), host_data(dbeta)});
  }

  void add_bias(View x, ConstView bias) override {
    elements_.add_bias(x, bias);
  }
  void sum_rows(ConstView x, View y) override {
    reducer_.sum_rows(column_sizes(x.shape, y.shape), host_data(x),
                      host_data(y));
  }
  float sum(ConstView x) override {
    return reducer_.sum({host_data(x), x.shape.count()});
  }
  void sums_of_squares(std::span<const ConstView> x,
                       std::span<float> sums) override {
    check(x.size() == sums.size(), "one sum per array expected");
    for (std::size_t i = 0; i < x.size(); ++i) {
      sums[i] = reducer_.sum_of_squares({host_data(x[i]), x[i].shape.count()});
    }
  }

  void embedding(ConstView table, Indices ids, View y) override {
    EmbeddingSizes n = embedding_sizes(table.shape, ids, y.shape);
    const float* from = host_data(table);
    float* to = host_data(y);
    tasks_.for_rows({n.rows, n.channels}, [&](std::size_t row) {
      std::copy_n(from + ids[row] * n.channels, n.channels,
                  to + row * n.channels);
    });
  }
  void embedding_gradient(Indices ids, ConstView dy, View dtable,
                          Accumulate accumulate) override {
    reducer_.embedding_gradient(embedding_sizes(dtable.shape, ids, dy.shape),
                                ids, host_data(dy), accumulate,
                                host_data(dtable));
  }

  void softmax_cross_entropy(ConstView logits, Indices targets, float scale,
                             View losses, View dlogits) override {
    reducer_.softmax_cross_entropy(
        cross_entropy_sizes(logits.shape, targets, losses.shape, dlogits.shape),
        host_data(logits), targets, scale, host_data(losses),
        host_data(dlogits));
  }
  std::size_t count_correct(ConstView logits, Indices targets) override {
    return reducer_.count_correct(target_sizes(logits.shape, targets),
                                  host_data(logits), targets);
  }

  void map(Function f, ConstView x, View y) override { elements_.map(f, x, y); }
  void map_gradient(Function f, ConstView x, ConstView dy, View dx) override {
    elements_.map_gradient(f, x, dy, dx);
  }
  void add(ConstView a, ConstView b, View y) override {
    elements_.add(a, b, y);
  }
  void subtract(ConstView a, ConstView b, View y) override {
    elements_.subtract(a, b, y);
  }
  void scale(ConstView x, float factor, View y) override {
    elements_.scale(x, factor, y);
  }
  void move_towards(ConstView x, float factor, float rate, View y) override {
    elements_.move_towards(x, factor, rate, y);
  }
  void dropout(ConstView x, const Dropout& how, View y) override {
    elements_.dropout(x, how, y);
  }

  void sgd(View w, ConstView g, View v, const SgdStep& step) override {
    elements_.sgd(w, g, v, step);
  }
  void adamw(View w, ConstView g, View m, View v,
             const AdamWStep& step) override {
    elements_.adamw(w, g, m, v, step);
  }
  bool all_finite(ConstView x) override { return elements_.all_finite(x); }

 private:
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
  const MatmulKernels& matmul_;
  std::vector<AlignedFloats> scratch_;  // of each thread
  ThreadPool pool_;
  Tasks tasks_;
  // These use the members above.
  Convolver convolver_;
  Attention attention_;
  Normalizer normalizer_;
  Reducer reducer_;
  Pooler pooler_;
  Elements elements_;
  HostBuffer apart_;
};

// The compiler's question, not Highway's: its library would be one more file
// that every volunteer downloads before the first task.
bool has(InstructionSet set) {
#ifdef __x86_64__
  const bool has_avx2 =
      __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
      __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
  if (set != InstructionSet::avx512) return has_avx2;
  return has_avx2 && __builtin_cpu_supports("avx512f") &&
         __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512cd") &&
         __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl");
#else
  (void)set;
  return false;
#endif
}

}  // namespace

std::string missing_for(InstructionSet set) {
  if (has(set)) return {};
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
