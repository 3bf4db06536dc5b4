// The status in words, for the terminal and the page alike.
#pragma once

#include <string>

#include "client/status.h"

namespace quorate::client {

// What the agent of a project is at: "at work", "resting", "waiting for work",
// "project cannot be reached", "starting", or "no agent is running".
std::string headline(const ProjectStatus& status);
// The same of the one project whose agent runs.
std::string headline(const Status& status);

// "computing, step 5 of 20 (25 %)". is_running: an agent is.
std::string task_text(const TaskActivity& task, bool is_running);

// All of it, for people.
std::string status_text(const Status& status);

// What is said when the agent has left; reported: since it was started.
std::string farewell_text(std::uint64_t reported,
                          const std::vector<Task>& tasks);

}  // namespace quorate::client
