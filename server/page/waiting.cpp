#include "server/page/waiting.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "server/making/work_generator.h"
#include "server/sending/eligibility.h"
#include "server/sending/unit_maker.h"

namespace quorate {
namespace {

// Of hosts that could be sent work: a banned one may still ask.
std::set<UserId> active_users(const ProjectState& state) {
  std::set<UserId> users;
  for (HostId id : state.active_hosts()) {
    if (state.is_banned(id)) continue;
    users.insert(state.hosts.hosts().at(id).user_id);
  }
  return users;
}

// A unit's unsent result has to be a proven host's, and there is none.
bool wants_anchor(const ProjectState& state, const LiveUnit& live) {
  return state.needs_anchor(state.runs.at(live.unit.run).run) &&
         std::none_of(live.results.begin(), live.results.end(),
                      [&](const Result& result) {
                        return state.is_of_anchor(result);
                      }) &&
         !Eligibility(state, live, true)
              .has_volunteer(Eligibility::From::anchors);
}

std::size_t unsent_results(const LiveUnit& live) {
  return static_cast<std::size_t>(std::count_if(
      live.results.begin(), live.results.end(), [](const Result& result) {
        return result.server_state == ServerState::unsent;
      }));
}

// Reported, and nobody but a house worker can bring it on.
bool waits_for_house(const LiveUnit& live) {
  bool has_report = false;
  for (const Result& result : live.results) {
    const bool is_volunteers = result.user != kHouseUser;
    if (result.server_state == ServerState::in_progress && is_volunteers) {
      return false;
    }
    has_report |= result.outcome == ResultOutcome::success;
  }
  return has_report;
}

// Runs with a share go before one without; hosts are there, and none computes
// for it now.
bool gives_way(const ProjectState& state, const TrainingRun& training,
               const std::set<WorkunitId>& open) {
  if (turn_of(training.run) == Turn::shared || state.active_hosts().empty()) {
    return false;
  }
  const bool is_computed =
      std::any_of(open.begin(), open.end(), [&](WorkunitId id) {
        const auto& results = state.feeder.units().at(id).results;
        return std::any_of(results.begin(), results.end(), [](const Result& r) {
          return r.server_state == ServerState::in_progress;
        });
      });
  return !is_computed &&
         std::any_of(state.runs.begin(), state.runs.end(), [](const auto& one) {
           const Run& other = one.second.run;
           return other.state == RunState::running &&
                  turn_of(other) == Turn::shared;
         });
}

std::size_t waiting_for_house(const ProjectState& state,
                              const std::set<WorkunitId>& open) {
  if (open.size() < most_open_units(state.active_hosts().size())) return 0;
  return static_cast<std::size_t>(
      std::count_if(open.begin(), open.end(), [&](WorkunitId id) {
        return waits_for_house(state.feeder.units().at(id));
      }));
}

std::string counted(std::size_t count, const char* one, const char* many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

}  // namespace

WaitingRun waiting_run(const ProjectState& state, const TrainingRun& training) {
  WaitingRun run;
  run.is_served = state.is_served;
  run.has_house_worker = state.has_referee();
  run.quorum = training.run.quorum;
  if (!run.is_served) return run;
  const std::set<WorkunitId>& open =
      state.feeder.units_in(training.run.key, WorkunitState::open);
  run.gives_way = gives_way(state, training, open);
  if (run.has_house_worker) {
    run.for_house = waiting_for_house(state, open);
    return run;
  }
  run.users = active_users(state).size();
  for (WorkunitId id : open) {
    const LiveUnit& live = state.feeder.units().at(id);
    const bool is_waiting_for_proof = wants_anchor(state, live);
    const bool has_taker = Eligibility(state, live, true).has_volunteer();
    if (has_taker && !is_waiting_for_proof) continue;
    run.stuck += unsent_results(live);
    run.wants_anchor |= is_waiting_for_proof;
  }
  return run;
}

std::string why_it_waits(const WaitingRun& run) {
  if (!run.is_served) return "waits: no server runs; start `quorate serve`";
  if (run.gives_way) {
    return "waits: its share is 0, and runs with a share take all hosts; give "
           "it one with `quorate train change RUN --share 1`";
  }
  if (run.for_house > 0) {
    return fmt::format(
        "waits: {} for a house worker: use more or faster ones (house_workers, "
        "house_threads, house_device in quorate.toml), or fewer checks "
        "(trust_spot_check)",
        counted(run.for_house, "unit waits", "units wait"));
  }
  if (run.has_house_worker) return "";
  if (run.users == 0) {
    return fmt::format("waits: no volunteer is there{}, and no house worker",
                       run.stuck == 0
                           ? ""
                           : " for " + counted(run.stuck, "result", "results"));
  }
  if (run.stuck == 0) return "";
  if (run.wants_anchor) {
    return fmt::format(
        "waits: {} a proven host; there is none, and no house worker: run one "
        "(house_workers in quorate.toml), or type `quorate host trust HOST`",
        counted(run.stuck, "result needs", "results need"));
  }
  return fmt::format(
      "waits: {} {} user (quorum {}); there {} {}, and no house worker",
      counted(run.stuck, "result needs", "results need"),
      run.users == 1 ? "a second" : "another", run.quorum,
      run.users == 1 ? "is" : "are", run.users);
}

}  // namespace quorate
