#include "kernels/reference/reference_backend.h"

#include <algorithm>
#include <vector>

#include "base/arithmetic.h"
#include "base/error.h"
#include "kernels/float_environment.h"
#include "kernels/host_memory.h"
#include "kernels/reference/attention.h"
#include "kernels/reference/convolution.h"
#include "kernels/reference/normalization.h"
#include "kernels/reference/pooling.h"
#include "kernels/reference/row_sum.h"
#include "kernels/reference/scalar_functions.h"
#include "kernels/reference/segment_sum.h"
#include "kernels/reference/tables.h"
#include "kernels/shapes.h"

namespace quorate {
namespace {

constexpr std::uint32_t kOneOver255 = 0x3b808081;

// One element of a product: a and b are read with these strides along k.
float product_element(const float* a, std::size_t a_stride, const float* b,
                      std::size_t b_stride, std::size_t depth) {
  SegmentSum sum;
  for (std::size_t k = 0; k < depth; ++k) {
    sum.push(a[k * a_stride], b[k * b_stride]);
  }
  return sum.total();
}

// An epilogue whose addend was copied before it could be overwritten.
class Finish {
 public:
  explicit Finish(const Epilogue& then) : relu_(then.relu) {
    if (then.bias) bias_ = host_data(*then.bias);
    if (!then.addend) return;
    const float* from = host_data(*then.addend);
    addend_.assign(from, from + then.addend->shape.count());
  }

  void apply(float* y, std::size_t rows, std::size_t cols) const {
    for (std::size_t i = 0; i < rows * cols; ++i) {
      if (bias_ != nullptr) y[i] = y[i] + bias_[i % cols];
      if (!addend_.empty()) y[i] = addend_[i] + y[i];
      if (relu_) y[i] = canonical_relu(y[i]);
    }
  }

 private:
  const float* bias_ = nullptr;
  std::vector<float> addend_;
  bool relu_;
};

class ReferenceBackend final : public Backend {
 public:
  DeviceInfo device() const override {
    return {"reference", "plain scalar loops, for checking"};
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
    CanonicalFloatMode mode;
    float* out = host_data(to);
    for (std::size_t i = 0; i < from.size(); ++i) {
      out[i] = static_cast<float>(from[i]) * float_of_bits(kOneOver255);
    }
  }

  void download(ConstView from, std::span<float> to) override {
    check(to.size() == from.shape.count(), "download of another size");
    std::copy_n(host_data(from), to.size(), to.begin());
  }

  void matmul(ConstView a, Transpose transpose_a, ConstView b,
              Transpose transpose_b, View c, const Epilogue& then) override {
    MatmulSizes n = matmul_sizes(a, transpose_a, b, transpose_b, c);
    check_epilogue(then, n.rows, n.cols);
    bool at = transpose_a == Transpose::yes;
    bool bt = transpose_b == Transpose::yes;
    CanonicalFloatMode mode;
    Finish finish(then);
    const float* pa = host_data(a);
    const float* pb = host_data(b);
    float* pc = host_data(c);
    for (std::size_t row = 0; row < n.rows; ++row) {
      for (std::size_t col = 0; col < n.cols; ++col) {
        pc[row * n.cols + col] = product_element(
            pa + (at ? row : row * n.depth), at ? n.rows : 1,
            pb + (bt ? col * n.depth : col), bt ? 1 : n.cols, n.depth);
      }
    }
    finish.apply(pc, n.rows, n.cols);
  }

