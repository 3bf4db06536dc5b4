// Normalization of pieces and rows (docs/numerics.md, section 7). Compiled once
// per instruction set; vectors run along the channels.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/normalization_kernels.cpp"
#include "kernels/cpu/normalization_kernels.h"

#include <cmath>

#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include "kernels/cpu/elementary-inl.h"
#include "kernels/cpu/sums-inl.h"

HWY_BEFORE_NAMESPACE();
namespace quorate::HWY_NAMESPACE {
#if HWY_TARGET != HWY_STATIC_TARGET
namespace {

// Constants of the channels of a vector: loaded, or the same for all.
struct PerChannel {
  const ChannelConstants& of;

  template <class At>
  HWY_INLINE FloatVec mean(const At& at) const {
    return at.load(of.mean);
  }
  template <class At>
  HWY_INLINE FloatVec rs(const At& at) const {
    return at.load(of.rs);
  }
  template <class At>
  HWY_INLINE FloatVec gamma(const At& at) const {
    return at.load(of.gamma);
  }
  template <class At>
  HWY_INLINE FloatVec beta(const At& at) const {
    return at.load(of.beta);
  }
};

struct PerRow {
  float mean_, rs_;
  const float* gamma_;
  const float* beta_;

  PerRow(const RowStatistics& row, const float* gamma, const float* beta,
         float epsilon)
      : mean_(row.mean),
        rs_(1.0F / std::sqrt(row.variance + epsilon)),
        gamma_(gamma),
        beta_(beta) {}

