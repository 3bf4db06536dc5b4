// A project as `quorate init` makes it, and a server that only answers.
#pragma once

#include "server/settings/project_folder.h"
#include "server/settings/settings.h"

namespace quorate::test {

inline fs::path new_project(const fs::path& folder) {
  create_project({folder}, "Test", "");
  return folder;
}

inline ServerSettings without_house_workers() {
  ServerSettings settings;
  settings.house_workers = 0;
  return settings;
}

}  // namespace quorate::test
