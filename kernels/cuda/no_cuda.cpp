// In the place of CUDA, where it could not be built.
#include <fmt/format.h>

#include "base/error.h"
#include "kernels/cuda/cuda_backend.h"

namespace quorate {
namespace {

constexpr const char* kWhy =
    "this program was built without CUDA (no nvcc was found)";

}  // namespace

GpuList list_cuda_devices() {
  return {{}, {kWhy}};
}

std::unique_ptr<Backend> make_cuda_backend(std::string_view name,
                                           std::uint32_t /*percent*/) {
  throw Error(ErrorKind::unsupported,
              fmt::format("device \"{}\": {}", name, kWhy));
}

}  // namespace quorate