  template <class At>
  HWY_INLINE FloatVec mean(const At&) const {
    return hn::Set(kF, mean_);
  }
  template <class At>
  HWY_INLINE FloatVec rs(const At&) const {
    return hn::Set(kF, rs_);
  }
  template <class At>
  HWY_INLINE FloatVec gamma(const At& at) const {
    return at.load(gamma_);
  }
  template <class At>
  HWY_INLINE FloatVec beta(const At& at) const {
    return at.load(beta_);
  }
};

template <class Constants, class At>
HWY_INLINE FloatVec standardized(const float* x, const Constants& of,
                                 const At& at) {
  return hn::Mul(hn::Sub(at.load(x), of.mean(at)), of.rs(at));
}

template <bool kRelu, class Constants>
HWY_INLINE void normalize_pixel(const float* x, const Constants& of,
                                std::size_t cols, float* y) {
  for_vectors(0, cols, [&](auto at) HWY_ATTR {
    const FloatVec value =
        hn::MulAdd(standardized(x, of, at), of.gamma(at), of.beta(at));
    at.store(kRelu ? canonical_relu(value) : value, y);
  });
}

// xh, and dy after the relu, if there is one.
struct Element {
  FloatVec xh;
  FloatVec dy;
};
template <bool kRelu, class Constants, class At>
HWY_INLINE Element element(const float* x, const float* dy, const Constants& of,
                           const At& at) {
  const FloatVec xh = standardized(x, of, at);
  const FloatVec slope = at.load(dy);
  if constexpr (!kRelu) return {xh, slope};
  const FloatVec y = hn::MulAdd(xh, of.gamma(at), of.beta(at));
  return {xh, canonical_relu_gradient(y, slope)};
}

template <bool kRelu, class Constants>
HWY_INLINE void pixel_gradient(const float* x, const float* dy,
                               const Constants& of, auto c1, auto c2,
                               std::size_t cols, float* dx) {
  for_vectors(0, cols, [&](auto at) HWY_ATTR {
    const Element e = element<kRelu>(x, dy, of, at);
    const FloatVec own = hn::Sub(hn::Mul(e.dy, of.gamma(at)), c1(at));
    at.store(hn::Mul(of.rs(at), hn::NegMulAdd(e.xh, c2(at), own)), dx);
  });
}

// --- Pieces of an image.

void square_sums(const float* x, const float* mean, std::size_t rows,
                 std::size_t cols, float* to) {
  for_segments(
      rows, [&](std::size_t first, std::size_t count, std::size_t i) HWY_ATTR {
        const float* from = x + first * cols;
        segment_sum<1>(count, cols,
                       [&](FloatVec* acc, std::size_t r, auto at) HWY_ATTR {
                         const FloatVec d =
                             hn::Sub(at.load(from + r * cols), at.load(mean));
                         acc[0] = hn::MulAdd(d, d, acc[0]);
                       },
                       {to + i * cols});
      });
}

template <bool kRelu>
void normalize_rows(const float* x, const ChannelConstants& of,
                    std::size_t rows, std::size_t cols, float* y) {
  for (std::size_t r = 0; r < rows; ++r) {
    normalize_pixel<kRelu>(x + r * cols, PerChannel{of}, cols, y + r * cols);
  }
}
void normalize(const float* x, const ChannelConstants& of, bool relu,
               std::size_t rows, std::size_t cols, float* y) {
  (relu ? normalize_rows<true> : normalize_rows<false>)(x, of, rows, cols, y);
}

template <bool kRelu>
void rows_gradient_sums(const GradientPiece& piece, const ChannelConstants& of,
                        std::size_t rows, std::size_t cols, float* slopes,
                        float* products) {
  for_segments(
      rows, [&](std::size_t first, std::size_t count, std::size_t i) HWY_ATTR {
        const float* x = piece.x + first * cols;
        const float* dy = piece.dy + first * cols;
        segment_sum<2>(count, cols,
                       [&](FloatVec* acc, std::size_t r, auto at) HWY_ATTR {
                         const Element e = element<kRelu>(
                             x + r * cols, dy + r * cols, PerChannel{of}, at);
                         acc[0] = hn::Add(acc[0], e.dy);
                         acc[1] = hn::MulAdd(e.dy, e.xh, acc[1]);
                       },
                       {slopes + i * cols, products + i * cols});
      });
}
void gradient_sums(const GradientPiece& piece, const ChannelConstants& of,
                   bool relu, std::size_t rows, std::size_t cols, float* slopes,
                   float* products) {
  (relu ? rows_gradient_sums<true>
        : rows_gradient_sums<false>)(piece, of, rows, cols, slopes, products);
}

template <bool kRelu>
void rows_gradient(const GradientPiece& piece, const ChannelConstants& of,
                   const MeanSlopes& means, std::size_t rows,
                   std::size_t cols) {
  for (std::size_t r = 0; r < rows; ++r) {
    const std::size_t at_row = r * cols;
    pixel_gradient<kRelu>(
        piece.x + at_row, piece.dy + at_row, PerChannel{of},
        [&](auto at) HWY_ATTR { return at.load(means.c1); },
        [&](auto at) HWY_ATTR { return at.load(means.c2); }, cols,
        piece.dx + at_row);
  }
}
void gradient(const GradientPiece& piece, const ChannelConstants& of,
              const MeanSlopes& means, bool relu, std::size_t rows,
              std::size_t cols) {
  (relu ? rows_gradient<true> : rows_gradient<false>)(piece, of, means, rows,
                                                      cols);
}

// --- Rows of a layer norm. The R2 sum over its one pixel is add or fma to +0.

RowStatistics row_statistics(const float* x, std::size_t cols) {
  const auto count = static_cast<float>(cols);
  const float mean =
      sum_blocks(cols, [=](FloatVec* acc, auto at)
                           HWY_ATTR { acc[0] = hn::Add(acc[0], at.load(x)); }) /
      count;
  const FloatVec mean_all = hn::Set(kF, mean);
  const float squares = sum_blocks(cols, [=](FloatVec* acc, auto at) HWY_ATTR {
    const FloatVec d = hn::Sub(at.load(x), mean_all);
    const FloatVec square = hn::MulAdd(d, d, hn::Zero(kF));
    acc[0] = at.keep(hn::Add(acc[0], square), acc[0]);
  });
  return {mean, squares / count};
}

void normalize_row(const float* x, const RowStatistics& row, const float* gamma,
                   const float* beta, const Normalization& how,
                   std::size_t cols, float* y) {
  const PerRow of(row, gamma, beta, how.epsilon);
  if (how.relu) return normalize_pixel<true>(x, of, cols, y);
  normalize_pixel<false>(x, of, cols, y);
}

template <bool kRelu>
HWY_INLINE void one_row_gradient(const GradientPiece& piece, const PerRow& of,
                                 std::size_t cols, float* slopes,
                                 float* products) {
  float sums[2];
  sum_blocks(
      cols,
      [&](FloatVec* acc, auto at) HWY_ATTR {
        const Element e = element<kRelu>(piece.x, piece.dy, of, at);
        const FloatVec zero = hn::Zero(kF);
        const FloatVec slope = hn::Add(zero, e.dy);
        const FloatVec product = hn::MulAdd(e.dy, e.xh, zero);
        at.store(hn::Add(at.load(slopes), slope), slopes);
        at.store(hn::Add(at.load(products), product), products);
        const FloatVec gamma = of.gamma(at);
        acc[0] = at.keep(hn::MulAdd(slope, gamma, acc[0]), acc[0]);
        acc[1] = at.keep(hn::MulAdd(product, gamma, acc[1]), acc[1]);
      },
      sums);
  const auto count = static_cast<float>(cols);
  const FloatVec c1 = hn::Set(kF, sums[0] / count);
  const FloatVec c2 = hn::Set(kF, sums[1] / count);
  pixel_gradient<kRelu>(
      piece.x, piece.dy, of, [&](auto) HWY_ATTR { return c1; },
      [&](auto) HWY_ATTR { return c2; }, cols, piece.dx);
}
void row_gradient(const GradientPiece& piece, const RowStatistics& row,
                  const float* gamma, const float* beta,
                  const Normalization& how, std::size_t cols, float* slopes,
                  float* products) {
  const PerRow of(row, gamma, beta, how.epsilon);
  if (how.relu) {
    return one_row_gradient<true>(piece, of, cols, slopes, products);
  }
  one_row_gradient<false>(piece, of, cols, slopes, products);
}

constexpr NormalizationKernels kTable = {
    square_sums,    normalize,     gradient_sums, gradient,
    row_statistics, normalize_row, row_gradient};

}  // namespace

const NormalizationKernels& normalization_table() {
  return kTable;
}

#endif  // HWY_STATIC_TARGET
}  // namespace quorate::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace quorate {

const NormalizationKernels& normalization_kernels(InstructionSet set) {
  return set == InstructionSet::avx512 ? N_AVX3::normalization_table()
                                       : N_AVX2::normalization_table();
}

}  // namespace quorate
#endif
