#include "client/worker/confinement/landlock.h"

#include <cerrno>
#include <cstdint>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/landlock.h>

namespace quorate::worker {
namespace {

// Debian 12's headers end at version 2 of the interface; kernels go on.
constexpr std::uint64_t kTruncate = 1ULL << 14;       // version 3
constexpr std::uint64_t kDeviceControl = 1ULL << 15;  // version 5
constexpr std::uint64_t kBindTcp = 1ULL << 0;         // version 4
constexpr std::uint64_t kConnectTcp = 1ULL << 1;
constexpr std::uint64_t kAbstractSockets = 1ULL << 0;  // version 6
constexpr std::uint64_t kSignals = 1ULL << 1;

struct Ruleset {
  std::uint64_t files = 0;
  std::uint64_t network = 0;
  std::uint64_t scoped = 0;
};

constexpr std::uint64_t kRead =
    LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
constexpr std::uint64_t kUse =
    kRead | LANDLOCK_ACCESS_FS_WRITE_FILE | kTruncate | kDeviceControl;
constexpr std::uint64_t kOwn =
    kRead | LANDLOCK_ACCESS_FS_WRITE_FILE | kTruncate |
    LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE |
    LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |
    LANDLOCK_ACCESS_FS_REFER;
// What a rule for a file may name.
constexpr std::uint64_t kOfFiles =
    LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE |
    LANDLOCK_ACCESS_FS_WRITE_FILE | kTruncate | kDeviceControl;

long version_of_kernel() {
  return ::syscall(SYS_landlock_create_ruleset, nullptr, 0,
                   LANDLOCK_CREATE_RULESET_VERSION);
}

// All that this version can refuse.
Ruleset everything(long version) {
  Ruleset rules;
  rules.files = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1;  // version 1
  if (version >= 2) rules.files |= LANDLOCK_ACCESS_FS_REFER;
  if (version >= 3) rules.files |= kTruncate;
  if (version >= 4) rules.network = kBindTcp | kConnectTcp;
  if (version >= 5) rules.files |= kDeviceControl;
  if (version >= 6) rules.scoped = kAbstractSockets | kSignals;
  return rules;
}

// Older kernels take a shorter structure.
std::size_t size_for(long version) {
  constexpr std::size_t kField = sizeof(std::uint64_t);
  if (version >= 6) return 3 * kField;
  return version >= 4 ? 2 * kField : kField;
}

void allow(int ruleset, const fs::path& path, std::uint64_t access) {
  FileDescriptor parent(::open(path.c_str(), O_PATH | O_CLOEXEC));
  if (!parent) return;
  std::error_code unknown;
  if (!fs::is_directory(path, unknown)) access &= kOfFiles;
  landlock_path_beneath_attr rule{};
  rule.allowed_access = access;
  rule.parent_fd = parent.get();
  ::syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule,
            0);
}

}  // namespace

std::string restrict_files(const FileRules& rules) {
  const long version = version_of_kernel();
  if (version < 1) {
    return "this kernel has no Landlock, or does not use it: files are not "
           "confined";
  }
  const Ruleset all = everything(version);
  const FileDescriptor ruleset(static_cast<int>(
      ::syscall(SYS_landlock_create_ruleset, &all, size_for(version), 0)));
  if (!ruleset) {
    return fmt::format("Landlock: {}: files are not confined",
                       std::strerror(errno));
  }
  const std::uint64_t execute =
      rules.may_execute ? LANDLOCK_ACCESS_FS_EXECUTE : 0;
  for (const fs::path& path : rules.read) {
    allow(ruleset.get(), path, (kRead | execute) & all.files);
  }
  for (const fs::path& path : rules.write) {
    allow(ruleset.get(), path, kUse & all.files);
  }
  for (const fs::path& path : rules.own) {
    allow(ruleset.get(), path, (kOwn | execute) & all.files);
  }
  if (::syscall(SYS_landlock_restrict_self, ruleset.get(), 0) != 0) {
    return fmt::format("Landlock: {}: files are not confined",
                       std::strerror(errno));
  }
  return "";
}

}  // namespace quorate::worker
