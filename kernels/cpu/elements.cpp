#include "kernels/cpu/elements.h"

#include <atomic>

#include "base/error.h"
#include "kernels/host_memory.h"
#include "kernels/shapes.h"

namespace quorate {

void Elements::pixels(View to, std::span<const std::uint8_t> from) {
  check(from.size() == to.shape.count(), "upload of another size");
  float* y = host_data(to);
  tasks_.for_pieces(from.size(), [&](std::size_t i, std::size_t n) {
    kernels_.pixels(from.data() + i, y + i, n);
  });
}

void Elements::map(Function f, ConstView x, View y) {
  auto function = kernels_.functions[static_cast<std::size_t>(f)];
  const float* px = host_data(x);
  float* py = host_data(y);
  tasks_.for_pieces(
      common_count(x.shape, y.shape),
      [&](std::size_t i, std::size_t n) { function(px + i, py + i, n); });
}

void Elements::map_gradient(Function f, ConstView x, ConstView dy, View dx) {
  auto gradient = kernels_.gradients[static_cast<std::size_t>(f)];
  check(gradient != nullptr, "a function that has a gradient");
  const float* px = host_data(x);
  const float* pdy = host_data(dy);
  float* pdx = host_data(dx);
  tasks_.for_pieces(common_count(x.shape, dy.shape, dx.shape),
                    [&](std::size_t i, std::size_t n) {
                      gradient(px + i, pdy + i, pdx + i, n);
                    });
}

void Elements::add(ConstView a, ConstView b, View y) {
  const float* pa = host_data(a);
  const float* pb = host_data(b);
  float* py = host_data(y);
  tasks_.for_pieces(common_count(a.shape, b.shape, y.shape),
                    [&](std::size_t i, std::size_t n) {
                      kernels_.add(pa + i, pb + i, py + i, n);
                    });
}

void Elements::subtract(ConstView a, ConstView b, View y) {
  const float* pa = host_data(a);
  const float* pb = host_data(b);
  float* py = host_data(y);
  tasks_.for_pieces(common_count(a.shape, b.shape, y.shape),
                    [&](std::size_t i, std::size_t n) {
                      kernels_.subtract(pa + i, pb + i, py + i, n);
                    });
}

void Elements::add_bias(View x, ConstView bias) {
  MatrixSizes n = column_sizes(x.shape, bias.shape);
  float* px = host_data(x);
  const float* pb = host_data(bias);
  tasks_.for_rows(n, [&](std::size_t row) {
    float* at = px + row * n.cols;
    kernels_.add(at, pb, at, n.cols);
  });
}

void Elements::scale(ConstView x, float factor, View y) {
  const float* px = host_data(x);
  float* py = host_data(y);
  tasks_.for_pieces(common_count(x.shape, y.shape),
                    [&](std::size_t i, std::size_t n) {
                      kernels_.scale(px + i, factor, py + i, n);
                    });
}

void Elements::move_towards(ConstView x, float factor, float rate, View y) {
  const float* px = host_data(x);
  float* py = host_data(y);
  tasks_.for_pieces(common_count(x.shape, y.shape),
                    [&](std::size_t i, std::size_t n) {
                      kernels_.move_towards(px + i, factor, rate, py + i, n);
                    });
}

void Elements::dropout(ConstView x, const Dropout& how, View y) {
  static_assert(kGrain % 4 == 0, "pieces begin with a block of random words");
  const float* px = host_data(x);
  float* py = host_data(y);
  tasks_.for_pieces(common_count(x.shape, y.shape),
                    [&](std::size_t i, std::size_t n) {
                      kernels_.dropout(px + i, how, i, py + i, n);
                    });
}

void Elements::sgd(View w, ConstView g, View v, const SgdStep& step) {
  float* pw = host_data(w);
  const float* pg = host_data(g);
  float* pv = host_data(v);
  tasks_.for_pieces(common_count(w.shape, g.shape, v.shape),
                    [&](std::size_t i, std::size_t n) {
                      kernels_.sgd(pw + i, pg + i, pv + i, step, n);
                    });
}

void Elements::adamw(View w, ConstView g, View m, View v,
                     const AdamWStep& step) {
  std::size_t count = common_count(w.shape, g.shape, m.shape);
  check(v.shape.count() == count, "sizes differ");
  float* pw = host_data(w);
  const float* pg = host_data(g);
  float* pm = host_data(m);
  float* pv = host_data(v);
  tasks_.for_pieces(count, [&](std::size_t i, std::size_t n) {
    kernels_.adamw(pw + i, pg + i, pm + i, pv + i, step, n);
  });
}

bool Elements::all_finite(ConstView x) {
  const float* px = host_data(x);
  std::atomic<bool> finite = true;
  tasks_.for_pieces(x.shape.count(), [&](std::size_t i, std::size_t n) {
    if (!kernels_.all_finite(px + i, n)) finite = false;
  });
  return finite;
}

}  // namespace quorate
