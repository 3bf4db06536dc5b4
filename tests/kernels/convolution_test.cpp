// Convolution and pooling of every device against the reference, over sizes
// around the edges of images, vectors, segments and chunks.
#include <algorithm>

#include <doctest/doctest.h>

#include "base/arithmetic.h"
#include "base/random.h"
#include "kernels/devices/backends.h"
#include "tests/kernels/inputs.h"

namespace quorate {
namespace {

using test::InputKind;
using Floats = std::vector<float>;

struct ConvolutionCase {
  Shape x;
  std::size_t kernel_height, kernel_width, out_channels, padding;
  std::size_t stride = 1;
  std::size_t groups = 1;

  Shape w() const {
    return {kernel_height, kernel_width, x[3] / groups, out_channels};
  }
  Shape y() const {
    return {x[0], (x[1] + 2 * padding - kernel_height) / stride + 1,
            (x[2] + 2 * padding - kernel_width) / stride + 1, out_channels};
  }
  Convolution how() const { return {stride, padding, groups}; }
};

Floats append(Floats first, const Floats& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

// The results of all three passes, one after another.
Floats three_passes(Backend& backend, const ConvolutionCase& n,
                    InputKind kind) {
  test::Run run(backend);
  View x = run.put(n.x, test::inputs(kind, n.x.count(), 1));
  View w = run.put(n.w(), test::inputs(kind, n.w().count(), 2));
  View dy = run.put(n.y(), test::inputs(kind, n.y().count(), 3));
  // What was there before must not matter.
  View y = run.put(n.y(), Floats(n.y().count(), 7.0F));
  View dx = run.put(n.x, Floats(n.x.count(), 7.0F));
  View dw = run.put(n.w(), Floats(n.w().count(), 7.0F));
  Convolution how = n.how();
  backend.conv2d(x, w, how, y);
  backend.conv2d_input_gradient(dy, w, how, dx);
  backend.conv2d_weight_gradient(x, dy, how, dw);
  return append(append(run.get(y), run.get(dx)), run.get(dw));
}

Floats both_passes(Backend& backend, const Shape& shape, const Pooling& how,
                   InputKind kind) {
  auto windows = [&](std::size_t extent) {
    return (extent + 2 * how.padding - how.size) / how.stride + 1;
  };
  Shape pooled{shape[0], windows(shape[1]), windows(shape[2]), shape[3]};
  test::Run run(backend);
  Floats values = test::inputs(kind, shape.count(), 1);
  // Equal neighbours, so that the first must win.
  for (std::size_t i = 5; i < values.size(); i += 7) values[i] = values[0];
  View x = run.put(shape, values);
  View dy = run.put(pooled, test::inputs(kind, pooled.count(), 2));
  View y = run.put(pooled, Floats(pooled.count(), 7.0F));
  View dx = run.put(shape, Floats(shape.count(), 7.0F));
  backend.max_pool2d(x, how, y);
  backend.max_pool2d_gradient(x, dy, how, dx);
  return append(run.get(y), run.get(dx));
}

// f(backend) on every device must be what the reference says.
template <class F>
void check_devices(const F& f) {
  auto reference = make_backend("reference");
  Floats expected = f(*reference);
  for (const test::DeviceCase& on : test::optimised_devices()) {
    auto backend = make_backend(on.device, on.threads);
    CAPTURE(on.device);
    CAPTURE(on.threads);
    CHECK(test::first_difference(expected, f(*backend)) == "");
  }
}

void check_convolution(const ConvolutionCase& n, InputKind kind) {
  CAPTURE(test::name_of(kind));
  for (std::size_t axis = 0; axis < 4; ++axis) CAPTURE(n.x[axis]);
  CAPTURE(n.kernel_height);
  CAPTURE(n.kernel_width);
  CAPTURE(n.out_channels);
  CAPTURE(n.padding);
  CAPTURE(n.stride);
  CAPTURE(n.groups);
  check_devices(
      [&](Backend& backend) { return three_passes(backend, n, kind); });
}

}  // namespace

TEST_CASE("convolutions agree with the reference around every edge") {
  const ConvolutionCase kCases[] = {
      {{1, 1, 1, 1}, 1, 1, 1, 0},      // one product
      {{2, 5, 5, 3}, 5, 5, 4, 0},      // one pixel comes out
      {{2, 3, 4, 2}, 5, 5, 3, 2},      // a kernel larger than the image
      {{1, 2, 2, 1}, 3, 3, 2, 2},      // windows that see padding alone
      {{3, 9, 7, 5}, 3, 1, 17, 1},     // not square
      {{1, 17, 16, 1}, 3, 3, 16, 1},   // more than one segment of pixels
      {{2, 8, 16, 4}, 1, 1, 8, 0},     // exactly one segment of pixels
      {{1, 6, 6, 29}, 3, 3, 33, 1},    // more than one segment of taps
      {{1, 5, 4, 256}, 1, 1, 257, 0},  // exactly one, and one more
      {{4, 28, 28, 1}, 5, 5, 6, 2},    // lenet
      {{4, 14, 14, 6}, 5, 5, 16, 0},
      {{9, 30, 31, 8}, 3, 3, 12, 1},     // several images in a band
      {{1, 150, 20, 24}, 3, 3, 9, 1},    // several bands in an image
      {{3, 4, 4, 96}, 3, 3, 80, 1},      // two segments of taps, panels of 3, 2
      {{2, 9, 9, 48}, 3, 3, 65, 1},      // five vectors
      {{2, 7, 7, 34}, 3, 3, 112, 1},     // channels shared by threads
      {{1, 20, 18, 3}, 7, 7, 64, 3, 2},  // imagenet's first layer
      {{2, 8, 8, 16}, 1, 1, 24, 0, 2},   // pixels that no window sees
      {{1, 9, 10, 5}, 2, 3, 7, 1, 3},    // rows without a tap
      {{2, 11, 7, 4}, 3, 3, 6, 2, 2},
      {{1, 10, 13, 3}, 5, 4, 17, 2, 3},
      {{1, 3, 3, 2}, 1, 1, 3, 2, 1},      // windows beyond the image
      {{1, 4, 4, 2}, 1, 1, 3, 1, 2},      // its corners are never seen
      {{2, 9, 8, 12}, 3, 3, 8, 1, 1, 2},  // groups
      {{2, 9, 8, 12}, 3, 3, 18, 1, 2, 3},
      {{2, 6, 7, 64}, 3, 3, 64, 1, 1, 2},
      {{2, 9, 8, 5}, 3, 3, 5, 1, 1, 5},  // depthwise
      {{2, 9, 8, 37}, 3, 3, 37, 1, 2, 37},
      {{1, 17, 16, 33}, 5, 3, 33, 2, 1, 33},
      {{2, 5, 4, 19}, 1, 1, 19, 0, 1, 19},
      {{9, 4, 3, 40}, 1, 1, 70, 0},      // products of whole images
      {{1, 7, 9, 4}, 3, 3, 8, 1, 1, 4},  // two outputs of each channel
  };
  for (const ConvolutionCase& n : kCases) {
    check_convolution(n, InputKind::uniform);
  }
}

TEST_CASE("convolutions of random shapes agree with the reference") {
  RandomStream words(1, 0, 0);
  auto pick = [&](std::uint32_t least, std::uint32_t most) {
    return std::size_t{least + integer_below(words.next(), most - least + 1)};
  };
  for (int i = 0; i < 40; ++i) {
    std::size_t kernel_height = pick(1, 5);
    std::size_t kernel_width = pick(1, 5);
    std::size_t padding = pick(0, 2);
    auto extent = [&](std::size_t kernel) {
      std::size_t least = kernel > 2 * padding ? kernel - 2 * padding : 1;
      return least + pick(0, 12);
    };
    std::size_t groups = pick(0, 2) == 0 ? pick(2, 3) : 1;
    Shape x{pick(1, 3), extent(kernel_height), extent(kernel_width),
            groups * pick(1, 20)};
    check_convolution({x, kernel_height, kernel_width, groups * pick(1, 40),
                       padding, pick(1, 3), groups},
                      InputKind::uniform);
  }
}

TEST_CASE("convolutions of adversarial inputs agree") {
  for (InputKind kind : test::kAllInputKinds) {
    check_convolution({{2, 12, 13, 11}, 5, 5, 7, 2}, kind);
    check_convolution({{1, 7, 5, 3}, 3, 3, 18, 1}, kind);
    check_convolution({{2, 9, 11, 8}, 3, 3, 10, 1, 2, 2}, kind);
    check_convolution({{1, 8, 9, 18}, 3, 3, 18, 1, 1, 18}, kind);
    // Images enough for windows to be sorted by the padding that they see.
    check_convolution({{9, 4, 4, 30}, 3, 3, 20, 1}, kind);
    check_convolution({{7, 2, 3, 37}, 5, 5, 9, 2}, kind);
    check_convolution({{13, 5, 4, 12}, 3, 4, 36, 2, 2, 2}, kind);
  }
}

TEST_CASE("convolutions are followed by bias, addend and relu") {
  struct Then {
    bool bias, addend, itself, relu;
  };
  const Then kThens[] = {{true, false, false, false},
                         {false, true, false, true},
                         {true, true, true, true},
                         {false, false, false, true}};
  const ConvolutionCase kCases[] = {
      {{2, 9, 8, 12}, 3, 3, 18, 1, 2, 2},
      {{1, 7, 9, 40}, 3, 3, 70, 1},
      {{1, 7, 9, 19}, 3, 3, 19, 1, 1, 19},
  };
  for (const ConvolutionCase& n : kCases) {
    for (const Then& then : kThens) {
      for (InputKind kind : {InputKind::uniform, InputKind::any_bits}) {
        check_devices([&](Backend& backend) {
          test::Run run(backend);
          View x = run.put(n.x, test::inputs(kind, n.x.count(), 1));
          View w = run.put(n.w(), test::inputs(kind, n.w().count(), 2));
          View y = run.put(n.y(), test::inputs(kind, n.y().count(), 3));
          Epilogue epilogue{.relu = then.relu};
          if (then.bias) {
            epilogue.bias = run.put({n.out_channels},
                                    test::inputs(kind, n.out_channels, 4));
          }
          if (then.itself) {
            epilogue.addend = y;
          } else if (then.addend) {
            epilogue.addend =
                run.put(n.y(), test::inputs(kind, n.y().count(), 5));
          }
          backend.conv2d(x, w, n.how(), y, epilogue);
          return run.get(y);
        });
      }
    }
  }
}

TEST_CASE("a tap outside the image is executed as +0") {
  for (const test::DeviceCase& on : test::all_devices()) {
    auto backend = make_backend(on.device, on.threads);
    test::Run run(*backend);
    // Their product vanishes to -0, and stays it if nothing follows.
    constexpr float kTiny = 0x1p-100F;
    View x = run.put({1, 1, 1, 1}, {-kTiny});
    View y = run.put({1, 1, 1, 1}, {7});
    backend->conv2d(x, run.put({1, 1, 1, 1}, {kTiny}), {}, y);
    CHECK(bits(run.get(y)[0]) == bits(-0.0F));
    View w = run.put({3, 3, 1, 1}, {1, 1, 1, 1, kTiny, 1, 1, 1, 1});
    backend->conv2d(x, w, {.padding = 1}, y);
    CHECK(bits(run.get(y)[0]) == bits(0.0F));
  }
}

TEST_CASE("max pooling agrees with the reference") {
  struct Case {
    Shape x;
    Pooling how;
  };
  const Case kCases[] = {{{1, 2, 2, 1}, {}},          {{2, 3, 5, 7}, {}},
                         {{3, 14, 14, 16}, {}},       {{5, 28, 28, 6}, {}},
                         {{2, 9, 8, 33}, {}},         {{2, 7, 9, 5}, {3, 2, 1}},
                         {{1, 6, 6, 17}, {3, 1, 0}},  {{2, 4, 4, 3}, {1, 1, 0}},
                         {{1, 16, 16, 2}, {16, 1, 8}}};
  for (const Case& n : kCases) {
    for (InputKind kind : test::kAllInputKinds) {
      CAPTURE(test::name_of(kind));
      CAPTURE(n.x[1]);
      CAPTURE(n.x[3]);
      CAPTURE(n.how.size);
      check_devices([&](Backend& backend) {
        return both_passes(backend, n.x, n.how, kind);
      });
    }
  }
}

TEST_CASE("of equal elements the first is the greatest, a NaN is greater") {
  for (const test::DeviceCase& on : test::all_devices()) {
    CAPTURE(on.device);
    auto backend = make_backend(on.device, on.threads);
    test::Run run(*backend);
    float nan = float_of_bits(kCanonicalNan);
    View x = run.put({1, 2, 6, 1}, {1, 3, 5, 5, nan, 9,  //
                                    3, 2, 5, 5, nan, 8});
    View dy = run.put({1, 1, 3, 1}, {10, 20, 30});
    View dx = run.put({1, 2, 6, 1}, Floats(12));
    backend->max_pool2d_gradient(x, dy, {}, dx);
    CHECK(run.get(dx) == Floats{0, 10, 20, 0, 0, 0,  //
                                0, 0, 0, 0, 30, 0});
  }
}

}  // namespace quorate
