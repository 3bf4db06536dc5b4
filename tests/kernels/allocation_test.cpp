// Operations keep their scratch memory: after the first call of a shape they
// ask the system for none. Counts what goes through operator new; of other
// devices, the drivers do as they please.
#include <atomic>
#include <cstdlib>
#include <functional>
#include <new>
#include <string>

#include <doctest/doctest.h>

#include "kernels/devices/backends.h"
#include "tests/kernels/inputs.h"

namespace {

std::atomic<std::size_t> allocations = 0;

}  // namespace

// Not inlined: g++ would warn that malloc's memory is deleted.
[[gnu::noinline]] void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
void* operator new[](std::size_t size, std::align_val_t alignment,
                     const std::nothrow_t&) noexcept {
  ++allocations;
  auto unit = static_cast<std::size_t>(alignment);
  return std::aligned_alloc(unit, (size + unit - 1) / unit * unit);
}
void operator delete[](void* memory, std::align_val_t) noexcept {
  std::free(memory);
}

namespace quorate {
namespace {

struct Case {
  std::string name;
  std::function<void()> call;
};

// On arrays large enough for every thread.
void check_operations(Backend& backend) {
  test::Run run(backend);
  auto put = [&](Shape shape) {
    return run.put(shape,
                   test::inputs(test::InputKind::uniform, shape.count(), 1));
  };
  View a = put({300, 192});
  View b = put({300, 192});
  View c = put({300, 192});
  View d = put({300, 192});
  View column = put({192});
  View column2 = put({192});
  View column3 = put({192});
  View column4 = put({192});
  View losses = put({300});
  View image = put({3, 20, 30, 32});
  View dimage = put({3, 20, 30, 32});
  View pooled = put({3, 10, 15, 32});
  View x = put({2, 150, 192});
  View y = put({2, 150, 192});
  View mean = put({2, 8});
  View variance = put({2, 8});
  View pixel_means = put({2, 192});
  View rows = put({300, 1, 192});
  View rows_y = put({300, 1, 192});
  View row_mean = put({300, 1});
  View row_variance = put({300, 1});
  View qkv = put({1, 300, 192});
  View dqkv = put({1, 300, 192});
  View attended = put({1, 300, 64});
  View weights = put({1, 4, 300, 300});
  View square = put({192, 192});
  const std::vector<std::uint32_t> ids(300, 17);
  const ConstView arrays[] = {a, b};
  float sums[2];
  const Normalization groups{8, 1e-5F, true};
  const Normalization layer{1, 1e-5F, false};
  View filter = put({3, 3, 32, 48});
  View filtered = put({3, 20, 30, 48});
  View taps = put({3, 3, 1, 32});
  const Convolution same{1, 1, 1};
  const Convolution depthwise{1, 1, 32};
  const Case kCases[] = {
      {"matmul",
       [&] {
         backend.matmul(a, Transpose::no, square, Transpose::yes, c,
                        {.bias = column, .addend = c, .relu = true});
       }},
      {"map", [&] { backend.map(Function::gelu, a, b); }},
      {"map_gradient", [&] { backend.map_gradient(Function::gelu, a, b, c); }},
      {"add", [&] { backend.add(a, b, c); }},
      {"add_bias", [&] { backend.add_bias(a, column); }},
      {"scale", [&] { backend.scale(a, 0.5F, b); }},
      {"move_towards", [&] { backend.move_towards(a, 0.5F, 0.1F, b); }},
      {"dropout", [&] { backend.dropout(a, {}, b); }},
      {"sgd", [&] { backend.sgd(a, b, c, {}); }},
      {"adamw", [&] { backend.adamw(a, b, c, d, {}); }},
      {"all_finite", [&] { backend.all_finite(a); }},
      {"sum", [&] { backend.sum(a); }},
      {"sums_of_squares", [&] { backend.sums_of_squares(arrays, sums); }},
      {"sum_rows", [&] { backend.sum_rows(a, column); }},
      {"cross-entropy",
       [&] { backend.softmax_cross_entropy(a, ids, 0.1F, losses, b); }},
      {"count_correct", [&] { backend.count_correct(a, ids); }},
      {"embedding", [&] { backend.embedding(a, ids, b); }},
      {"embedding_gradient",
       [&] { backend.embedding_gradient(ids, a, b, Accumulate::yes); }},
      {"max_pool2d", [&] { backend.max_pool2d(image, {}, pooled); }},
      {"max_pool2d_gradient",
       [&] { backend.max_pool2d_gradient(image, pooled, {}, dimage); }},
      {"average_pool2d",
       [&] { backend.average_pool2d(image, {}, 0.25F, pooled); }},
      {"average_pool2d_gradient",
       [&] { backend.average_pool2d_gradient(pooled, {}, 0.25F, image); }},
      {"mean_pixels", [&] { backend.mean_pixels(x, 0.1F, pixel_means); }},
      {"mean_pixels_gradient",
       [&] { backend.mean_pixels_gradient(pixel_means, 0.1F, x); }},
      {"normalize",
       [&] {
         backend.normalize(x, column, column2, groups, y, mean, variance);
       }},
      {"normalize_with",
       [&] {
         backend.normalize_with(x, mean, variance, column, column2, groups, y);
       }},
      {"normalize_gradient",
       [&] {
         backend.normalize_gradient(x, y, mean, variance, column, column2,
                                    groups, y, column3, column4);
       }},
      {"layer norm",
       [&] {
         backend.normalize(rows, column, column2, layer, rows_y, row_mean,
                           row_variance);
       }},
      {"layer norm, gradient",
       [&] {
         backend.normalize_gradient(rows, rows_y, row_mean, row_variance,
                                    column, column2, layer, rows_y, column3,
                                    column4);
       }},
      {"conv2d",
       [&] { backend.conv2d(image, filter, same, filtered, {.relu = true}); }},
      {"conv2d_input_gradient",
       [&] { backend.conv2d_input_gradient(filtered, filter, same, dimage); }},
      {"conv2d_weight_gradient",
       [&] { backend.conv2d_weight_gradient(image, filtered, same, filter); }},
      {"conv2d, depthwise",
       [&] { backend.conv2d(image, taps, depthwise, dimage); }},
      {"conv2d_weight_gradient, depthwise",
       [&] { backend.conv2d_weight_gradient(image, dimage, depthwise, taps); }},
      {"attention",
       [&] { backend.attention(qkv, 4, 0.5F, weights, attended); }},
      {"attention_gradient",
       [&] {
         backend.attention_gradient(qkv, weights, attended, 4, 0.5F, dqkv);
       }},
  };
  for (const Case& n : kCases) {
    CAPTURE(n.name);
    n.call();
    std::size_t before = allocations;
    n.call();
    CHECK(allocations == before);
  }
}

}  // namespace

TEST_CASE("no operation of a processor allocates memory in its second call") {
  std::size_t before = allocations;
  std::vector<float> none(1);
  REQUIRE(allocations > before);
  for (const test::DeviceCase& on : test::optimised_devices()) {
    if (is_gpu(on.device)) continue;  // its driver does as it likes
    CAPTURE(on.device);
    CAPTURE(on.threads);
    auto backend = make_backend(on.device, on.threads);
    check_operations(*backend);
  }
}

}  // namespace quorate
