#include "kernels/reference/reference_backend.h"

#include <algorithm>
#include <vector>

#include "base/arithmetic.h"
#include "base/error.h"
#include "kernels/elementary.h"
#include "kernels/float_environment.h"
#include "kernels/host_memory.h"
#include "kernels/reference/convolution.h"
#include "kernels/reference/segment_sum.h"
#include "kernels/shapes.h"

namespace quorate {
namespace {

constexpr std::size_t kRowSegment = 64;  // section 5, R2
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

// The pair level of section 5.
float add_in_pairs(std::vector<float> values) {
  if (values.empty()) return 0.0F;
  while (values.size() > 1) {
    std::vector<float> next;
    for (std::size_t i = 0; i + 1 < values.size(); i += 2) {
      next.push_back(values[i] + values[i + 1]);
    }
    if (values.size() % 2 == 1) next.push_back(values.back());
    values = std::move(next);
  }
  return values[0];
}

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
              Transpose transpose_b, View c, Accumulate accumulate) override {
    MatmulSizes n = matmul_sizes(a, transpose_a, b, transpose_b, c);
    bool at = transpose_a == Transpose::yes;
    bool bt = transpose_b == Transpose::yes;
    CanonicalFloatMode mode;
    const float* pa = host_data(a);
    const float* pb = host_data(b);
    float* pc = host_data(c);
    for (std::size_t row = 0; row < n.rows; ++row) {
      for (std::size_t col = 0; col < n.cols; ++col) {
        float total = product_element(
            pa + (at ? row : row * n.depth), at ? n.rows : 1,
            pb + (bt ? col * n.depth : col), bt ? 1 : n.cols, n.depth);
        float& out = pc[row * n.cols + col];
        out = accumulate == Accumulate::yes ? out + total : total;
      }
    }
  }

  void conv2d(ConstView x, ConstView w, const Convolution& how,
              View y) override {
    ConvolutionSizes n = convolution_sizes(x.shape, w.shape, how, y.shape);
    CanonicalFloatMode mode;
    reference::conv2d(n, host_data(x), host_data(w), host_data(y));
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
      std::vector<float> segments;
      for (std::size_t s = 0; s < n.rows; s += kRowSegment) {
        float acc = 0.0F;
        std::size_t end = std::min(s + kRowSegment, n.rows);
        for (std::size_t r = s; r < end; ++r) acc = acc + px[r * n.cols + col];
        segments.push_back(acc);
      }
      py[col] = add_in_pairs(std::move(segments));
    }
  }

  float sum(ConstView x) override {
    CanonicalFloatMode mode;
    return sum_r1({host_data(x), x.shape.count()});
  }

  void relu(ConstView x, View y) override {
    map(x, y, [](float v) { return v <= 0.0F ? 0.0F : v; });
  }
  void relu_gradient(ConstView x, ConstView dy, View dx) override {
    map(x, dy, dx, [](float v, float dv) { return v > 0.0F ? dv : 0.0F; });
  }
  void exp(ConstView x, View y) override { map(x, y, canonical_exp); }
  void log(ConstView x, View y) override { map(x, y, canonical_log); }
  void subtract(ConstView a, ConstView b, View y) override {
    map(a, b, y, [](float u, float v) { return u - v; });
  }

  void softmax_cross_entropy(ConstView logits,
                             std::span<const std::uint8_t> targets, float scale,
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
      for (std::size_t j = 0; j < n.cols; ++j) dx[j] = canonical_exp(x[j] - m);
      float s = sum_r1({dx, n.cols});
      float r = 1.0F / s;
      for (std::size_t j = 0; j < n.cols; ++j) {
        float p = dx[j] * r;
        dx[j] = (p - (j == targets[row] ? 1.0F : 0.0F)) * scale;
      }
      loss[row] = canonical_log(s) + m - x[targets[row]];
    }
  }

  std::size_t count_correct(ConstView logits,
                            std::span<const std::uint8_t> targets) override {
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

  bool all_finite(ConstView x) override {
    return quorate::all_finite({host_data(x), x.shape.count()});
  }

 private:
  template <class F>
  static void map(const ConstView& x, const View& y, F f) {
    std::size_t count = common_count(x.shape, y.shape);
    CanonicalFloatMode mode;
    const float* px = host_data(x);
    float* py = host_data(y);
    for (std::size_t i = 0; i < count; ++i) py[i] = f(px[i]);
  }
  template <class F>
  static void map(const ConstView& x, const ConstView& y, const View& z, F f) {
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