  void conv2d(ConstView x, ConstView w, const Convolution& how, View y,
              const Epilogue& then) override {
    ConvolutionSizes n = convolution_sizes(x.shape, w.shape, how, y.shape);
    check_epilogue(then, n.out.pixels(), n.out.channels);
    CanonicalFloatMode mode;
    Finish finish(then);
    reference::conv2d(n, host_data(x), host_data(w), host_data(y));
    finish.apply(host_data(y), n.out.pixels(), n.out.channels);
  }
  void conv2d_input_gradient(ConstView dy, ConstView w, const Convolution& how,
                             View dx) override {
    ConvolutionSizes n = convolution_sizes(dx.shape, w.shape, how, dy.shape);
    CanonicalFloatMode mode;
    reference::conv2d_input_gradient(n, host_data(dy), host_data(w),
                                     host_data(dx));
  }
  void conv2d_weight_gradient(ConstView x, ConstView dy, const Convolution& how,
                              View dw) override {
    ConvolutionSizes n = convolution_sizes(x.shape, dw.shape, how, dy.shape);
    CanonicalFloatMode mode;
    reference::conv2d_weight_gradient(n, host_data(x), host_data(dy),
                                      host_data(dw));
  }

  void attention(ConstView qkv, std::size_t heads, float scale, View weights,
                 View y) override {
    AttentionSizes n =
        attention_sizes(qkv.shape, heads, weights.shape, y.shape);
    CanonicalFloatMode mode;
    reference::attention(n, scale, host_data(qkv), host_data(weights),
                         host_data(y));
  }
  void attention_gradient(ConstView qkv, ConstView weights, ConstView dy,
                          std::size_t heads, float scale, View dqkv) override {
    AttentionSizes n =
        attention_sizes(qkv.shape, heads, weights.shape, dy.shape);
    check(dqkv.shape == qkv.shape, "gradient of another shape");
    CanonicalFloatMode mode;
    reference::attention_gradient(n, scale, host_data(qkv), host_data(weights),
                                  host_data(dy), host_data(dqkv));
  }

  void max_pool2d(ConstView x, const Pooling& how, View y) override {
    PoolingSizes n = pooling_sizes(x.shape, how, y.shape);
    CanonicalFloatMode mode;
    reference::max_pool2d(n, how, host_data(x), host_data(y));
  }
  void max_pool2d_gradient(ConstView x, ConstView dy, const Pooling& how,
                           View dx) override {
    PoolingSizes n = pooling_sizes(x.shape, how, dy.shape);
    check(dx.shape == x.shape, "gradient of another shape");
    CanonicalFloatMode mode;
    reference::max_pool2d_gradient(n, how, host_data(x), host_data(dy),
                                   host_data(dx));
  }
  void average_pool2d(ConstView x, const Pooling& how, float reciprocal,
                      View y) override {
    PoolingSizes n = pooling_sizes(x.shape, how, y.shape);
    CanonicalFloatMode mode;
    reference::average_pool2d(n, how, reciprocal, host_data(x), host_data(y));
  }
  void average_pool2d_gradient(ConstView dy, const Pooling& how,
                               float reciprocal, View dx) override {
    PoolingSizes n = pooling_sizes(dx.shape, how, dy.shape);
    CanonicalFloatMode mode;
    reference::average_pool2d_gradient(n, how, reciprocal, host_data(dy),
                                       host_data(dx));
  }
  void mean_pixels(ConstView x, float reciprocal, View y) override {
    PixelSizes n = pixel_mean_sizes(x.shape, y.shape);
    CanonicalFloatMode mode;
    reference::mean_pixels(n, reciprocal, host_data(x), host_data(y));
  }
  void mean_pixels_gradient(ConstView dy, float reciprocal, View dx) override {
    PixelSizes n = pixel_mean_sizes(dx.shape, dy.shape);
    CanonicalFloatMode mode;
    reference::mean_pixels_gradient(n, reciprocal, host_data(dy),
                                    host_data(dx));
  }

