#include "tests/kernels/inputs.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "base/arithmetic.h"
#include "base/error.h"
#include "base/random.h"
#include "kernels/devices/backends.h"

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

bool is_cpu(std::string_view device) {
  return device.starts_with("cpu");
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
  // Found once: a device that is missing is named once in a program.
  static const std::vector<DeviceCase> cases = [] {
    std::vector<DeviceCase> found;
    for (const char* device :
         {"cpu:avx512", "cpu:avx2", "opencl:0", "cuda:0"}) {
      try {
        make_backend(device);
      } catch (const Error& error) {
        MESSAGE("skipped: " << std::string(error.what()));
        continue;
      }
      found.push_back({device, 1});
      if (!is_cpu(device)) continue;
      for (unsigned threads : {2U, 3U}) found.push_back({device, threads});
    }
    return found;
  }();
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

Floats append(Floats first, const Floats& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

void check_operation(const Operation& operation) {
  // Made once: there are thousands of checks.
  static const std::unique_ptr<Backend> kReference = make_backend("reference");
  static const std::vector<DeviceCase> kCases = optimised_devices();
  static const std::vector<std::unique_ptr<Backend>> kBackends = [] {
    std::vector<std::unique_ptr<Backend>> backends;
    for (const DeviceCase& on : kCases) {
      backends.push_back(make_backend(on.device, on.threads));
    }
    return backends;
  }();
  for (InputKind kind : kAllInputKinds) {
    Floats expected = operation(*kReference, kind);
    for (std::size_t i = 0; i < kCases.size(); ++i) {
      CAPTURE(kCases[i].device);
      CAPTURE(kCases[i].threads);
      CAPTURE(name_of(kind));
      CHECK(first_difference(expected, operation(*kBackends[i], kind)) == "");
    }
  }
}

}  // namespace quorate::test
