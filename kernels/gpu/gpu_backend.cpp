#include "kernels/gpu/gpu_backend.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "base/error.h"
#include "kernels/gpu/attention.h"
#include "kernels/gpu/embedding.h"
#include "kernels/gpu/gpu_memory.h"
#include "kernels/gpu/products.h"
#include "kernels/gpu/sums.h"
#include "kernels/shapes.h"

namespace quorate {
namespace {

static_assert(static_cast<std::uint32_t>(Function::exp) == Q_EXP);
static_assert(static_cast<std::uint32_t>(Function::silu) == Q_SILU &&
              kFunctionCount == Q_SILU + 1);

std::span<const std::uint8_t> bytes_of(std::span<const float> values) {
  return {reinterpret_cast<const std::uint8_t*>(values.data()),
          values.size_bytes()};
}
template <class Value>
std::span<std::uint8_t> bytes_of(std::span<Value> values) {
  return {reinterpret_cast<std::uint8_t*>(values.data()), values.size_bytes()};
}

ProductPlaces places_of(const ConstView& a, const ConstView& b,
                        const ConstView& c, const Epilogue& then = {}) {
  GpuPlace to = gpu_place(c);
  return {gpu_place(a),
          gpu_place(b),
          to,
          then.bias ? gpu_place(*then.bias) : to,
          then.addend ? gpu_place(*then.addend) : to,
          {then.bias ? 1U : 0U, then.addend ? 1U : 0U, then.relu ? 1U : 0U}};
}

QPooling pooling_of(const PoolingSizes& n, const Pooling& how) {
  return {
      gpu_word(n.in.images),  gpu_word(n.in.height), gpu_word(n.in.width),
      gpu_word(n.out.height), gpu_word(n.out.width), gpu_word(n.in.channels),
      gpu_word(how.size),     gpu_word(how.stride),  gpu_word(how.padding)};
}
std::uint64_t elements_of(const ImageSizes& n) {
  return n.images * n.image();
}

class GpuBackend final : public Backend {
 public:
  GpuBackend(std::unique_ptr<GpuDevice> device, std::uint32_t percent)
      : queue_(std::move(device), percent) {}

  DeviceInfo device() const override { return queue_.device().info(); }

  std::unique_ptr<Memory> allocate(std::size_t count) override {
    constexpr std::size_t kMost =
        std::numeric_limits<std::size_t>::max() / sizeof(float);
    std::size_t size = std::clamp<std::size_t>(count, 1, kMost) * sizeof(float);
    auto buffer = queue_.device().allocate(size);
    queue_.device().clear(*buffer, 0, size);
    return std::make_unique<GpuMemory>(count, std::move(buffer));
  }

  void upload(View to, std::span<const float> from) override {
    check(from.size() == to.shape.count(), "upload of another size");
    GpuPlace place = gpu_place(to);
    if (from.empty()) return;
    queue_.device().write(*place.buffer, place.first * sizeof(float),
                          bytes_of(from));
  }

  void upload_pixels(View to, std::span<const std::uint8_t> from) override {
    check(from.size() == to.shape.count(), "upload of another size");
    GpuPlace bytes = queue_.scratch(Scratch::bytes, from.size() / 4 + 1);
    if (from.empty()) return;
    queue_.device().write(*bytes.buffer, 0, from);
    launch_elements(GpuKernel::pixels, from.size(), bytes, gpu_place(to));
  }

  void download(ConstView from, std::span<float> to) override {
    check(to.size() == from.shape.count(), "download of another size");
    queue_.read(gpu_place(from), bytes_of(to));
  }

  void matmul(ConstView a, Transpose transpose_a, ConstView b,
              Transpose transpose_b, View c, const Epilogue& then) override {
    MatmulSizes n = matmul_sizes(a, transpose_a, b, transpose_b, c);
    check_epilogue(then, n.rows, n.cols);
    QProduct p{};
    p.matrices = 1;
    p.inner = 1;
    p.rows = gpu_word(n.rows);
    p.cols = gpu_word(n.cols);
    p.depth = gpu_word(n.depth);
    p.a_stride = gpu_word(a.shape[1]);
    p.b_stride = gpu_word(b.shape[1]);
    p.c_stride = p.cols;
    ProductKind kind = transpose_a == Transpose::yes   ? ProductKind::atb
                       : transpose_b == Transpose::yes ? ProductKind::abt
                                                       : ProductKind::ab;
    run_product(queue_, kind, p, QConvolution{}, places_of(a, b, c, then));
  }

