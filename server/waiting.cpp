#include "server/waiting.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "server/matching.h"

namespace quorate {
namespace {

std::set<UserId> active_users(const ProjectState& state) {
  std::set<UserId> users;
  for (HostId id : state.active_hosts()) {
    users.insert(state.hosts.hosts().at(id).user_id);
  }
  return users;
}

// Results of a unit that no user may compute who is there.
std::size_t stuck_results(const LiveUnit& live, const std::set<UserId>& users) {
  bool has_taker = std::any_of(users.begin(), users.end(), [&](UserId user) {
    return suits_again(live.results, user);
  });
  if (has_taker) return 0;
  return static_cast<std::size_t>(std::count_if(
      live.results.begin(), live.results.end(), [](const Result& result) {
        return result.server_state == ServerState::unsent;
      }));
}

std::string counted(std::size_t count, const char* one, const char* many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

}  // namespace

WaitingRun waiting_run(const ProjectState& state, const TrainingRun& training) {
  WaitingRun run;
  run.is_served = state.is_served;
  run.has_house_worker = state.settings.house_workers > 0;
  run.quorum = training.run.quorum;
  if (!run.is_served || run.has_house_worker) return run;
  std::set<UserId> users = active_users(state);
  run.users = users.size();
  for (WorkunitId id :
       state.feeder.units_in(training.run.key, WorkunitState::open)) {
    run.stuck += stuck_results(state.feeder.units().at(id), users);
  }
  return run;
}

std::string why_it_waits(const WaitingRun& run) {
  if (!run.is_served) return "waits: no server runs; start `quorate serve`";
  if (run.has_house_worker) return "";
  if (run.users == 0) {
    return fmt::format("waits: no volunteer is there{}, and no house worker",
                       run.stuck == 0
                           ? ""
                           : " for " + counted(run.stuck, "result", "results"));
  }
  if (run.stuck == 0) return "";
  return fmt::format(
      "waits: {} {} user (quorum {}); there {} {}, and no house worker",
      counted(run.stuck, "result needs", "results need"),
      run.users == 1 ? "a second" : "another", run.quorum,
      run.users == 1 ? "is" : "are", run.users);
}

}  // namespace quorate
