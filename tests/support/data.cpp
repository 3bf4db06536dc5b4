#include "tests/support/data.h"

#include <cstdlib>

namespace quorate::test {

std::optional<fs::path> data_path(const std::string& relative) {
  const char* root = std::getenv("QUORATE_DATA");
  if (root == nullptr) return {};
  fs::path path = fs::path(root) / relative;
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return {};
  return path;
}

Bytes golden(const fs::path& file, ByteView actual) {
  if (std::getenv("QUORATE_WRITE_GOLDEN") != nullptr) {
    write_file_durably(file, actual);
  }
  return read_file(file);
}

}  // namespace quorate::test
