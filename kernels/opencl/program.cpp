#include "kernels/opencl/program.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>
#include <vector>

#include <fmt/format.h>

#include "base/crypto.h"
#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "kernels/opencl/source.h"

namespace quorate::opencl {
namespace {

// A file of the cache: SHA-256 of the binary, then the binary.
constexpr std::size_t kHashBytes = 32;
constexpr std::uint64_t kMostBytes = 256 << 20;

fs::path cache_file(const DeviceEntry& device, const std::string& source,
                    const std::string& options, const fs::path& folder) {
  if (folder.empty()) return {};
  std::string key = fmt::format("{}\n{}\n{}", device.build, options, source);
  return folder / fmt::format("opencl-{}", sha256(as_bytes(key)).hex());
}

// Throws corrupt or io.
Bytes read_binary(const fs::path& file) {
  Bytes bytes = read_file(file, kMostBytes);
  if (bytes.size() <= kHashBytes) {
    throw Error(ErrorKind::corrupt, "a compiled program that is too short");
  }
  Bytes binary(bytes.begin() + kHashBytes, bytes.end());
  Hash hash = sha256(binary);
  if (!std::equal(hash.bytes.begin(), hash.bytes.end(), bytes.begin())) {
    throw Error(ErrorKind::corrupt, "a compiled program with another hash");
  }
  return binary;
}

std::string first_lines(const std::string& log) {
  constexpr int kLines = 8;
  std::size_t end = 0;
  for (int i = 0; i < kLines && end != std::string::npos; ++i) {
    end = log.find('\n', end + 1);
  }
  return log.substr(0, std::min<std::size_t>(end, 2000));
}

std::string build_log(const Library& cl, cl_program program, cl_device_id id) {
  std::size_t size = 0;
  cl.clGetProgramBuildInfo(program, id, CL_PROGRAM_BUILD_LOG, 0, nullptr,
                           &size);
  std::string log(std::min<std::size_t>(size, 1 << 20), '\0');
  cl.clGetProgramBuildInfo(program, id, CL_PROGRAM_BUILD_LOG, log.size(),
                           log.data(), nullptr);
  log.resize(std::min(log.find('\0'), log.size()));
  return log;
}

}  // namespace

Program::Program(const DeviceEntry& device, const std::string& source,
                 const std::string& options, const fs::path& cache) {
  cl_int code = CL_SUCCESS;
  context_ = library().clCreateContext(nullptr, 1, &device.id, nullptr, nullptr,
                                       &code);
  check_call(code, device.name, "open the device");
  try {
    fs::path file = cache_file(device, source, options, cache);
    if (load(device, options, file)) return;
    compile(device, source, options);
    save(file);
  } catch (...) {
    release();
    throw;
  }
}

Program::~Program() {
  release();
}

void Program::release() {
  if (program_ != nullptr) library().clReleaseProgram(program_);
  library().clReleaseContext(context_);
}

// False, and nothing is kept, if there is no such file or it is of no use.
bool Program::load(const DeviceEntry& device, const std::string& options,
                   const fs::path& file) {
  if (file.empty() || !fs::exists(file)) return false;
  const Library& cl = library();
  try {
    Bytes binary = read_binary(file);
    const unsigned char* data = binary.data();
    std::size_t size = binary.size();
    cl_int status = CL_SUCCESS;
    cl_int code = CL_SUCCESS;
    program_ = cl.clCreateProgramWithBinary(context_, 1, &device.id, &size,
                                            &data, &status, &code);
    check_call(code, device.name, "take a compiled program");
    check_call(status, device.name, "take a compiled program");
    check_call(cl.clBuildProgram(program_, 1, &device.id, options.c_str(),
                                 nullptr, nullptr),
               device.name, "link a compiled program");
    return true;
  } catch (const Error& error) {
    log_warning("compiled program ignored",
                {{"file", file.string()}, {"why", error.what()}});
    if (program_ != nullptr) cl.clReleaseProgram(program_);
    program_ = nullptr;
    return false;
  }
}

void Program::compile(const DeviceEntry& device, const std::string& source,
                      const std::string& options) {
  const Library& cl = library();
  const char* text = source.c_str();
  std::size_t size = source.size();
  cl_int code = CL_SUCCESS;
  program_ = cl.clCreateProgramWithSource(context_, 1, &text, &size, &code);
  check_call(code, device.name, "take the kernels");
  was_compiled_ = true;
  code = cl.clBuildProgram(program_, 1, &device.id, options.c_str(), nullptr,
                           nullptr);
  if (code == CL_SUCCESS) return;
  throw Error(ErrorKind::unsupported,
              fmt::format("device \"{}\" ({}): its driver does not compile the "
                          "kernels: {}: update the driver or use another "
                          "device; it says:\n{}",
                          device.name, device.description, error_name(code),
                          first_lines(build_log(cl, program_, device.id))));
}

// A cache that cannot be written costs time and is no error.
void Program::save(const fs::path& file) const {
  if (file.empty()) return;
  try {
    std::size_t size = 0;
    check_call(library().clGetProgramInfo(program_, CL_PROGRAM_BINARY_SIZES,
                                          sizeof size, &size, nullptr),
               "", "size of the compiled program");
    Bytes binary(std::min<std::size_t>(size, kMostBytes));
    unsigned char* data = binary.data();
    check_call(library().clGetProgramInfo(program_, CL_PROGRAM_BINARIES,
                                          sizeof data, &data, nullptr),
               "", "the compiled program");
    Hash hash = sha256(binary);
    Bytes bytes(hash.bytes.begin(), hash.bytes.end());
    bytes.insert(bytes.end(), binary.begin(), binary.end());
    make_private_folder(file.parent_path());
    write_file_durably(file, bytes);
  } catch (const Error& error) {
    log_warning("compiled program not kept",
                {{"file", file.string()}, {"why", error.what()}});
  }
}

fs::path default_cache() {
  auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return fs::path(value == nullptr ? "" : value);
  };
  if (fs::path cache = variable("XDG_CACHE_HOME"); cache.is_absolute()) {
    return cache / "quorate";
  }
  if (fs::path home = variable("HOME"); home.is_absolute()) {
    return home / ".cache" / "quorate";
  }
  return {};
}

std::shared_ptr<Program> shared_program(const DeviceEntry& device) {
  // Never destroyed: a driver may be gone before our last object is.
  static auto& programs =
      *new std::map<cl_device_id, std::shared_ptr<Program>>();
  static std::mutex mutex;
  std::lock_guard lock(mutex);
  std::shared_ptr<Program>& program = programs[device.id];
  if (program == nullptr) {
    program = std::make_shared<Program>(device, kernel_source(),
                                        build_options(device), default_cache());
  }
  return program;
}

}  // namespace quorate::opencl
