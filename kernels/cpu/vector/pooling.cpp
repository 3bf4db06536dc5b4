// Pooling (docs/numerics.md, section 7) of one image. Compiled once per
// instruction set; vectors run along the channels.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/vector/pooling.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include "kernels/cpu/vector/elementary-inl.h"
#include "kernels/cpu/vector/kernels.h"

HWY_BEFORE_NAMESPACE();
namespace quorate::HWY_NAMESPACE {
#if HWY_TARGET != HWY_STATIC_TARGET
namespace {

// The taps of one window that lie in the image, in increasing order, as
// offsets of their first channel.
struct Window {
  std::size_t taps[kMaxPoolingSize * kMaxPoolingSize];
  std::size_t count = 0;
};

Window window_at(const PoolingSizes& n, const Pooling& how, std::size_t out_row,
                 std::size_t out_col) {
  Window window;
  for (std::size_t kh = 0; kh < how.size; ++kh) {
    // Before the image these wrap to great numbers.
    const std::size_t row = out_row * how.stride + kh - how.padding;
    if (row >= n.in.height) continue;
    for (std::size_t kw = 0; kw < how.size; ++kw) {
      const std::size_t col = out_col * how.stride + kw - how.padding;
      if (col >= n.in.width) continue;
      window.taps[window.count++] = (row * n.in.width + col) * n.in.channels;
    }
  }
  return window;
}

// Calls f(window, offset of the output's first channel, first channel, mask)
// for every window and vector of channels.
template <class F>
HWY_INLINE void for_windows(const PoolingSizes& n, const Pooling& how,
                            const F& f) {
  std::size_t out = 0;
  for (std::size_t row = 0; row < n.out.height; ++row) {
    for (std::size_t col = 0; col < n.out.width; ++col) {
      const Window window = window_at(n, how, row, col);
      for (std::size_t c = 0; c < n.in.channels; c += hn::Lanes(kF)) {
        f(window, out + c, c, hn::FirstN(kF, n.in.channels - c));
      }
      out += n.in.channels;
    }
  }
}

// Where `value` takes the place of `best`: the first of equals stays, a NaN
// always wins.
HWY_INLINE auto is_better(FloatVec value, FloatVec best) {
  return hn::Or(hn::Gt(value, best), hn::IsNaN(value));
}

void max_pool(const PoolingSizes& n, const Pooling& how, const float* x,
              float* y) {
  for_windows(
      n, how,
      [&](const Window& window, std::size_t out, std::size_t c, auto mask)
          HWY_ATTR {
            FloatVec best = hn::MaskedLoad(mask, kF, x + window.taps[0] + c);
            for (std::size_t t = 1; t < window.count; ++t) {
              const FloatVec value =
                  hn::MaskedLoad(mask, kF, x + window.taps[t] + c);
              best = hn::IfThenElse(is_better(value, best), value, best);
            }
            hn::BlendedStore(best, mask, kF, y + out);
          });
}

// Adding +0 to the taps that were not taken changes nothing: dx starts at +0
// and so never is -0.
void max_pool_gradient(const PoolingSizes& n, const Pooling& how,
                       const float* x, const float* dy, float* dx) {
  const std::size_t count = n.in.height * n.in.width * n.in.channels;
  for (std::size_t i = 0; i < count; ++i) dx[i] = 0.0F;
  for_windows(
      n, how,
      [&](const Window& window, std::size_t out, std::size_t c,
          auto mask) HWY_ATTR {
        FloatVec best = hn::MaskedLoad(mask, kF, x + window.taps[0] + c);
        IntVec taken = hn::Zero(kI);
        for (std::size_t t = 1; t < window.count; ++t) {
          const FloatVec value =
              hn::MaskedLoad(mask, kF, x + window.taps[t] + c);
          const auto better = is_better(value, best);
          best = hn::IfThenElse(better, value, best);
          taken = hn::IfThenElse(hn::RebindMask(kI, better),
                                 integer(static_cast<std::uint32_t>(t)), taken);
        }
        const FloatVec slope = hn::MaskedLoad(mask, kF, dy + out);
        for (std::size_t t = 0; t < window.count; ++t) {
          const auto is_taken = hn::RebindMask(
              kF, hn::Eq(taken, integer(static_cast<std::uint32_t>(t))));
          float* to = dx + window.taps[t] + c;
          const FloatVec old = hn::MaskedLoad(mask, kF, to);
          hn::BlendedStore(hn::Add(old, hn::IfThenElseZero(is_taken, slope)),
                           mask, kF, to);
        }
      });
}

void average_pool(const PoolingSizes& n, const Pooling& how, float reciprocal,
                  const float* x, float* y) {
  const FloatVec factor = hn::Set(kF, reciprocal);
  for_windows(n, how,
              [&](const Window& window, std::size_t out, std::size_t c,
                  auto mask) HWY_ATTR {
                FloatVec sum = hn::Zero(kF);
                for (std::size_t t = 0; t < window.count; ++t) {
                  sum = hn::Add(
                      sum, hn::MaskedLoad(mask, kF, x + window.taps[t] + c));
                }
                hn::BlendedStore(hn::Mul(sum, factor), mask, kF, y + out);
              });
}

void average_pool_gradient(const PoolingSizes& n, const Pooling& how,
                           float reciprocal, const float* dy, float* dx) {
  const FloatVec factor = hn::Set(kF, reciprocal);
  const std::size_t count = n.in.height * n.in.width * n.in.channels;
  for (std::size_t i = 0; i < count; ++i) dx[i] = 0.0F;
  for_windows(n, how,
              [&](const Window& window, std::size_t out, std::size_t c,
                  auto mask) HWY_ATTR {
                const FloatVec slope =
                    hn::Mul(hn::MaskedLoad(mask, kF, dy + out), factor);
                for (std::size_t t = 0; t < window.count; ++t) {
                  float* to = dx + window.taps[t] + c;
                  hn::BlendedStore(hn::Add(hn::MaskedLoad(mask, kF, to), slope),
                                   mask, kF, to);
                }
              });
}

constexpr PoolingKernels kTable = {max_pool, max_pool_gradient, average_pool,
                                   average_pool_gradient};

}  // namespace

const PoolingKernels& pooling_table() {
  return kTable;
}

#endif  // HWY_STATIC_TARGET
}  // namespace quorate::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace quorate {

const PoolingKernels& pooling_kernels(InstructionSet set) {
  return set == InstructionSet::avx512 ? N_AVX3::pooling_table()
                                       : N_AVX2::pooling_table();
}

}  // namespace quorate
#endif
