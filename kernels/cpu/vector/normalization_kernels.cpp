// Normalization of pieces and rows (docs/numerics.md, section 7). Compiled once
// per instruction set; vectors run along the channels.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/vector/normalization_kernels.cpp"
#include "kernels/cpu/vector/normalization_kernels.h"

#include <cmath>

#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include "kernels/cpu/vector/elementary-inl.h"
#include "kernels/cpu/vector/sums-inl.h"

HWY_BEFORE_NAMESPACE();
namespace quorate::HWY_NAMESPACE {
#if HWY_TARGET != HWY_STATIC_TARGET
namespace {

// A constant of every channel, or one for all.
struct PerChannel {
  const float* values;

  template <class At>
  HWY_INLINE FloatVec operator()(const At& at) const {
    return at.load(values);
  }
};
struct ForAll {
  float value;

  template <class At>
  HWY_INLINE FloatVec operator()(const At&) const {
    return hn::Set(kF, value);
  }
};

template <class Statistic>
struct Constants {
  Statistic mean, rs;
  PerChannel gamma, beta;
};

Constants<PerChannel> constants_of(const ChannelConstants& of) {
  return {{of.mean}, {of.rs}, {of.gamma}, {of.beta}};
}
Constants<ForAll> constants_of(const RowStatistics& row, const float* gamma,
                               const float* beta, float epsilon) {
  const float rs = 1.0F / std::sqrt(row.variance + epsilon);
  return {{row.mean}, {rs}, {gamma}, {beta}};
}

template <class S, class At>
HWY_INLINE FloatVec standardized(const float* x, const Constants<S>& of,
                                 const At& at) {
  return hn::Mul(hn::Sub(at.load(x), of.mean(at)), of.rs(at));
}

template <bool kRelu, class S>
HWY_INLINE void normalize_pixel(const float* x, const Constants<S>& of,
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
template <bool kRelu, class S, class At>
HWY_INLINE Element element(const float* x, const float* dy,
                           const Constants<S>& of, const At& at) {
  const FloatVec xh = standardized(x, of, at);
  const FloatVec slope = at.load(dy);
  if constexpr (!kRelu) return {xh, slope};
  const FloatVec y = hn::MulAdd(xh, of.gamma(at), of.beta(at));
  return {xh, canonical_relu_gradient(y, slope)};
}

template <bool kRelu, class S>
HWY_INLINE void pixel_gradient(const float* x, const float* dy,
                               const Constants<S>& of, S c1, S c2,
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
void normalize_pixels(const float* x, const Constants<PerChannel>& of,
                      std::size_t rows, std::size_t cols, float* y) {
  for (std::size_t r = 0; r < rows; ++r) {
    normalize_pixel<kRelu>(x + r * cols, of, cols, y + r * cols);
  }
}
void normalize(const float* x, const ChannelConstants& of, bool relu,
               std::size_t rows, std::size_t cols, float* y) {
  const auto use = relu ? normalize_pixels<true> : normalize_pixels<false>;
  use(x, constants_of(of), rows, cols, y);
}

template <bool kRelu>
void sum_gradients(const GradientPiece& piece, const Constants<PerChannel>& of,
                   std::size_t rows, std::size_t cols, float* slopes,
                   float* products) {
  for_segments(rows, [&](std::size_t first, std::size_t count,
                         std::size_t i) HWY_ATTR {
    const float* x = piece.x + first * cols;
    const float* dy = piece.dy + first * cols;
    const auto term = [&](FloatVec* acc, std::size_t r, auto at) HWY_ATTR {
      const Element e = element<kRelu>(x + r * cols, dy + r * cols, of, at);
      acc[0] = hn::Add(acc[0], e.dy);
      acc[1] = hn::MulAdd(e.dy, e.xh, acc[1]);
    };
    segment_sum<2>(count, cols, term, {slopes + i * cols, products + i * cols});
  });
}
void gradient_sums(const GradientPiece& piece, const ChannelConstants& of,
                   bool relu, std::size_t rows, std::size_t cols, float* slopes,
                   float* products) {
  const auto use = relu ? sum_gradients<true> : sum_gradients<false>;
  use(piece, constants_of(of), rows, cols, slopes, products);
}

template <bool kRelu>
void pixel_gradients(const GradientPiece& piece,
                     const Constants<PerChannel>& of, const MeanSlopes& means,
                     std::size_t rows, std::size_t cols) {
  for (std::size_t r = 0; r < rows; ++r) {
    const std::size_t first = r * cols;
    pixel_gradient<kRelu>(piece.x + first, piece.dy + first, of,
                          PerChannel{means.c1}, PerChannel{means.c2}, cols,
                          piece.dx + first);
  }
}
void gradient(const GradientPiece& piece, const ChannelConstants& of,
              const MeanSlopes& means, bool relu, std::size_t rows,
              std::size_t cols) {
  const auto use = relu ? pixel_gradients<true> : pixel_gradients<false>;
  use(piece, constants_of(of), means, rows, cols);
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
  const auto use =
      how.relu ? normalize_pixel<true, ForAll> : normalize_pixel<false, ForAll>;
  use(x, constants_of(row, gamma, beta, how.epsilon), cols, y);
}

template <bool kRelu>
void one_row_gradient(const GradientPiece& piece, const Constants<ForAll>& of,
                      std::size_t cols, float* slopes, float* products) {
  const auto term = [&](FloatVec* acc, auto at) HWY_ATTR {
    const Element e = element<kRelu>(piece.x, piece.dy, of, at);
    const FloatVec slope = hn::Add(hn::Zero(kF), e.dy);
    const FloatVec product = hn::MulAdd(e.dy, e.xh, hn::Zero(kF));
    at.store(hn::Add(at.load(slopes), slope), slopes);
    at.store(hn::Add(at.load(products), product), products);
    const FloatVec gamma = of.gamma(at);
    acc[0] = at.keep(hn::MulAdd(slope, gamma, acc[0]), acc[0]);
    acc[1] = at.keep(hn::MulAdd(product, gamma, acc[1]), acc[1]);
  };
  float sums[2];
  sum_blocks(cols, term, sums);
  const auto count = static_cast<float>(cols);
  pixel_gradient<kRelu>(piece.x, piece.dy, of, ForAll{sums[0] / count},
                        ForAll{sums[1] / count}, cols, piece.dx);
}
void row_gradient(const GradientPiece& piece, const RowStatistics& row,
                  const float* gamma, const float* beta,
                  const Normalization& how, std::size_t cols, float* slopes,
                  float* products) {
  const auto use = how.relu ? one_row_gradient<true> : one_row_gradient<false>;
  use(piece, constants_of(row, gamma, beta, how.epsilon), cols, slopes,
      products);
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
