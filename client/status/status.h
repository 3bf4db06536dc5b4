// What `quorate-client status` shows; its words are in status_text.h.
//
// The room client/status reads the files of the data folder and puts them into
// words, for the terminal, the page and the agent's own log. It owns nothing,
// may run beside an agent, and may include client/units and what stands before
// it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "client/folder/data_folder.h"
#include "client/permission/prefs.h"
#include "client/units/state_file.h"

namespace quorate::client {

// One for each attached project, whether its agent runs or not.
struct ProjectStatus {
  Project project;
  Counters counters;
  Activity activity;          // pid 0: no agent runs
  Standing standing;          // asked 0: never heard
  std::string state_trouble;  // why state.json cannot be read; else empty
  std::vector<TaskActivity> tasks;
};
struct Status {
  std::optional<Pause> pause;  // that somebody asked for
  Prefs prefs;
  std::string prefs_trouble;  // why they cannot be read; else empty
  std::int64_t time = 0;      // when it was read, ms since 1970
  std::vector<ProjectStatus> projects;
  bool is_waiting = false;  // a client runs, and waits for a project
};

// Reads the files of the folder; an agent may be running. Throws io, corrupt.
Status read_status(const DataFolder& folder, std::int64_t unix_ms);

// Results of a project that were begun here and are not reported; 0 when the
// books cannot be read.
std::uint64_t unfinished_results(const DataFolder& folder,
                                 const ProjectId& project);

std::string status_json(const Status& status);
}  // namespace quorate::client
