#include "workunits/device_text.h"

#include <doctest/doctest.h>

namespace quorate {
namespace {

TEST_CASE("a device's text names model and driver, the driver last") {
  CHECK(device_text("cpu:avx512", "", "") == "cpu:avx512");
  const std::string gpu = device_text("cuda:0", "NVIDIA A100", "CUDA 12.4");
  CHECK(gpu == "cuda:0 NVIDIA A100; CUDA 12.4");
  CHECK(without_driver(gpu) == "cuda:0 NVIDIA A100");
  CHECK(name_in(gpu) == "cuda:0");
  CHECK(without_driver("cpu:avx512") == "cpu:avx512");
  CHECK(name_in("cpu:avx512") == "cpu:avx512");
  CHECK(name_in(device_text("opencl:0", "", "3.1")) == "opencl:0");
}

TEST_CASE("a device's text is printable and short, whatever its maker says") {
  const std::string text =
      device_text("opencl:599", std::string(200, 'm') + "; x",
                  "1; 2\n\xff" + std::string(200, 'd'));
  CHECK(text.size() <= kMaxDeviceText);
  CHECK(without_driver(text) == "opencl:599 " + std::string(29, 'm'));
  CHECK(text.ends_with("; 1? 2??" + std::string(14, 'd')));
}

}  // namespace
}  // namespace quorate
