// The files of a worker on this machine: the program, and the shared libraries
// that a volunteer's machine may lack.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "server/apps/app_changes.h"
#include "server/apps/elf_file.h"

namespace quorate::boinc {

// A kind of computer that programs are made for.
struct Platform {
  std::string_view name;    // BOINC's
  std::uint16_t machine;    // ELF's
  std::string_view loader;  // of shared libraries
};

// Throws usage, naming the known ones.
const Platform& platform_named(std::string_view name);
// The one that this program is made for.
std::string_view own_platform();

// True for libraries that every Linux has which the program can run on: those
// that come with glibc, which must fit the loader, GCC's runtime, OpenSSL's
// libcrypto. They are not shipped.
bool is_of_system(std::string_view soname);

// A line of `ld.so --list`.
struct LoaderLine {
  std::string soname;
  std::string path;  // empty: not found
};
// nullopt: a line without "=>": of the kernel or the loader itself.
std::optional<LoaderLine> parse_loader_line(std::string_view line);

// The first soname that a file needs and that is neither the system's nor
// provided; nullopt if there is none.
std::optional<std::string> missing_library(
    const std::vector<ElfFile>& files, std::span<const std::string> provided);

// Reads the program, `libraries`, and, of a program for this machine's
// platform, what else its loader finds for them. Throws usage if one of them is
// no ELF file for the platform, the first is no program, or a library is not
// found; corrupt for one that is damaged or too large; io.
NewVersion read_program(const fs::path& program,
                        const std::vector<fs::path>& libraries,
                        std::string_view platform,
                        std::vector<DeviceKind> devices);

}  // namespace quorate::boinc
