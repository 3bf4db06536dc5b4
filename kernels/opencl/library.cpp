#include "kernels/opencl/library.h"

#include <string_view>

#include <fmt/format.h>

#include "base/error.h"

#include <dlfcn.h>

namespace quorate::opencl {
namespace {

constexpr const char* kFile = "libOpenCL.so.1";

struct Loaded {
  Library functions;
  std::string missing;  // empty if all is there
};

Loaded load() {
  Loaded loaded;
  void* handle = ::dlopen(kFile, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    loaded.missing = fmt::format(
        "OpenCL is not installed ({} not found): install the GPU's driver with "
        "its OpenCL part, on Debian also ocl-icd-libopencl1",
        kFile);
    return loaded;
  }
  auto find = [&](const char* name) {
    void* function = ::dlsym(handle, name);
    if (function == nullptr) {
      loaded.missing =
          fmt::format("{} is older than OpenCL 1.2: it lacks {}", kFile, name);
    }
    return function;
  };
#define QUORATE_FIND(name) \
  loaded.functions.name =  \
      reinterpret_cast<decltype(loaded.functions.name)>(find(#name));
  QUORATE_OPENCL_FUNCTIONS(QUORATE_FIND)
#undef QUORATE_FIND
  return loaded;
}

}  // namespace

const Library& library() {
  static const Loaded loaded = load();
  if (!loaded.missing.empty()) {
    throw Error(ErrorKind::unsupported, loaded.missing);
  }
  return loaded.functions;
}

std::string error_name(cl_int code) {
  switch (code) {
#define QUORATE_CASE(name) \
  case name:               \
    return #name;
    QUORATE_CASE(CL_DEVICE_NOT_FOUND)
    QUORATE_CASE(CL_DEVICE_NOT_AVAILABLE)
    QUORATE_CASE(CL_COMPILER_NOT_AVAILABLE)
    QUORATE_CASE(CL_MEM_OBJECT_ALLOCATION_FAILURE)
    QUORATE_CASE(CL_OUT_OF_RESOURCES)
    QUORATE_CASE(CL_OUT_OF_HOST_MEMORY)
    QUORATE_CASE(CL_BUILD_PROGRAM_FAILURE)
    QUORATE_CASE(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST)
    QUORATE_CASE(CL_INVALID_VALUE)
    QUORATE_CASE(CL_INVALID_DEVICE)
    QUORATE_CASE(CL_INVALID_CONTEXT)
    QUORATE_CASE(CL_INVALID_COMMAND_QUEUE)
    QUORATE_CASE(CL_INVALID_MEM_OBJECT)
    QUORATE_CASE(CL_INVALID_BINARY)
    QUORATE_CASE(CL_INVALID_BUILD_OPTIONS)
    QUORATE_CASE(CL_INVALID_PROGRAM)
    QUORATE_CASE(CL_INVALID_PROGRAM_EXECUTABLE)
    QUORATE_CASE(CL_INVALID_KERNEL_NAME)
    QUORATE_CASE(CL_INVALID_KERNEL_ARGS)
    QUORATE_CASE(CL_INVALID_ARG_INDEX)
    QUORATE_CASE(CL_INVALID_ARG_VALUE)
    QUORATE_CASE(CL_INVALID_ARG_SIZE)
    QUORATE_CASE(CL_INVALID_WORK_GROUP_SIZE)
    QUORATE_CASE(CL_INVALID_GLOBAL_WORK_SIZE)
    QUORATE_CASE(CL_INVALID_BUFFER_SIZE)
#undef QUORATE_CASE
    default:
      return fmt::format("OpenCL error {}", code);
  }
}

void check_call(cl_int code, const std::string& device, std::string_view what) {
  if (code == CL_SUCCESS) return;
  throw Error(ErrorKind::io,
              fmt::format("device \"{}\": {}: {}; if this goes on, update the "
                          "driver or use another device",
                          device, what, error_name(code)));
}

}  // namespace quorate::opencl
