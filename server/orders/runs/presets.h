// Settings of a run that belong together, under one name.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace quorate {

std::vector<std::string> preset_names();

// The wishes with what their `preset`, if they name one, has of what they do
// not say themselves. Throws usage for an unknown preset, and for wishes of
// another rule than the preset's.
nlohmann::json with_preset(const nlohmann::json& wishes);

}  // namespace quorate