  void conv2d(ConstView x, ConstView w, const Convolution& how, View y,
              const Epilogue& then) override {
    ConvolutionSizes n = convolution_sizes(x.shape, w.shape, how, y.shape);
    check_epilogue(then, n.out.pixels(), n.out.channels);
    gpu_conv2d(queue_, n, places_of(x, w, y, then));
  }
  void conv2d_input_gradient(ConstView dy, ConstView w, const Convolution& how,
                             View dx) override {
    ConvolutionSizes n = convolution_sizes(dx.shape, w.shape, how, dy.shape);
    gpu_conv2d_input_gradient(queue_, n, places_of(dy, w, dx));
  }
  void conv2d_weight_gradient(ConstView x, ConstView dy, const Convolution& how,
                              View dw) override {
    ConvolutionSizes n = convolution_sizes(x.shape, dw.shape, how, dy.shape);
    gpu_conv2d_weight_gradient(queue_, n, places_of(x, dy, dw));
  }

  void attention(ConstView qkv, std::size_t heads, float scale, View weights,
                 View y) override {
    AttentionSizes n =
        attention_sizes(qkv.shape, heads, weights.shape, y.shape);
    gpu_attention(queue_, n, scale, gpu_place(qkv), gpu_place(weights),
                  gpu_place(y));
  }
  void attention_gradient(ConstView qkv, ConstView weights, ConstView dy,
                          std::size_t heads, float scale, View dqkv) override {
    AttentionSizes n =
        attention_sizes(qkv.shape, heads, weights.shape, dy.shape);
    check(dqkv.shape == qkv.shape, "gradient of another shape");
    gpu_attention_gradient(queue_, n, scale, gpu_place(qkv), gpu_place(weights),
                           gpu_place(dy), gpu_place(dqkv));
  }

  void max_pool2d(ConstView x, const Pooling& how, View y) override {
    PoolingSizes n = pooling_sizes(x.shape, how, y.shape);
    launch_windows(GpuKernel::max_pool, elements_of(n.out), how, gpu_place(x),
                   gpu_place(y), pooling_of(n, how));
  }
  void max_pool2d_gradient(ConstView x, ConstView dy, const Pooling& how,
                           View dx) override {
    PoolingSizes n = pooling_sizes(x.shape, how, dy.shape);
    check(dx.shape == x.shape, "gradient of another shape");
    launch_windows(GpuKernel::max_pool_gradient, elements_of(n.in), how,
                   gpu_place(x), gpu_place(dy), gpu_place(dx),
                   pooling_of(n, how));
  }
  void average_pool2d(ConstView x, const Pooling& how, float reciprocal,
                      View y) override {
    PoolingSizes n = pooling_sizes(x.shape, how, y.shape);
    launch_windows(GpuKernel::average_pool, elements_of(n.out), how,
                   gpu_place(x), gpu_place(y), pooling_of(n, how), reciprocal);
  }
  void average_pool2d_gradient(ConstView dy, const Pooling& how,
                               float reciprocal, View dx) override {
    PoolingSizes n = pooling_sizes(dx.shape, how, dy.shape);
    launch_windows(GpuKernel::average_pool_gradient, elements_of(n.in), how,
                   gpu_place(dy), gpu_place(dx), pooling_of(n, how),
                   reciprocal);
  }
  void mean_pixels(ConstView x, float reciprocal, View y) override {
    PixelSizes n = pixel_mean_sizes(x.shape, y.shape);
    gpu_sum_pixels(queue_, gpu_place(x), n, gpu_place(y));
    launch_elements(GpuKernel::scale_array, y.shape.count(), gpu_place(y),
                    gpu_place(y), reciprocal);
  }
  void mean_pixels_gradient(ConstView dy, float reciprocal, View dx) override {
    PixelSizes n = pixel_mean_sizes(dx.shape, dy.shape);
    QPixels pixels{gpu_word(n.images), gpu_word(n.pixels), gpu_word(n.channels),
                   1, 0};
    queue_.launch(GpuKernel::spread_pixels, elements(dx.shape.count()),
                  gpu_place(dy), gpu_place(dx), pixels, reciprocal);
  }

  void normalize(ConstView x, ConstView gamma, ConstView beta,
                 const Normalization& how, View y, View mean,
                 View variance) override {
    PixelSizes n = normalization_sizes(x.shape, y.shape, how, mean.shape,
                                       variance.shape, gamma.shape, beta.shape);
    gpu_find_statistics(queue_, n, how.groups, gpu_place(x), gpu_place(mean),
                        gpu_place(variance));
    normalize_with(x, mean, variance, gamma, beta, how, y);
  }
  void normalize_with(ConstView x, ConstView mean, ConstView variance,
                      ConstView gamma, ConstView beta, const Normalization& how,
                      View y) override {
    PixelSizes n = normalization_sizes(x.shape, y.shape, how, mean.shape,
                                       variance.shape, gamma.shape, beta.shape);
    gpu_normalize(queue_, n, how,
                  {gpu_place(x), gpu_place(mean), gpu_place(variance),
                   gpu_place(gamma), gpu_place(beta)},
                  gpu_place(y));
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
    gpu_normalize_gradient(queue_, n, how,
                           {gpu_place(x), gpu_place(mean), gpu_place(variance),
                            gpu_place(gamma), gpu_place(beta)},
                           gpu_place(dy), gpu_place(dx), gpu_place(dgamma),
                           gpu_place(dbeta));
  }

