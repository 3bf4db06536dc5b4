// Which of the attached projects is meant.
#pragma once

#include <string>
#include <vector>

#include "client/folder/project.h"

namespace quorate::client {

// name: URL, URL#FINGERPRINT, or a fingerprint's first 8 digits or more; empty:
// the only one. how: what to type to choose one, "--project FINGERPRINT".
// Throws usage, listing the attached ones, unless exactly one is meant. Pure.
// A prefix that fits two projects is refused, too.
Project choose_project(const std::vector<Project>& projects,
                       const std::string& name, const std::string& how);

}  // namespace quorate::client
