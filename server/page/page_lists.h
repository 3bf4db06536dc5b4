// The lists of the project that the page shows, as JSON. Of what a project may
// have many of, each holds the first, and says in "total" how many there are:
// {total, rows}. Used by the writer's thread only.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "server/state/project_state.h"

namespace quorate::page {

// The newest run that goes on, then the others, the newest first.
bool is_shown_before(const TrainingRun* a, const TrainingRun* b);

// A text without the server's folders: of each path only the file's name.
std::string without_folders(const std::string& text, const fs::path& root);

// A rejected result's row (status::rejected) as everybody may see it: without
// its claim, under the host's public name, and without the host's own words.
void make_public(ProjectState& state, nlohmann::json& row);

// A run as `quorate train list --json` has it, without paths.
nlohmann::json run(ProjectState& state, const TrainingRun& training);
nlohmann::json runs(ProjectState& state);
// By credit; of a host only what everybody may know before a verdict.
nlohmann::json hosts(ProjectState& state);
nlohmann::json users(ProjectState& state);
// Rows only, newest first. What happened again and again to one host in one
// run is one row, the newest, with how often: a cheat's results would leave no
// room for anything else.
nlohmann::json events(ProjectState& state);

}  // namespace quorate::page
