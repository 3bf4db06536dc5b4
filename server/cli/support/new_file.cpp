#include "server/cli/support/new_file.h"

#include <fmt/format.h>

#include "base/error.h"

namespace quorate {

void expect_new_file(const std::string& command, const fs::path& out,
                     bool may_replace) {
  auto refuse = [&](const std::string& why) {
    throw Error(ErrorKind::usage,
                fmt::format("{}: --out {}: {}", command, out.string(), why));
  };
  std::error_code ignored;
  fs::path folder = fs::absolute(out).parent_path();
  if (fs::is_directory(out, ignored)) refuse("this is a folder: name a file");
  if (!fs::is_directory(folder, ignored)) {
    refuse(
        fmt::format("there is no folder {}: make it first", folder.string()));
  }
  if (fs::exists(out, ignored) && !may_replace) {
    refuse("this file exists: name another, or say --force");
  }
}

}  // namespace quorate
