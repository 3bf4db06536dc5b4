#include "kernels/cpu/vector/depthwise.h"

#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/vector/depthwise.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#if HWY_TARGET != HWY_STATIC_TARGET
#include "kernels/cpu/vector/vector-inl.h"
#endif

HWY_BEFORE_NAMESPACE();
namespace quorate::HWY_NAMESPACE {
#if HWY_TARGET != HWY_STATIC_TARGET
namespace {

// Calls f(first channel, lanes) for vectors that cover the channels.
template <class F>
HWY_INLINE void for_vectors(std::size_t channels, const F& f) {
  for (std::size_t at = 0; at < channels; at += kLanes) {
    const std::size_t left = channels - at;
    f(at, left < kLanes ? left : kLanes);
  }
}

HWY_INLINE Vec finished_window(const DepthwiseWindows& n, std::size_t i,
                               std::size_t at, std::size_t lanes, Vec sum) {
  const Finish& f = n.finish;
  return finished(sum, f.bias ? f.bias + at : nullptr,
                  f.addend ? f.addend + n.c_rows[i] + at : nullptr, f.relu,
                  lanes);
}

// The weights of few taps stay in registers; the processor overlaps the sums
// of several windows.
template <std::size_t kTaps>
void few_taps(const DepthwiseWindows& n) {
  for_vectors(n.channels, [&](std::size_t at, std::size_t lanes) HWY_ATTR {
    Vec w[kTaps];
    std::ptrdiff_t taps[kTaps];
    for (std::size_t tap = 0; tap < kTaps; ++tap) {
      w[tap] = load_lanes(n.w + tap * n.channels + at, lanes);
      taps[tap] = n.taps[tap];
    }
    for (std::size_t i = 0; i < n.windows; ++i) {
      const float* r = n.r + n.r_rows[i] + at;
      Vec sum = hn::Zero(kF);
      for (std::size_t tap = 0; tap < kTaps; ++tap) {
        sum = hn::MulAdd(load_lanes(r + taps[tap], lanes), w[tap], sum);
      }
      store_lanes(finished_window(n, i, at, lanes, sum), lanes,
                  n.c + n.c_rows[i] + at);
    }
  });
}

void many_taps(const DepthwiseWindows& n) {
  for (std::size_t i = 0; i < n.windows; ++i) {
    const float* r = n.r + n.r_rows[i];
    for_vectors(n.channels, [&](std::size_t at, std::size_t lanes) HWY_ATTR {
      Vec sum = hn::Zero(kF);
      for (std::size_t tap = 0; tap < n.tap_count; ++tap) {
        sum = hn::MulAdd(load_lanes(r + n.taps[tap] + at, lanes),
                         load_lanes(n.w + tap * n.channels + at, lanes), sum);
      }
      store_lanes(finished_window(n, i, at, lanes, sum), lanes,
                  n.c + n.c_rows[i] + at);
    });
  }
}

// 3x3, and what a stride of 2 leaves of it.
void windows(const DepthwiseWindows& n) {
  switch (n.tap_count) {
    case 9:
      return few_taps<9>(n);
    case 4:
      return few_taps<4>(n);
    case 2:
      return few_taps<2>(n);
    case 1:
      return few_taps<1>(n);
    default:
      return many_taps(n);
  }
}

// Taps [first, first + kTaps) of one vector of channels.
template <std::size_t kTaps>
void add_taps(const DepthwiseSegment& n, std::size_t first, std::size_t at,
              std::size_t lanes) {
  Vec acc[kTaps];
  for (std::size_t j = 0; j < kTaps; ++j) acc[j] = hn::Zero(kF);
  const float* dy = n.dy + at;
  const std::ptrdiff_t* taps = n.taps + first;
  for (const Span* span = n.spans;; ++span) {
    const float* r = n.r + span->offset + at;
    for (std::size_t k = 0; k < span->count; ++k, r += n.r_k, dy += n.dy_k) {
      const Vec gradient = load_lanes(dy, lanes);
      for (std::size_t j = 0; j < kTaps; ++j) {
        acc[j] = hn::MulAdd(load_lanes(r + taps[j], lanes), gradient, acc[j]);
      }
    }
    if (span->ends_segment) break;
  }
  for (std::size_t j = 0; j < kTaps; ++j) {
    float* dw = n.dw + (first + j) * n.w_tap + at;
    const Vec sum = acc[j];
    store_lanes(n.continues ? hn::Add(load_lanes(dw, lanes), sum) : sum, lanes,
                dw);
  }
}

void segment(const DepthwiseSegment& n) {
  for_vectors(n.channels, [&](std::size_t at, std::size_t lanes) HWY_ATTR {
    std::size_t tap = 0;
    for (; tap + 9 <= n.tap_count; tap += 9) add_taps<9>(n, tap, at, lanes);
    for (; tap + 5 <= n.tap_count; tap += 5) add_taps<5>(n, tap, at, lanes);
    for (; tap < n.tap_count; ++tap) add_taps<1>(n, tap, at, lanes);
  });
}

constexpr DepthwiseKernels kTable = {windows, segment};

}  // namespace

const DepthwiseKernels& depthwise_table() {
  return kTable;
}

#endif  // HWY_STATIC_TARGET
}  // namespace quorate::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace quorate {

const DepthwiseKernels& depthwise_kernels(InstructionSet set) {
  return set == InstructionSet::avx512 ? N_AVX3::depthwise_table()
                                       : N_AVX2::depthwise_table();
}

}  // namespace quorate
#endif