  void add_bias(View x, ConstView bias) override {
    MatrixSizes n = column_sizes(x.shape, bias.shape);
    launch_elements(GpuKernel::add_bias, x.shape.count(), gpu_place(x),
                    gpu_place(bias), gpu_word(n.cols));
  }
  void sum_rows(ConstView x, View y) override {
    MatrixSizes n = column_sizes(x.shape, y.shape);
    gpu_sum_pixels(queue_, gpu_place(x), {1, n.rows, n.cols}, gpu_place(y));
  }
  float sum(ConstView x) override {
    GpuPlace result = queue_.scratch(Scratch::result, 1);
    gpu_sum(queue_, gpu_place(x), x.shape.count(), false, result);
    float total = 0.0F;
    queue_.read(result, bytes_of(std::span(&total, 1)));
    return total;
  }
  void sums_of_squares(std::span<const ConstView> x,
                       std::span<float> sums) override {
    check(x.size() == sums.size(), "one sum per array expected");
    GpuPlace result = queue_.scratch(Scratch::result, x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      gpu_sum(queue_, gpu_place(x[i]), x[i].shape.count(), true, result + i);
    }
    if (!x.empty()) queue_.read(result, bytes_of(sums));
  }

  void embedding(ConstView table, Indices ids, View y) override {
    EmbeddingSizes n = embedding_sizes(table.shape, ids, y.shape);
    if (y.shape.count() == 0) return;
    launch_elements(GpuKernel::embedding, y.shape.count(), gpu_place(table),
                    queue_.put(Scratch::words, ids), gpu_place(y),
                    gpu_word(n.channels));
  }
  void embedding_gradient(Indices ids, ConstView dy, View dtable,
                          Accumulate accumulate) override;

  void softmax_cross_entropy(ConstView logits, Indices targets, float scale,
                             View losses, View dlogits) override {
    MatrixSizes n =
        cross_entropy_sizes(logits.shape, targets, losses.shape, dlogits.shape);
    if (n.rows == 0) return;
    queue_.launch(GpuKernel::softmax_cross_entropy, row_work(n),
                  gpu_place(logits), queue_.put(Scratch::words, targets),
                  gpu_place(losses), gpu_place(dlogits), gpu_word(n.cols),
                  scale);
  }
  std::size_t count_correct(ConstView logits, Indices targets) override {
    MatrixSizes n = target_sizes(logits.shape, targets);
    if (n.rows == 0) return 0;
    GpuPlace found = queue_.scratch(Scratch::other_words, n.rows);
    queue_.launch(GpuKernel::find_correct, row_work(n), gpu_place(logits),
                  queue_.put(Scratch::words, targets), found, gpu_word(n.cols));
    std::vector<std::uint32_t> correct(n.rows);
    queue_.read(found, bytes_of(std::span(correct)));
    return static_cast<std::size_t>(
        std::count(correct.begin(), correct.end(), 1U));
  }

  void map(Function f, ConstView x, View y) override {
    common_count(x.shape, y.shape);
    launch_elements(GpuKernel::map, x.shape.count(), gpu_place(x), gpu_place(y),
                    static_cast<std::uint32_t>(f));
  }
  void map_gradient(Function f, ConstView x, ConstView dy, View dx) override {
    check(f == Function::tanh || f == Function::sigmoid ||
              f == Function::relu || f == Function::gelu || f == Function::silu,
          "a function that has a gradient");
    launch_elements(GpuKernel::map_gradient,
                    common_count(x.shape, dy.shape, dx.shape), gpu_place(x),
                    gpu_place(dy), gpu_place(dx),
                    static_cast<std::uint32_t>(f));
  }
  void add(ConstView a, ConstView b, View y) override {
    launch_elements(GpuKernel::add_arrays,
                    common_count(a.shape, b.shape, y.shape), gpu_place(a),
                    gpu_place(b), gpu_place(y));
  }
  void subtract(ConstView a, ConstView b, View y) override {
    launch_elements(GpuKernel::subtract_arrays,
                    common_count(a.shape, b.shape, y.shape), gpu_place(a),
                    gpu_place(b), gpu_place(y));
  }
  void scale(ConstView x, float factor, View y) override {
    launch_elements(GpuKernel::scale_array, common_count(x.shape, y.shape),
                    gpu_place(x), gpu_place(y), factor);
  }
  void move_towards(ConstView x, float factor, float rate, View y) override {
    launch_elements(GpuKernel::move_towards, common_count(x.shape, y.shape),
                    gpu_place(x), gpu_place(y), factor, rate);
  }
  void dropout(ConstView x, const Dropout& how, View y) override {
    std::uint64_t count = common_count(x.shape, y.shape);
    QDropout words{static_cast<std::uint32_t>(how.seed),
                   static_cast<std::uint32_t>(how.seed >> 32),
                   how.stream,
                   how.step,
                   how.threshold,
                   how.scale};
    std::uint64_t quads = (count + 3) / 4;
    queue_.launch(GpuKernel::dropout, elements(quads, 4 * kElementCost), quads,
                  count, gpu_place(x), gpu_place(y), words);
  }

