#include "kernels/opencl/program.h"

#include <algorithm>
#include <cstdlib>

#include <doctest/doctest.h>

#include "base/crypto.h"
#include "base/error.h"
#include "base/file.h"
#include "tests/kernels/opencl/any_device.h"
#include "tests/support/temporary_folder.h"

namespace quorate::opencl {
namespace {

const std::string kSource =
    "__kernel void twice(__global float* x) { x[get_global_id(0)] *= 2.0f; }\n";
const std::string kOptions = "-cl-std=CL1.2";

std::vector<fs::path> files_of(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    files.push_back(entry.path());
  }
  return files;
}

}  // namespace

TEST_CASE("the second start takes the compiled program") {
  auto device = test::any_opencl_device();
  if (!device) return;
  test::TemporaryFolder folder;
  fs::path cache = folder.path() / "new" / "quorate";
  CHECK(Program(*device, kSource, kOptions, cache).was_compiled());
  CHECK(files_of(cache).size() == 1);
  CHECK_FALSE(Program(*device, kSource, kOptions, cache).was_compiled());

  // Whatever the program depends on makes it another one.
  CHECK(Program(*device, kSource + "\n", kOptions, cache).was_compiled());
  CHECK(Program(*device, kSource, kOptions + " -DX", cache).was_compiled());
  DeviceEntry updated = *device;
  updated.build += "1";
  CHECK(Program(updated, kSource, kOptions, cache).was_compiled());
  CHECK(files_of(cache).size() == 4);
}

TEST_CASE("a damaged file is compiled anew and replaced") {
  auto device = test::any_opencl_device();
  if (!device) return;
  test::TemporaryFolder folder;
  Program(*device, kSource, kOptions, folder.path());
  REQUIRE(files_of(folder.path()).size() == 1);
  fs::path file = files_of(folder.path()).front();
  const Bytes whole = read_file(file);
  Bytes flipped = whole;
  flipped[flipped.size() / 2] ^= 1;
  const Bytes kDamaged[] = {
      {}, Bytes(10, 7), Bytes(whole.begin(), whole.end() - 1), flipped};
  for (const Bytes& damaged : kDamaged) {
    CAPTURE(damaged.size());
    write_file_durably(file, damaged);
    CHECK(Program(*device, kSource, kOptions, folder.path()).was_compiled());
    CHECK_FALSE(
        Program(*device, kSource, kOptions, folder.path()).was_compiled());
  }
}

TEST_CASE("a whole file that the driver does not take is replaced, too") {
  auto device = test::any_opencl_device();
  if (!device) return;
  test::TemporaryFolder folder;
  Program(*device, kSource, kOptions, folder.path());
  REQUIRE(files_of(folder.path()).size() == 1);
  Bytes file(5000, 'x');
  Hash hash = sha256(ByteView(file).subspan(32));
  std::copy(hash.bytes.begin(), hash.bytes.end(), file.begin());
  write_file_durably(files_of(folder.path()).front(), file);
  CHECK(Program(*device, kSource, kOptions, folder.path()).was_compiled());
  CHECK_FALSE(
      Program(*device, kSource, kOptions, folder.path()).was_compiled());
}

TEST_CASE("a folder that cannot be written costs time alone") {
  auto device = test::any_opencl_device();
  if (!device) return;
  for (const char* cache : {"", "/dev/null/quorate"}) {
    CHECK(Program(*device, kSource, kOptions, cache).was_compiled());
  }
}

TEST_CASE("a driver that does not compile is quoted") {
  auto device = test::any_opencl_device();
  if (!device) return;
  try {
    Program(*device, "__kernel void broken(unheard_of* x) {}\n", kOptions, "");
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::unsupported);
    std::string text = error.what();
    CAPTURE(text);
    CHECK(text.find("device \"" + device->name) != std::string::npos);
    CHECK(text.find("CL_BUILD_PROGRAM_FAILURE") != std::string::npos);
    CHECK(text.find("unheard_of") != std::string::npos);
  }
}

TEST_CASE("the cache lies where people expect it") {
  test::TemporaryFolder folder;
  ::setenv("XDG_CACHE_HOME", folder.path().c_str(), 1);
  CHECK(default_cache() == folder.path() / "quorate");
  ::setenv("XDG_CACHE_HOME", "not/absolute", 1);
  ::setenv("HOME", "/home/somebody", 1);
  CHECK(default_cache() == "/home/somebody/.cache/quorate");
  ::unsetenv("XDG_CACHE_HOME");
  ::unsetenv("HOME");
  CHECK(default_cache() == "");
}

}  // namespace quorate::opencl
