// Average pooling and means of pixels on every device against the reference,
// and the reference against what their names say. Max pooling:
// convolution_test.cpp.
#include <cmath>

#include <doctest/doctest.h>

#include "kernels/devices/backends.h"
#include "tests/kernels/inputs.h"

namespace quorate {
namespace {

using test::append;
using test::Floats;
using test::InputKind;

struct Case {
  Shape x;
  Pooling how;

  Shape y() const {
    auto windows = [&](std::size_t size) {
      return (size + 2 * how.padding - how.size) / how.stride + 1;
    };
    return {x[0], windows(x[1]), windows(x[2]), x[3]};
  }
};
const Case kCases[] = {{{1, 2, 2, 1}, {}},          {{2, 3, 5, 7}, {}},
                       {{3, 14, 14, 16}, {}},       {{5, 28, 28, 9}, {}},
                       {{2, 9, 8, 33}, {}},         {{2, 7, 9, 5}, {3, 2, 1}},
                       {{1, 6, 6, 17}, {3, 1, 0}},  {{2, 4, 4, 3}, {1, 1, 0}},
                       {{1, 16, 16, 2}, {16, 1, 8}}};

}  // namespace

TEST_CASE("average pooling agrees with the reference") {
  for (const Case& n : kCases) {
    CAPTURE(n.x[1]);
    CAPTURE(n.x[3]);
    CAPTURE(n.how.size);
    test::check_operation([&](Backend& backend, InputKind kind) {
      test::Run run(backend);
      View x = run.put(n.x, test::inputs(kind, n.x.count(), 1));
      View dy = run.put(n.y(), test::inputs(kind, n.y().count(), 2));
      View y = run.put(n.y(), Floats(n.y().count(), NAN));
      View dx = run.put(n.x, Floats(n.x.count(), NAN));
      backend.average_pool2d(x, n.how, 1.0F / 7, y);
      backend.average_pool2d_gradient(dy, n.how, 1.0F / 7, dx);
      return append(run.get(y), run.get(dx));
    });
  }
}

// 3 x 3 windows, one step apart, over 2 x 2 pixels: each sees all of them.
TEST_CASE("an average counts the taps in the image, times what it is told") {
  for (const test::DeviceCase& on : test::all_devices()) {
    auto backend = make_backend(on.device, on.threads);
    test::Run run(*backend);
    Pooling how{3, 1, 1};
    View x = run.put({1, 2, 2, 1}, {1, 2, 4, 8});
    View y = run.put({1, 2, 2, 1}, Floats(4));
    backend->average_pool2d(x, how, 0.5F, y);
    CHECK(run.get(y) == Floats{7.5F, 7.5F, 7.5F, 7.5F});
    View dy = run.put({1, 2, 2, 1}, {1, 2, 4, 16});
    backend->average_pool2d_gradient(dy, how, 0.5F, x);
    CHECK(run.get(x) == Floats{11.5F, 11.5F, 11.5F, 11.5F});
  }
}

TEST_CASE("means of pixels agree with the reference") {
  for (const Shape& shape :
       {Shape{1, 1, 1}, Shape{3, 2, 17}, Shape{2, 63, 16}, Shape{2, 64, 33},
        Shape{5, 65, 64}, Shape{2, 1000, 70}, Shape{3, 4200, 5}}) {
    CAPTURE(shape[1]);
    test::check_operation([&](Backend& backend, InputKind kind) {
      test::Run run(backend);
      float reciprocal = 1.0F / static_cast<float>(shape[1]);
      View x = run.put(shape, test::inputs(kind, shape.count(), 1));
      View y = run.put({shape[0], shape[2]}, Floats(shape[0] * shape[2]));
      View dx = run.put(shape, Floats(shape.count()));
      backend.mean_pixels(x, reciprocal, y);
      backend.mean_pixels_gradient(y, reciprocal, dx);
      return append(run.get(y), run.get(dx));
    });
  }
}

TEST_CASE("a mean of pixels is one, its gradient is shared") {
  for (const test::DeviceCase& on : test::all_devices()) {
    auto backend = make_backend(on.device, on.threads);
    test::Run run(*backend);
    View x = run.put({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 10});
    View y = run.put({2, 2}, Floats(4));
    backend->mean_pixels(x, 0.5F, y);
    CHECK(run.get(y) == Floats{2, 3, 6, 8});
    backend->mean_pixels_gradient(y, 0.5F, x);
    CHECK(run.get(x) == Floats{1, 1.5F, 1, 1.5F, 3, 4, 3, 4});
  }
}

}  // namespace quorate
