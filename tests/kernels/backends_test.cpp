#include "kernels/devices/backends.h"

#include <algorithm>

#include <doctest/doctest.h>

#include "base/error.h"

namespace quorate {
namespace {

std::string failure_of(std::string_view device, ErrorKind kind) {
  try {
    make_backend(device);
  } catch (const Error& error) {
    CHECK(error.kind() == kind);
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("an unknown device is refused with the list of the known") {
  for (const char* device : {"abacus", "", "cpu:", "cpu:avx", "cp", "refer"}) {
    CAPTURE(device);
    CHECK(failure_of(device, ErrorKind::usage)
              .find("cpu, cpu:avx512, cpu:avx2, reference") !=
          std::string::npos);
  }
}

TEST_CASE("every listed device can be made under its name") {
  auto devices = list_devices();
  REQUIRE_FALSE(devices.empty());
  CHECK(devices.back().name == "reference");
  for (const DeviceInfo& device : devices) {
    CHECK(make_backend(device.name)->device().name == device.name);
  }
}

TEST_CASE("cpu stands for the best of its kinds, or says what is lacking") {
  auto devices = list_devices();
  if (devices.front().name == "reference") {
    MESSAGE("skipped: this host has no AVX2");
    CHECK(failure_of("cpu", ErrorKind::unsupported).find("AVX2") !=
          std::string::npos);
    return;
  }
  CHECK(make_backend("cpu", 2)->device().name == devices.front().name);
}

TEST_CASE("memory that nobody has is an error, not a crash") {
  for (const DeviceInfo& device : list_devices()) {
    auto backend = make_backend(device.name);
    CHECK_THROWS_AS(backend->allocate(std::size_t{1} << 62), Error);
    CHECK_THROWS_AS(backend->allocate(~std::size_t{0}), Error);
  }
}

}  // namespace quorate
