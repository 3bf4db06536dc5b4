// In the place of OpenCL, where it could not be built.
#include <fmt/format.h>

#include "base/error.h"
#include "kernels/opencl/opencl_backend.h"

namespace quorate {
namespace {

constexpr const char* kWhy =
    "this program was built without OpenCL (package opencl-headers)";

}  // namespace

GpuList list_opencl_devices() {
  return {{}, {kWhy}};
}

std::unique_ptr<Backend> make_opencl_backend(std::string_view name,
                                             std::uint32_t /*percent*/) {
  throw Error(ErrorKind::unsupported,
              fmt::format("device \"{}\": {}", name, kWhy));
}

}  // namespace quorate
