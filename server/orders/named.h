// What an operator names in an order: hosts, users, moments. Each function
// throws usage for what there is not, and says what there is. Used by the
// writer's thread only.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "server/state/project_state.h"

namespace quorate {

// "a, b, c and 5 more", or "none": for errors that say what is known.
std::string known(const std::vector<std::string>& names);

// With this id, name or key (in hexadecimal).
Host& host_named(ProjectState& state, const std::string& wanted);
const User& user_named(ProjectState& state, const std::string& wanted);

// One that is over is found, too.
Workunit workunit_named(ProjectState& state, WorkunitId id);

// Throws usage if the host's account is banned or deleted: that binds the host,
// whatever is said of it alone.
void expect_good_account(const ProjectState& state, const Host& host);

// The order's "reason", for people.
std::string reason_of(const nlohmann::json& arguments);

// "6h" (before `now`, also "1h30m", "2d"), or a date with or without a time,
// "2026-11-24", "2026-11-24T10:30", "2026-11-24 10:30:05Z": local time, or UTC
// with a Z. Throws usage for anything else and for a moment to come.
Millis since_text(const std::string& text, Millis now);

}  // namespace quorate
