// A simulation as a page that needs no other file.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "server/simulator/recording.h"

namespace quorate {

// scenario: as its author wrote it.
std::string report_page(const nlohmann::json& scenario,
                        const nlohmann::json& summary,
                        const Recording& recording);

}  // namespace quorate
