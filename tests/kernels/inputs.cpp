#include "tests/kernels/inputs.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "base/arithmetic.h"
#include "base/error.h"
#include "base/random.h"
#include "kernels/backends.h"

namespace quorate::test {
namespace {

float with_exponent(std::uint32_t word, std::uint32_t exponent) {
  return float_of_bits((word & 0x807fffff) | exponent << 23);
}

float input(InputKind kind, std::uint32_t word, std::uint32_t choice) {
  switch (kind) {
    case InputKind::uniform:
      return uniform11(word);
    case InputKind::wide:
      return with_exponent(word, 1 + choice % 253);
    case InputKind::vanishing:
      if (choice % 3 == 0) return with_exponent(word & 0x80000000, 0);
      return with_exponent(word, choice % 3 == 1 ? 20 : 60);
    case InputKind::subnormal:
      return with_exponent(word, choice % 2);
    case InputKind::overflowing:
      return with_exponent(choice % 97 == 0 ? word & 0x80000000 : word,
                           choice % 97 == 0 ? 255 : 180 + choice % 75);
    case InputKind::any_bits:
      return float_of_bits(word);
  }
  return 0.0F;
}

}  // namespace

std::string name_of(InputKind kind) {
  switch (kind) {
    case InputKind::uniform:
      return "uniform";
    case InputKind::wide:
      return "wide";
    case InputKind::vanishing:
      return "vanishing";
    case InputKind::subnormal:
      return "subnormal";
    case InputKind::overflowing:
      return "overflowing";
    case InputKind::any_bits:
      return "any bits";
  }
  return "unknown";
}

std::vector<float> inputs(InputKind kind, std::size_t count,
                          std::uint32_t stream) {
  RandomStream words(static_cast<std::uint64_t>(kind), stream, 0);
  std::vector<float> values(count);
  for (float& value : values) {
    std::uint32_t word = words.next();
    value = input(kind, word, words.next());
  }
  return values;
}

std::vector<DeviceCase> optimised_devices() {
  std::vector<DeviceCase> cases;
  for (const char* device : {"cpu:avx512", "cpu:avx2"}) {
    try {
      make_backend(device);
    } catch (const Error& error) {
      MESSAGE("skipped: " << error.what());
      continue;
    }
    for (unsigned threads : {1U, 2U, 3U}) cases.push_back({device, threads});
  }
  return cases;
}

std::vector<DeviceCase> all_devices() {
  std::vector<DeviceCase> cases = optimised_devices();
  cases.push_back({"reference", 1});
  return cases;
}

View Run::put(Shape shape, const std::vector<float>& values) {
  tensors_.push_back(std::make_unique<Tensor>(backend_.tensor(shape)));
  View view = tensors_.back()->view();
  backend_.upload(view, values);
  return view;
}

std::vector<float> Run::get(ConstView view) {
  std::vector<float> values(view.shape.count());
  backend_.download(view, values);
  return values;
}

std::string first_difference(const std::vector<float>& expected,
                             const std::vector<float>& found) {
  if (expected.size() != found.size()) return "sizes differ";
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (canonical_bits(expected[i]) == canonical_bits(found[i])) continue;
    return fmt::format("element {}: expected {:08x}, found {:08x}", i,
                       canonical_bits(expected[i]), canonical_bits(found[i]));
  }
  return {};
}

}  // namespace quorate::test
