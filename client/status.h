// What `quorate-client status` shows.
#pragma once

#include <string>
#include <vector>

#include "client/data_folder.h"
#include "client/state_file.h"

namespace quorate::client {

struct ProjectStatus {
  Project project;
  Counters counters;
  Activity activity;  // pid 0: no agent runs
  std::vector<TaskActivity> tasks;
};
struct Status {
  bool is_paused = false;
  std::vector<ProjectStatus> projects;
};

// Reads the files of the folder; an agent may be running. Throws io, corrupt.
Status read_status(const DataFolder& folder);

std::string status_json(const Status& status);
// For people.
std::string status_text(const Status& status);

}  // namespace quorate::client