  void sgd(View w, ConstView g, View v, const SgdStep& step) override {
    launch_elements(GpuKernel::sgd, common_count(w.shape, g.shape, v.shape),
                    gpu_place(w), gpu_place(g), gpu_place(v),
                    QSgd{step.learning_rate, step.momentum, step.weight_decay});
  }
  void adamw(View w, ConstView g, View m, View v,
             const AdamWStep& step) override {
    std::size_t count = common_count(w.shape, g.shape, m.shape);
    check(v.shape.count() == count, "sizes differ");
    launch_elements(GpuKernel::adamw, count, gpu_place(w), gpu_place(g),
                    gpu_place(m), gpu_place(v),
                    QAdamW{step.learning_rate, step.beta1, step.one_minus_beta1,
                           step.beta2, step.one_minus_beta2, step.correction1,
                           step.correction2, step.epsilon, step.weight_decay});
  }
  bool all_finite(ConstView x) override {
    GpuPlace found = queue_.put(Scratch::result, std::vector<std::uint32_t>{0});
    launch_elements(GpuKernel::find_not_finite, x.shape.count(), gpu_place(x),
                    found);
    std::uint32_t word = 0;
    queue_.read(found, bytes_of(std::span(&word, 1)));
    return word == 0;
  }

 private:
  static GpuWork row_work(const MatrixSizes& n) {
    return {n.rows, 4 * kElementCost * static_cast<double>(n.cols + 256)};
  }

  template <class... Arguments>
  void launch_elements(GpuKernel kernel, std::uint64_t count,
                       const Arguments&... arguments) {
    queue_.launch(kernel, elements(count), count, arguments...);
  }
  template <class... Arguments>
  void launch_windows(GpuKernel kernel, std::uint64_t count, const Pooling& how,
                      const Arguments&... arguments) {
    double taps = static_cast<double>(how.size * how.size);
    // A gradient asks every window over an element for all of its taps.
    if (kernel == GpuKernel::max_pool_gradient) {
      double windows =
          static_cast<double>(how.size) / static_cast<double>(how.stride) + 1;
      taps *= windows * windows;
    }
    queue_.launch(kernel, elements(count, kElementCost + taps), arguments...);
  }

  GpuQueue queue_;
};

void GpuBackend::embedding_gradient(Indices ids, ConstView dy, View dtable,
                                    Accumulate accumulate) {
  EmbeddingSizes n = embedding_sizes(dtable.shape, ids, dy.shape);
  EmbeddingChains lists = embedding_chains(ids, n.symbols);
  std::uint64_t sums = (lists.starts.size() - 1) * n.channels;
  GpuPlace partials = queue_.scratch(Scratch::partials, sums);
  std::uint32_t channels = gpu_word(n.channels);
  if (!ids.empty()) {
    queue_.launch(GpuKernel::chain_sums, elements(sums, 64 * kReadCost), sums,
                  gpu_place(dy), queue_.put(Scratch::words, lists.order),
                  queue_.put(Scratch::other_words, lists.starts), partials,
                  channels);
  }
  std::uint64_t count = dtable.shape.count();
  double chains_per_symbol = static_cast<double>(lists.starts.size()) /
                             static_cast<double>(n.symbols + 1);
  queue_.launch(GpuKernel::add_chains,
                elements(count, kReadCost * (4 + chains_per_symbol)), count,
                partials, queue_.put(Scratch::more_words, lists.chains),
                gpu_place(dtable), channels,
                accumulate == Accumulate::yes ? 1U : 0U);
}

}  // namespace

GpuPlace gpu_place(const ConstView& view) {
  const auto* memory = dynamic_cast<const GpuMemory*>(view.memory);
  check(memory != nullptr, "a view of another kind of backend");
  check(view.offset <= memory->size() &&
            view.shape.count() <= memory->size() - view.offset,
        "view beyond its memory");
  return {memory->buffer(), view.offset};
}

std::unique_ptr<Backend> make_gpu_backend(std::unique_ptr<GpuDevice> device,
                                          std::uint32_t percent) {
  return std::make_unique<GpuBackend>(std::move(device), percent);
}

}  // namespace quorate
