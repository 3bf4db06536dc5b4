#include "server/apps/program_files.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/child_process.h"
#include "base/error.h"
#include "protocol/boinc/names.h"

#include <elf.h>

namespace quorate::boinc {
namespace {

constexpr Platform kPlatforms[] = {
    {"x86_64-pc-linux-gnu", EM_X86_64, "/lib64/ld-linux-x86-64.so.2"},
    {"aarch64-unknown-linux-gnu", EM_AARCH64, "/lib/ld-linux-aarch64.so.1"},
};

// Of sonames, before ".so". A program needs the glibc that it was made with, or
// a later one; a system that has it has GCC's runtime and OpenSSL of that age,
// too, and each file less is a second less before the first task.
constexpr std::string_view kOfSystem[] = {
    "ld-linux-x86-64", "ld-linux-aarch64",  "libc",         "libm",
    "libmvec",         "libpthread",        "libdl",        "librt",
    "libresolv",       "libutil",           "libanl",       "libnsl",
    "libBrokenLocale", "libc_malloc_debug", "libthread_db", "libstdc++",
    "libgcc_s",        "libcrypto"};

// It reads the files and starts nothing of them.
std::vector<LoaderLine> ask_loader(const Platform& platform,
                                   const fs::path& program) {
  constexpr Seconds kPatience{30};
  ChildProcess loader({std::string(platform.loader), "--list",
                       fs::canonical(program).string()});
  std::vector<LoaderLine> found;
  std::string line;
  for (;;) {
    switch (loader.read_line(line, kPatience)) {
      case ChildProcess::Read::closed:
        return found;
      case ChildProcess::Read::timeout:
        throw Error(
            ErrorKind::io,
            fmt::format("ask {} for the libraries of {}: no answer "
                        "within {} s",
                        platform.loader, program.string(), kPatience.count()));
      case ChildProcess::Read::line:
        if (auto library = parse_loader_line(line)) found.push_back(*library);
    }
  }
}

class ProgramReader {
 public:
  ProgramReader(const fs::path& program, const Platform& platform)
      : program_(program), platform_(platform) {}

  NewVersion read(const std::vector<fs::path>& libraries) {
    version_.platform = platform_.name;
    version_.program =
        app_content(program_.filename().string(), read_for(program_, true));
    for (const fs::path& library : libraries) add_library(library, "");
    if (platform_.name == own_platform()) {
      add_found_for(program_);
      for (const fs::path& library : libraries) add_found_for(library);
    }
    if (auto missing = missing_library(files_, sonames_)) {
      throw Error(ErrorKind::usage,
                  fmt::format("app add {}: it needs {}, which was not found: "
                              "name the file with --library",
                              program_.string(), *missing));
    }
    return std::move(version_);
  }

 private:
  [[noreturn]] void refuse(const fs::path& path, const std::string& why) const {
    throw Error(ErrorKind::usage,
                fmt::format("app add {}: {}", path.string(), why));
  }

  // Its bytes; what they say goes to files_.
  Bytes read_for(const fs::path& path, bool must_be_program) {
    if (!fs::is_regular_file(path)) refuse(path, "there is no such file");
    Bytes bytes = read_file(path, kMaxAppFileBytes);
    ElfFile file;
    try {
      file = read_elf(bytes, path.string());
    } catch (const Error& error) {
      throw Error(ErrorKind::usage, fmt::format("app add {}", error.what()));
    }
    if (file.machine != platform_.machine) {
      refuse(path, fmt::format("it is not built for {}", platform_.name));
    }
    if (must_be_program && !file.is_program) {
      refuse(path, "expected a program, found a library");
    }
    files_.push_back(std::move(file));
    return bytes;
  }

  // soname: as it was found under; empty: what the file says, else its name.
  void add_library(const fs::path& path, std::string soname) {
    Bytes bytes = read_for(path, false);
    if (soname.empty()) soname = files_.back().soname;
    if (soname.empty()) soname = path.filename().string();
    if (!is_file_name(soname)) {
      refuse(path, fmt::format("\"{}\" is not a valid file name", soname));
    }
    if (is_there(soname)) refuse(path, soname + " is there already");
    if (sonames_.size() == kMaxLibraries) {
      refuse(program_, fmt::format("more than {} libraries", kMaxLibraries));
    }
    sonames_.push_back(soname);
    version_.libraries.push_back(app_content(soname, std::move(bytes)));
  }

  void add_found_for(const fs::path& path) {
    for (const LoaderLine& line : ask_loader(platform_, path)) {
      bool is_wanted = !line.path.empty() && !is_of_system(line.soname) &&
                       !is_there(line.soname);
      if (is_wanted) add_library(line.path, line.soname);
    }
  }

  bool is_there(const std::string& soname) const {
    return std::find(sonames_.begin(), sonames_.end(), soname) !=
           sonames_.end();
  }

  const fs::path& program_;
  const Platform& platform_;
  NewVersion version_;
  std::vector<ElfFile> files_;
  std::vector<std::string> sonames_;
};

}  // namespace

const Platform& platform_named(std::string_view name) {
  std::string known;
  for (const Platform& platform : kPlatforms) {
    if (platform.name == name) return platform;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", platform.name);
  }
  throw Error(ErrorKind::usage, fmt::format("platform \"{}\": unknown; known: "
                                            "{}",
                                            name, known));
}

std::string_view own_platform() {
#ifdef __aarch64__
  return kPlatforms[1].name;
#else
  return kPlatforms[0].name;
#endif
}

bool is_of_system(std::string_view soname) {
  std::string_view stem = soname.substr(0, soname.find(".so"));
  return std::find(std::begin(kOfSystem), std::end(kOfSystem), stem) !=
         std::end(kOfSystem);
}

std::optional<LoaderLine> parse_loader_line(std::string_view line) {
  constexpr std::string_view kArrow = " => ";
  std::size_t begin = line.find_first_not_of(" \t");
  std::size_t arrow = line.find(kArrow);
  if (begin == std::string_view::npos || arrow == std::string_view::npos) {
    return std::nullopt;
  }
  std::string_view path = line.substr(arrow + kArrow.size());
  std::size_t address = path.rfind(" (0x");
  path = path.substr(0, address);
  LoaderLine found{std::string(line.substr(begin, arrow - begin)), ""};
  if (path.starts_with('/')) found.path = path;
  return found;
}

std::optional<std::string> missing_library(
    const std::vector<ElfFile>& files, std::span<const std::string> provided) {
  for (const ElfFile& file : files) {
    for (const std::string& soname : file.needed) {
      bool is_there =
          is_of_system(soname) ||
          std::find(provided.begin(), provided.end(), soname) != provided.end();
      if (!is_there) return soname;
    }
  }
  return std::nullopt;
}

NewVersion read_program(const fs::path& program,
                        const std::vector<fs::path>& libraries,
                        std::string_view platform,
                        std::vector<DeviceKind> devices) {
  NewVersion version =
      ProgramReader(program, platform_named(platform)).read(libraries);
  version.devices = std::move(devices);
  return version;
}

}  // namespace quorate::boinc
