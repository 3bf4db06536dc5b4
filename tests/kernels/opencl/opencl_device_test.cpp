#include "kernels/opencl/opencl_device.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "base/error.h"
#include "kernels/devices/backends.h"
#include "kernels/gpu/gpu_backend.h"
#include "kernels/opencl/source.h"
#include "tests/kernels/inputs.h"
#include "tests/kernels/opencl/any_device.h"

namespace quorate::opencl {
namespace {

std::vector<float> apply(Backend& backend, Function f,
                         const std::vector<float>& x) {
  test::Run run(backend);
  View view = run.put({x.size()}, x);
  backend.map(f, view, view);
  return run.get(view);
}

}  // namespace

TEST_CASE("the program has every kernel") {
  auto found = test::any_opencl_device();
  if (!found) return;
  auto program = shared_program(*found);
  for (std::string_view name : kGpuKernelNames) {
    CAPTURE(name);
    cl_int code = CL_SUCCESS;
    cl_kernel kernel =
        library().clCreateKernel(program->get(), name.data(), &code);
    CHECK(error_name(code) == "OpenCL error 0");
    if (kernel != nullptr) library().clReleaseKernel(kernel);
  }
}

TEST_CASE("memory that a device lacks: how much was wanted, what there is") {
  auto found = test::any_opencl_device();
  if (!found) return;
  auto device = make_device(*found);
  std::size_t wanted = found->largest_piece + 4096;
  try {
    device->allocate(wanted);
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::io);
    std::string text = error.what();
    CAPTURE(text);
    CHECK(text.find(fmt::format("{} bytes", wanted)) != std::string::npos);
    CHECK(text.find(fmt::format("the device has {} MiB",
                                found->memory >> 20)) != std::string::npos);
  }
}

TEST_CASE("a call that fails names device, kernel and error") {
  auto found = test::any_opencl_device();
  if (!found) return;
  auto device = make_device(*found);
  try {
    device->launch(GpuKernel::map, 1, {});
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::io);
    CHECK(std::string(error.what())
              .find(fmt::format(
                  "device \"{}\": quorate_map: CL_INVALID_KERNEL_ARGS",
                  found->name)) != std::string::npos);
  }
}

TEST_CASE("integer division on a device gives the same bits") {
  auto found = test::any_opencl_device();
  if (!found) return;
  auto program = std::make_shared<Program>(
      *found, kernel_source(), "-cl-std=CL1.2 -DQ_INTEGER_DIVISION -DQ_CPU",
      "");
  auto backend = make_gpu_backend(make_device(*found, program), 100);
  auto reference = make_backend("reference");
  for (test::InputKind kind : test::kAllInputKinds) {
    auto x = test::inputs(kind, 5000, 1);
    for (Function f : {Function::rsqrt, Function::tanh, Function::sigmoid}) {
      CHECK(test::first_difference(apply(*reference, f, x),
                                   apply(*backend, f, x)) == "");
    }
  }
}

TEST_CASE("a program that was built to be fast is found out") {
  auto found = test::any_opencl_device();
  if (!found) return;
  auto program = std::make_shared<Program>(
      *found, kernel_source(), "-cl-std=CL1.2 -cl-fast-relaxed-math -DQ_CPU",
      "");
  auto backend = make_gpu_backend(make_device(*found, program), 100);
  auto reference = make_backend("reference");
  auto x = test::inputs(test::InputKind::wide, 5000, 1);
  int different = 0;
  for (std::size_t f = 0; f < kFunctionCount; ++f) {
    auto function = static_cast<Function>(f);
    bool is_same = test::first_difference(apply(*reference, function, x),
                                          apply(*backend, function, x))
                       .empty();
    different += is_same ? 0 : 1;
  }
  CHECK(different > 0);
}

TEST_CASE("a device that may work for a part of the time gives the same bits") {
  auto found = test::any_opencl_device();
  if (!found) return;
  auto x = test::inputs(test::InputKind::wide, 100000, 1);
  auto reference = make_backend("reference");
  auto resting = make_backend(found->name, 1, 20);
  CHECK(test::first_difference(apply(*reference, Function::exp, x),
                               apply(*resting, Function::exp, x)) == "");
}

TEST_CASE("devices are counted from 0; one that is missing is named") {
  CHECK_THROWS_AS(make_backend("opencl:99"), Error);
  if (!test::any_opencl_device()) return;
  CHECK_THROWS_WITH_AS(make_backend("opencl:99"),
                       doctest::Contains("counted from opencl:0"), Error);
  CHECK(make_backend("opencl")->device().name == "opencl:0");
}

}  // namespace quorate::opencl
