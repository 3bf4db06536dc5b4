// The status in words, for the terminal and the page alike.
#pragma once

#include <string>

#include "client/status/status.h"

namespace quorate::client {

// What the agent of a project is at: "at work", "resting", "waiting for work",
// "project cannot be reached", "refused by the project", "starting", or "no
// agent is running".
std::string headline(const ProjectStatus& status);
// The same of the one project whose agent runs.
std::string headline(const Status& status);

// Devices as a list, alike ones counted: "cuda:0, 2 x cpu:avx512".
std::string devices_text(const std::vector<std::string>& devices);

// What a running agent computes on, and how much: "cuda:0, cpu:avx512, 3
// threads a task, 100 % of the time; GPU 50 % of the time", or "starting".
std::string computing_text(const Activity& activity);

// "computing on cpu, step 5 of 20 (25 %)". is_running: an agent is.
std::string task_text(const TaskActivity& task, bool is_running);

// All of it, for people.
std::string status_text(const Status& status);

// What is said when the agent has left; reported: since it was started.
std::string farewell_text(std::uint64_t reported,
                          const std::vector<Task>& tasks);

}  // namespace quorate::client
