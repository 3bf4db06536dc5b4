// What is left of a simulation: a summary, tables, and a page with charts that
// needs nothing else to be shown.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "server/simulator/simulation.h"

namespace quorate {

// Of one that is over. Equal for equal scenarios and seeds.
nlohmann::json summary_of(const Scenario& scenario, Simulation& simulation);
// For people, without the last line's end.
std::string text_of(const nlohmann::json& summary);
// summary.json, timeline.csv, versions.csv, report.html.
void write_results(const fs::path& folder, const Scenario& scenario,
                   const Recording& recording, const nlohmann::json& summary);

}  // namespace quorate