  void normalize(ConstView x, ConstView gamma, ConstView beta,
                 const Normalization& how, View y, View mean,
                 View variance) override {
    PixelSizes n = normalization_sizes(x.shape, y.shape, how, mean.shape,
                                       variance.shape, gamma.shape, beta.shape);
    CanonicalFloatMode mode;
    reference::find_statistics(n, how.groups, host_data(x), host_data(mean),
                               host_data(variance));
    reference::normalize(n, how, host_data(x), host_data(mean),
                         host_data(variance), host_data(gamma), host_data(beta),
                         host_data(y));
  }
  void normalize_with(ConstView x, ConstView mean, ConstView variance,
                      ConstView gamma, ConstView beta, const Normalization& how,
                      View y) override {
    PixelSizes n = normalization_sizes(x.shape, y.shape, how, mean.shape,
                                       variance.shape, gamma.shape, beta.shape);
    CanonicalFloatMode mode;
    reference::normalize(n, how, host_data(x), host_data(mean),
                         host_data(variance), host_data(gamma), host_data(beta),
                         host_data(y));
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
    CanonicalFloatMode mode;
    reference::normalize_gradient(
        n, how,
        {host_data(x), host_data(dy), host_data(mean), host_data(variance),
         host_data(gamma), host_data(beta), host_data(dx), host_data(dgamma),
         host_data(dbeta)});
  }

  void add_bias(View x, ConstView bias) override {
    MatrixSizes n = column_sizes(x.shape, bias.shape);
    CanonicalFloatMode mode;
    float* px = host_data(x);
    const float* pb = host_data(bias);
    for (std::size_t i = 0; i < n.rows * n.cols; ++i) {
      px[i] = px[i] + pb[i % n.cols];
    }
  }

  void sum_rows(ConstView x, View y) override {
    MatrixSizes n = column_sizes(x.shape, y.shape);
    CanonicalFloatMode mode;
    const float* px = host_data(x);
    float* py = host_data(y);
    for (std::size_t col = 0; col < n.cols; ++col) {
      RowSum sum;
      for (std::size_t r = 0; r < n.rows; ++r) sum.push(px[r * n.cols + col]);
      py[col] = sum.total();
    }
  }

  float sum(ConstView x) override {
    CanonicalFloatMode mode;
    return sum_r1({host_data(x), x.shape.count()});
  }

  void sums_of_squares(std::span<const ConstView> x,
                       std::span<float> sums) override {
    check(x.size() == sums.size(), "one sum per array expected");
    CanonicalFloatMode mode;
    for (std::size_t i = 0; i < x.size(); ++i) {
      std::span values(host_data(x[i]), x[i].shape.count());
      sums[i] = dot_r1(values, values);
    }
  }

  void embedding(ConstView table, Indices ids, View y) override {
    EmbeddingSizes n = embedding_sizes(table.shape, ids, y.shape);
    reference::embedding(n, ids, host_data(table), host_data(y));
  }
  void embedding_gradient(Indices ids, ConstView dy, View dtable,
                          Accumulate accumulate) override {
    EmbeddingSizes n = embedding_sizes(dtable.shape, ids, dy.shape);
    CanonicalFloatMode mode;
    reference::embedding_gradient(n, ids, host_data(dy), accumulate,
                                  host_data(dtable));
  }

  void softmax_cross_entropy(ConstView logits, Indices targets, float scale,
                             View losses, View dlogits) override {
    MatrixSizes n =
        cross_entropy_sizes(logits.shape, targets, losses.shape, dlogits.shape);
    CanonicalFloatMode mode;
    float* loss = host_data(losses);
    for (std::size_t row = 0; row < n.rows; ++row) {
      const float* x = host_data(logits) + row * n.cols;
      float* dx = host_data(dlogits) + row * n.cols;
      float m = x[0];
      for (std::size_t j = 1; j < n.cols; ++j) m = x[j] > m ? x[j] : m;
      float at_target = x[targets[row]];
      for (std::size_t j = 0; j < n.cols; ++j) dx[j] = canonical_exp(x[j] - m);
      float s = sum_r1({dx, n.cols});
      float r = 1.0F / s;
      for (std::size_t j = 0; j < n.cols; ++j) {
        float p = dx[j] * r;
        dx[j] = (p - (j == targets[row] ? 1.0F : 0.0F)) * scale;
      }
      loss[row] = canonical_log(s) + m - at_target;
    }
  }

