#include "server/apps/program_files.h"

#include <doctest/doctest.h>

#include "tests/server/apps/app_samples.h"
#include "tests/support/temporary_folder.h"

#include <elf.h>

namespace quorate::boinc {
namespace {

using quorate::test::TemporaryFolder;

constexpr const char* kForeign = "aarch64-unknown-linux-gnu";

// A folder with a foreign program, which no loader here can be asked about.
struct ForeignProgram {
  TemporaryFolder folder;
  fs::path program = folder / "worker";
  fs::path library = folder / "libmine.so.1.2.3";

  ForeignProgram() {
    save(program, {EM_AARCH64, true, "", {"libmine.so.1", "libc.so.6"}});
    save(library, {EM_AARCH64, false, "libmine.so.1", {"libm.so.6"}});
  }
  static void save(const fs::path& path, const ElfFile& file) {
    write_file_durably(path, test::elf_bytes(file));
  }
  NewVersion read(const std::vector<fs::path>& libraries = {}) const {
    return read_program(program, libraries, kForeign, {DeviceKind::cpu});
  }
  std::string refusal(const std::vector<fs::path>& libraries = {}) const {
    return test::refusal_of(ErrorKind::usage, [&] { read(libraries); });
  }
};

}  // namespace

TEST_CASE("lines of the loader") {
  auto found = parse_loader_line(
      "\tlibfmt.so.9 => /lib/x86_64-linux-gnu/libfmt.so.9 "
      "(0x00007fdc64b5c000)");
  REQUIRE(found);
  CHECK(found->soname == "libfmt.so.9");
  CHECK(found->path == "/lib/x86_64-linux-gnu/libfmt.so.9");
  found = parse_loader_line("\tlib a.so => /my folder (1)/lib a.so (0x00a)");
  REQUIRE(found);
  CHECK(found->path == "/my folder (1)/lib a.so");
  found = parse_loader_line("\tlibgone.so.1 => not found");
  REQUIRE(found);
  CHECK(found->path.empty());
  for (const char* other :
       {"\tlinux-vdso.so.1 (0x00007fdc655ad000)", "", "\tstatically linked",
        "\t/lib64/ld-linux-x86-64.so.2 (0x00007fdc655af000)"}) {
    CAPTURE(other);
    CHECK_FALSE(parse_loader_line(other));
  }
}

TEST_CASE("the libraries of the system stay where they are") {
  for (const char* own :
       {"libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2",
        "ld-linux-x86-64.so.2", "libcrypto.so.3", "libstdc++.so.6",
        "libgcc_s.so.1"}) {
    CHECK(is_of_system(own));
  }
  for (const char* other : {"libfmt.so.9", "libstdc.so.6", "libmine.so.6"}) {
    CHECK_FALSE(is_of_system(other));
  }
}

TEST_CASE("a program of this machine brings the libraries that it needs") {
  NewVersion version =
      read_program("/proc/self/exe", {}, own_platform(), {DeviceKind::opencl});
  CHECK(version.platform == own_platform());
  CHECK(version.devices == std::vector{DeviceKind::opencl});
  CHECK(version.program.bytes == read_file("/proc/self/exe"));
  bool has_fmt = false;
  for (const AppContent& library : version.libraries) {
    CAPTURE(library.open_name);
    CHECK_FALSE(is_of_system(library.open_name));
    CHECK_FALSE(read_elf(library.bytes, "x").is_program);
    has_fmt |= library.open_name.starts_with("libfmt.so");
  }
  CHECK(has_fmt);
}

TEST_CASE("libraries of a foreign program are named by hand") {
  ForeignProgram foreign;
  NewVersion version = foreign.read({foreign.library});
  CHECK(version.platform == kForeign);
  CHECK(version.program.open_name == "worker");
  REQUIRE(version.libraries.size() == 1);
  CHECK(version.libraries[0].open_name == "libmine.so.1");  // not the file's
  CHECK(test::has(foreign.refusal(), "it needs libmine.so.1"));
  CHECK(test::has(foreign.refusal({foreign.library, foreign.library}),
                  "is there already"));
  // What a library needs is looked for, too.
  ForeignProgram::save(foreign.library,
                       {EM_AARCH64, false, "libmine.so.1", {"libother.so.2"}});
  CHECK(test::has(foreign.refusal({foreign.library}), "needs libother.so.2"));
  ForeignProgram::save(foreign.library, {EM_AARCH64, false, "../x", {}});
  CHECK(test::has(foreign.refusal({foreign.library}), "not a valid file name"));
}

TEST_CASE("what is no program for the platform is refused") {
  ForeignProgram foreign;
  auto refusal_of = [](const fs::path& program, std::string_view platform) {
    return test::refusal_of(ErrorKind::usage, [&] {
      read_program(program, {}, platform, {DeviceKind::cpu});
    });
  };
  CHECK(test::has(refusal_of(foreign.program, "x86_64-pc-linux-gnu"),
                  "not built for x86_64-pc-linux-gnu"));
  CHECK(test::has(refusal_of(foreign.library, kForeign),
                  "expected a program, found a library"));
  CHECK(test::has(refusal_of(foreign.program, "windows_x86_64"),
                  "known: x86_64-pc-linux-gnu, "));
  CHECK(test::has(refusal_of(foreign.folder / "none", kForeign),
                  "there is no such file"));
  write_file_durably(foreign.program, as_bytes("#!/bin/sh\n"));
  CHECK(test::has(refusal_of(foreign.program, kForeign), "ends before"));
  write_file_durably(foreign.program, as_bytes(std::string(4096, '#')));
  CHECK(test::has(refusal_of(foreign.program, kForeign), "expected an ELF"));
}

}  // namespace quorate::boinc
