#include "tests/support/temporary_folder.h"

#include <cstdlib>
#include <system_error>

#include "base/error.h"

namespace quorate::test {

TemporaryFolder::TemporaryFolder() {
  std::string name = (fs::temp_directory_path() / "quorate-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) throw_errno("make folder " + name);
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace quorate::test