  std::size_t count_correct(ConstView logits, Indices targets) override {
    MatrixSizes n = target_sizes(logits.shape, targets);
    const float* x = host_data(logits);
    std::size_t correct = 0;
    for (std::size_t row = 0; row < n.rows; ++row, x += n.cols) {
      std::size_t best = 0;
      for (std::size_t j = 1; j < n.cols; ++j) best = x[j] > x[best] ? j : best;
      correct += best == targets[row] ? 1U : 0U;
    }
    return correct;
  }

  void map(Function f, ConstView x, View y) override {
    apply(x, y, scalar_function(f));
  }
  void map_gradient(Function f, ConstView x, ConstView dy, View dx) override {
    apply(x, dy, dx, scalar_gradient(f));
  }
  void add(ConstView a, ConstView b, View y) override {
    apply(a, b, y, [](float u, float v) { return u + v; });
  }
  void subtract(ConstView a, ConstView b, View y) override {
    apply(a, b, y, [](float u, float v) { return u - v; });
  }
  void scale(ConstView x, float factor, View y) override {
    apply(x, y, [=](float v) { return v * factor; });
  }
  void move_towards(ConstView x, float factor, float rate, View y) override {
    apply(x, y, y,
          [=](float v, float old) { return fma(rate, v * factor - old, old); });
  }
  void dropout(ConstView x, const Dropout& how, View y) override {
    std::size_t count = common_count(x.shape, y.shape);
    CanonicalFloatMode mode;
    reference::dropout(count, how, host_data(x), host_data(y));
  }

  void sgd(View w, ConstView g, View v, const SgdStep& step) override {
    std::size_t count = common_count(w.shape, g.shape, v.shape);
    CanonicalFloatMode mode;
    float* pw = host_data(w);
    const float* pg = host_data(g);
    float* pv = host_data(v);
    for (std::size_t i = 0; i < count; ++i) {
      float grad = step.weight_decay == 0.0F
                       ? pg[i]
                       : fma(step.weight_decay, pw[i], pg[i]);
      pv[i] = step.momentum == 0.0F ? grad : fma(step.momentum, pv[i], grad);
      pw[i] = fma(-step.learning_rate, pv[i], pw[i]);
    }
  }

  void adamw(View w, ConstView g, View m, View v,
             const AdamWStep& step) override {
    std::size_t count = common_count(w.shape, g.shape, m.shape);
    check(v.shape.count() == count, "sizes differ");
    CanonicalFloatMode mode;
    float* pw = host_data(w);
    const float* pg = host_data(g);
    float* pm = host_data(m);
    float* pv = host_data(v);
    for (std::size_t i = 0; i < count; ++i) {
      float grad = pg[i];
      pm[i] = fma(step.beta1, pm[i], step.one_minus_beta1 * grad);
      pv[i] = fma(step.beta2, pv[i], step.one_minus_beta2 * (grad * grad));
      float u = pm[i] * step.correction1 /
                (std::sqrt(pv[i] * step.correction2) + step.epsilon);
      u = fma(step.weight_decay, pw[i], u);
      pw[i] = fma(-step.learning_rate, u, pw[i]);
    }
  }

  bool all_finite(ConstView x) override {
    return quorate::all_finite({host_data(x), x.shape.count()});
  }

 private:
  template <class F>
  static void apply(const ConstView& x, const View& y, F f) {
    std::size_t count = common_count(x.shape, y.shape);
    CanonicalFloatMode mode;
    const float* px = host_data(x);
    float* py = host_data(y);
    for (std::size_t i = 0; i < count; ++i) py[i] = f(px[i]);
  }
  template <class F>
  static void apply(const ConstView& x, const ConstView& y, const View& z,
                    F f) {
    std::size_t count = common_count(x.shape, y.shape, z.shape);
    CanonicalFloatMode mode;
    const float* px = host_data(x);
    const float* py = host_data(y);
    float* pz = host_data(z);
    for (std::size_t i = 0; i < count; ++i) pz[i] = f(px[i], py[i]);
  }
};

}  // namespace

std::unique_ptr<Backend> make_reference_backend() {
  return std::make_unique<ReferenceBackend>();
}

}  // namespace quorate
