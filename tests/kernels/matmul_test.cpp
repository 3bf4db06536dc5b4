// Products of every device against the reference, over sizes around the edges
// of vectors, tiles, panels, packing and segments.
#include <doctest/doctest.h>

#include "kernels/devices/backends.h"
#include "tests/kernels/inputs.h"

namespace quorate {
namespace {

using test::InputKind;

struct MatmulCase {
  std::size_t m, n, k;
};

struct Form {
  const char* name;
  Transpose a, b;
};
constexpr Form kForms[] = {{"A B", Transpose::no, Transpose::no},
                           {"A^T B", Transpose::yes, Transpose::no},
                           {"A B^T", Transpose::no, Transpose::yes}};

enum class Addend { none, itself, other };
// What follows the product.
struct Then {
  bool bias = false;
  Addend addend = Addend::none;
  bool relu = false;
};

std::vector<float> product(Backend& backend, const MatmulCase& size,
                           const Form& form, InputKind kind, const Then& then) {
  test::Run run(backend);
  auto [m, n, k] = size;
  bool at = form.a == Transpose::yes;
  bool bt = form.b == Transpose::yes;
  View a =
      run.put(at ? Shape{k, m} : Shape{m, k}, test::inputs(kind, m * k, 1));
  View b =
      run.put(bt ? Shape{n, k} : Shape{k, n}, test::inputs(kind, k * n, 2));
  View c = run.put({m, n}, test::inputs(kind, m * n, 3));
  Epilogue epilogue{.relu = then.relu};
  if (then.bias) epilogue.bias = run.put({n}, test::inputs(kind, n, 4));
  if (then.addend == Addend::itself) epilogue.addend = c;
  if (then.addend == Addend::other) {
    epilogue.addend = run.put({m, n}, test::inputs(kind, m * n, 5));
  }
  backend.matmul(a, form.a, b, form.b, c, epilogue);
  return run.get(c);
}

void check_products(const std::vector<MatmulCase>& sizes, InputKind kind,
                    const Then& then = {}) {
  auto reference = make_backend("reference");
  for (const MatmulCase& size : sizes) {
    for (const Form& form : kForms) {
      auto expected = product(*reference, size, form, kind, then);
      for (const test::DeviceCase& on : test::optimised_devices()) {
        auto backend = make_backend(on.device, on.threads);
        auto found = product(*backend, size, form, kind, then);
        CAPTURE(on.device);
        CAPTURE(on.threads);
        CAPTURE(form.name);
        CAPTURE(test::name_of(kind));
        CAPTURE(size.m);
        CAPTURE(size.n);
        CAPTURE(size.k);
        CHECK(test::first_difference(expected, found) == "");
      }
    }
  }
}

}  // namespace

TEST_CASE("products agree with the reference around every edge") {
  std::vector<MatmulCase> sizes;
  constexpr std::size_t kDepths[] = {1, 255, 256, 257, 511, 512, 513, 1031};
  for (std::size_t k : kDepths) {
    sizes.push_back({13, 37, k});
  }
  constexpr std::size_t kRows[] = {1,  2,  5,  6,  7,  8,  9,  12, 13,
                                   17, 23, 24, 25, 47, 48, 49, 50, 97};
  for (std::size_t m : kRows) {
    sizes.push_back({m, 49, 67});
  }
  constexpr std::size_t kCols[] = {1,  7,  8,  15, 16, 17, 31,  32,  33,
                                   47, 48, 49, 64, 65, 80, 112, 385, 401};
  for (std::size_t n : kCols) {
    sizes.push_back({11, n, 67});
    sizes.push_back({31, n, 67});
  }
  check_products(sizes, InputKind::uniform);
}

TEST_CASE("products of several panels, blocks and threads agree") {
  check_products({{101, 409, 521},
                  {64, 256, 784},
                  {256, 784, 64},
                  {64, 10, 256},
                  {27, 770, 300},
                  {130, 16, 600},
                  {50, 32, 600}},
                 InputKind::uniform);
}

TEST_CASE("products of adversarial inputs agree") {
  for (InputKind kind : test::kAllInputKinds) {
    check_products({{9, 19, 259}, {33, 100, 70}, {17, 5, 600}}, kind);
  }
}

TEST_CASE("epilogues follow the whole sum, in their order") {
  const Then kThens[] = {
      {.bias = true},
      {.addend = Addend::itself},
      {.addend = Addend::other},
      {.relu = true},
      {.bias = true, .addend = Addend::itself, .relu = true},
      {.bias = true, .addend = Addend::other, .relu = true},
  };
  for (const Then& then : kThens) {
    check_products({{9, 19, 100}, {9, 50, 700}}, InputKind::uniform, then);
    check_products({{9, 50, 700}}, InputKind::vanishing, then);
    check_products({{70, 130, 300}}, InputKind::any_bits, then);
  }
}

TEST_CASE("a product over no elements is +0") {
  for (const test::DeviceCase& on : test::all_devices()) {
    auto backend = make_backend(on.device, on.threads);
    test::Run run(*backend);
    View c = run.put({2, 3}, std::vector<float>(6, 5.0F));
    backend->matmul(run.put({2, 0}, {}), Transpose::no, run.put({0, 3}, {}),
                    Transpose::no, c);
    CHECK(test::first_difference(std::vector<float>(6, 0.0F), run.get(c)) ==
          "");
  }
}

}  // namespace quorate
