#include "kernels/gpu/products.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"

namespace quorate {
namespace {

constexpr std::uint32_t kSegment = 256;
// Groups of convolutions with fewer channels than this would leave most of a
// tile empty.
constexpr std::uint32_t kNarrow = 8;
// Groups that keep one compute unit busy.
constexpr std::uint64_t kGroupsPerUnit = 4;
// More would make one group take too long.
constexpr std::uint32_t kMostSegments = 64;
// Elements of partial sums that memory is taken for, 64 MiB.
constexpr std::uint64_t kMostPartials = 1 << 24;

std::uint64_t ceil_div(std::uint64_t a, std::uint64_t b) {
  return (a + b - 1) / b;
}

std::uint64_t tiles(const QProduct& p, std::uint32_t tile) {
  return ceil_div(p.rows, tile) * ceil_div(p.cols, tile) * p.matrices;
}

bool is_convolution(ProductKind kind) {
  return kind >= ProductKind::convolution;
}

bool is_narrow(const QProduct& p, ProductKind kind) {
  if (!is_convolution(kind) || p.matrices == 1) return false;
  return p.cols < kNarrow ||
         (kind == ProductKind::convolution_dw && p.rows < kNarrow);
}

GpuKernel kernel_of(ProductKind kind, const ProductPlan& plan) {
  using enum GpuKernel;
  constexpr GpuKernel kTiled[][2] = {
      {product_ab_64, product_ab_128},
      {product_atb_64, product_atb_128},
      {product_abt_64, product_abt_128},
      {convolution_64, convolution_128},
      {convolution_dx_64, convolution_dx_128},
      {convolution_dw_64, convolution_dw_128},
  };
  if (plan.is_narrow) {
    return kind == ProductKind::convolution      ? narrow_convolution
           : kind == ProductKind::convolution_dx ? narrow_convolution_dx
                                                 : narrow_convolution_dw;
  }
  return kTiled[static_cast<std::size_t>(kind)][plan.tile == 128 ? 1 : 0];
}

GpuWork work_of(const QProduct& p, const ProductPlan& plan,
                std::uint64_t parts) {
  double depth = std::min(p.depth, plan.segments_per_group * kSegment);
  // A narrow one reads both factors for each product.
  double results = plan.is_narrow ? 1024.0 * 8 : plan.tile * plan.tile;
  return {plan.groups_per_part * parts, results * (depth + kElementCost)};
}

// Sums of some segments at a time go to memory and are added in order.
void run_split(GpuQueue& queue, ProductKind kind, QProduct p,
               const QConvolution& n, const ProductPlaces& places,
               const ProductPlan& plan) {
  std::uint64_t count = std::uint64_t{p.rows} * p.cols * p.matrices;
  std::uint32_t most = plan.segments_per_round;
  GpuPlace partials = queue.scratch(Scratch::partials, count * most);
  GpuPlace totals =
      queue.scratch(Scratch::totals, most < plan.segments ? count : 1);
  p.segments_per_group = 1;
  p.is_partial = 1;
  for (std::uint32_t first = 0; first < plan.segments; first += most) {
    std::uint32_t parts = std::min(most, plan.segments - first);
    p.first_segment = first;
    p.segments = parts;
    ProductPlan round = plan;
    if (plan.is_narrow) round.groups_per_part = ceil_div(count * parts, 1024);
    queue.launch(kernel_of(kind, plan),
                 work_of(p, round, plan.is_narrow ? 1 : parts), places.a,
                 places.b, partials, partials, places.bias, places.addend, p, n,
                 QEpilogue{});
    std::uint32_t is_last = first + parts == plan.segments ? 1 : 0;
    queue.launch(GpuKernel::add_segments,
                 elements(count, kReadCost * (parts + 4)), partials, totals,
                 places.c, places.bias, places.addend, p, n, places.then, parts,
                 static_cast<std::uint32_t>(kind), is_last);
  }
}

// What all three passes share.
QConvolution convolution_of(const ConvolutionSizes& n) {
  QConvolution c{};
  c.in_height = gpu_word(n.in.height);
  c.in_width = gpu_word(n.in.width);
  c.in_channels = gpu_word(n.in.channels);
  c.out_height = gpu_word(n.out.height);
  c.out_width = gpu_word(n.out.width);
  c.out_channels = gpu_word(n.out.channels);
  c.kernel_width = gpu_word(n.kernel_width);
  c.group_in = gpu_word(n.in_channels());
  c.group_out = gpu_word(n.out_channels());
  c.stride = gpu_word(n.stride);
  c.padding = gpu_word(n.padding);
  c.by_image = divisor_of(gpu_word(n.out.height * n.out.width));
  c.by_row = divisor_of(c.out_width);
  c.by_channels = divisor_of(c.group_in);
  c.by_width = divisor_of(c.kernel_width);
  return c;
}

// Groups are matrices whose columns lie side by side.
QProduct group_product(const ConvolutionSizes& n) {
  QProduct p{};
  p.matrices = gpu_word(n.groups);
  p.inner = p.matrices;
  return p;
}

// Input pixels along one axis whose windows lie on the taps phase, phase +
// stride, ...
struct Phase {
  std::size_t taps;    // how many
  std::size_t first;   // the first such pixel
  std::size_t pixels;  // how many
  std::size_t shift;   // the output pixel of that tap and pixel
};
Phase phase_of(std::size_t phase, std::size_t kernel, std::size_t stride,
               std::size_t padding, std::size_t in) {
  std::size_t first = (phase + stride - padding % stride) % stride;
  return {phase < kernel ? ceil_div(kernel - phase, stride) : 0, first,
          first < in ? ceil_div(in - first, stride) : 0,
          (first + padding - phase) / stride};
}

void input_gradient_of_phase(GpuQueue& queue, const ConvolutionSizes& n,
                             const Phase& rows, const Phase& cols,
                             QConvolution c, const ProductPlaces& places) {
  if (rows.pixels == 0 || cols.pixels == 0) return;
  c.first_row = gpu_word(rows.first);
  c.first_col = gpu_word(cols.first);
  c.shift_row = gpu_word(rows.shift);
  c.shift_col = gpu_word(cols.shift);
  c.by_image = divisor_of(gpu_word(rows.pixels * cols.pixels));
  c.by_row = divisor_of(gpu_word(cols.pixels));
  c.by_channels = divisor_of(c.group_out);
  c.by_width = divisor_of(std::max<std::uint32_t>(1, gpu_word(cols.taps)));
  QProduct p = group_product(n);
  p.rows = gpu_word(n.in.images * rows.pixels * cols.pixels);
  p.cols = c.group_in;
  p.depth = gpu_word(rows.taps * cols.taps * c.group_out);
  p.c_inner = c.group_in;
  p.c_stride = c.in_channels;
  run_product(queue, ProductKind::convolution_dx, p, c, places);
}

}  // namespace

std::uint32_t gpu_word(std::size_t value) {
  if (value < std::size_t{1} << 31) return static_cast<std::uint32_t>(value);
  throw Error(ErrorKind::unsupported,
              fmt::format("an array with {} of something along one direction: "
                          "GPUs take less than 2^31; use the device \"cpu\"",
                          value));
}

QDivisor divisor_of(std::uint32_t divisor) {
  std::uint32_t shift = 0;
  while ((std::uint64_t{1} << shift) < divisor) ++shift;
  std::uint64_t excess = (std::uint64_t{1} << shift) - divisor;
  return {divisor, static_cast<std::uint32_t>((excess << 32) / divisor + 1),
          shift};
}

ProductPlan plan_product(const QProduct& p, ProductKind kind,
                         std::uint32_t compute_units) {
  ProductPlan plan;
  plan.is_narrow = is_narrow(p, kind);
  // Blocks of positions are tiles of 64 rows.
  bool may_be_large =
      !plan.is_narrow && p.range == Q_ALL_K && p.rows > 64 && p.cols > 64;
  if (may_be_large && tiles(p, 128) >= compute_units) plan.tile = 128;
  std::uint64_t results = std::uint64_t{p.rows} * p.cols * p.matrices;
  plan.groups_per_part =
      plan.is_narrow ? ceil_div(results, 1024) : tiles(p, plan.tile);
  plan.segments = std::max<std::uint32_t>(
      1, static_cast<std::uint32_t>(ceil_div(p.depth, kSegment)));
  plan.segments_per_group = plan.segments;
  plan.segments_per_round = plan.segments;
  bool is_enough = plan.groups_per_part >= kGroupsPerUnit * compute_units &&
                   plan.segments <= kMostSegments;
  if (is_enough || p.range != Q_ALL_K || results == 0) return plan;
  plan.segments_per_group = 1;
  plan.segments_per_round = static_cast<std::uint32_t>(
      std::clamp<std::uint64_t>(kMostPartials / results, 1, plan.segments));
  return plan;
}

void run_product(GpuQueue& queue, ProductKind kind, const QProduct& product,
                 const QConvolution& n, const ProductPlaces& places) {
  QProduct p = product;
  ProductPlan plan = plan_product(p, kind, queue.device().compute_units());
  if (p.rows == 0 || p.cols == 0 || p.matrices == 0) return;
  if (plan.is_split()) return run_split(queue, kind, p, n, places, plan);
  p.segments = plan.segments;
  p.segments_per_group = plan.segments;
  // Sums wait in c for their last segment, unless what lies there is added.
  GpuPlace totals = places.c;
  if (places.then.has_addend != 0 && plan.segments > 1) {
    totals = queue.scratch(Scratch::totals, std::uint64_t{p.rows} * p.c_stride);
  }
  queue.launch(kernel_of(kind, plan), work_of(p, plan, 1), places.a, places.b,
               places.c, totals, places.bias, places.addend, p, n, places.then);
}

void gpu_conv2d(GpuQueue& queue, const ConvolutionSizes& n,
                const ProductPlaces& x_w_y) {
  QConvolution c = convolution_of(n);
  QProduct p = group_product(n);
  p.rows = gpu_word(n.out.pixels());
  p.cols = c.group_out;
  p.depth = gpu_word(n.weight_rows());
  p.b_inner = c.group_out;
  p.b_stride = c.out_channels;
  p.c_inner = c.group_out;
  p.c_stride = c.out_channels;
  run_product(queue, ProductKind::convolution, p, c, x_w_y);
}

void gpu_conv2d_input_gradient(GpuQueue& queue, const ConvolutionSizes& n,
                               const ProductPlaces& dy_w_dx) {
  QConvolution c = convolution_of(n);
  for (std::size_t row = 0; row < n.stride; ++row) {
    for (std::size_t col = 0; col < n.stride; ++col) {
      c.phase_row = gpu_word(row);
      c.phase_col = gpu_word(col);
      input_gradient_of_phase(
          queue, n,
          phase_of(row, n.kernel_height, n.stride, n.padding, n.in.height),
          phase_of(col, n.kernel_width, n.stride, n.padding, n.in.width), c,
          dy_w_dx);
    }
  }
}

void gpu_conv2d_weight_gradient(GpuQueue& queue, const ConvolutionSizes& n,
                                const ProductPlaces& x_dy_dw) {
  QConvolution c = convolution_of(n);
  QProduct p = group_product(n);
  p.rows = gpu_word(n.weight_rows());
  p.cols = c.group_out;
  p.depth = gpu_word(n.out.pixels());
  p.b_inner = c.group_out;
  p.b_stride = c.out_channels;
  p.c_inner = c.group_out;
  p.c_stride = c.out_channels;
  run_product(queue, ProductKind::convolution_dw, p, c, x_dy_dw);
}

}  // namespace quorate
