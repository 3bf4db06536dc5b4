// What people and programs are shown of a project, as JSON: every figure of the
// page and of the CLI's tables is put together here. Counts of units and
// results are kept by the store (server/store), evaluations by
// server/making/evaluations. What of it is public, on the page, is
// server/page/page_data's decision. Used by the writer's thread only.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "server/state/project_state.h"

namespace quorate::status {

// {runs, hosts_active, results_in_progress, results_waiting,
//  results_per_minute, roles_off}
nlohmann::json summary(ProjectState& state);
// {run, state, waits, rule, version, results_assimilated, ..., accuracy,
//  best_accuracy}; see docs/protocol.md. progress: the share of its samples
// that is handed out; done: that is in the model.
nlohmann::json run(ProjectState& state, const TrainingRun& training);
// Fixed when it was created: lr, batch, rule settings, ...
nlohmann::json settings(const Run& run);
nlohmann::json host(ProjectState& state, const Host& host);
nlohmann::json hosts(ProjectState& state);
// An account with the sums of its hosts.
nlohmann::json user(ProjectState& state, const User& user);
// With the name of its run.
nlohmann::json workunit(ProjectState& state, const Workunit& unit);
// Whatever its verdict: of a result that has none, without its claim.
nlohmann::json result(ProjectState& state, const Result& result);
// Published and evaluated versions, oldest first.
nlohmann::json snapshots(const TrainingRun& training);
nlohmann::json evaluation(const Evaluation& row);
// Rejected results with the reasons, newest first.
nlohmann::json rejected(ProjectState& state, const TrainingRun& training,
                        const Page& page);
nlohmann::json event(ProjectState& state, const Event& row);
nlohmann::json events(ProjectState& state, const Page& page);
// Prometheus text.
std::string metrics(ProjectState& state);

}  // namespace quorate::status
