#include "server/settings/operation_lock.h"

#include <fmt/format.h>

#include "base/error.h"

namespace quorate {

FileLock lock_for(const std::string& command, const fs::path& path,
                  const std::string& what) {
  try {
    return FileLock(path);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::denied) throw;
    throw Error(
        ErrorKind::unavailable,
        fmt::format("{}: {}: try again when that is done", command, what));
  }
}

}  // namespace quorate
