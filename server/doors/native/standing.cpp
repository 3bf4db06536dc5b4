#include "server/doors/native/standing.h"

#include <algorithm>

#include "base/error.h"

namespace quorate {
namespace {

bool is_pending(const Result& result, HostId host) {
  return result.host == host && result.server_state == ServerState::over &&
         result.outcome == ResultOutcome::success &&
         result.validate_state == ValidateState::init;
}

std::uint64_t pending_of(const ProjectState& state, HostId host) {
  std::uint64_t count = 0;
  for (const auto& [id, live] : state.feeder.units()) {
    count += static_cast<std::uint64_t>(std::count_if(
        live.results.begin(), live.results.end(),
        [host](const Result& result) { return is_pending(result, host); }));
  }
  return count;
}

}  // namespace

protocol::StandingReply standing_of(ProjectState& state, HostId id) {
  const Host* host = state.hosts.host(id);
  check(host != nullptr, "a host that has a session is registered");
  const User* user = state.hosts.user(host->user_id);
  protocol::StandingReply reply;
  reply.host = id;
  reply.valid = host->valid;
  reply.invalid = host->invalid;
  reply.errors = host->errors;
  reply.pending = pending_of(state, id);
  reply.in_progress = state.feeder.in_progress(id).size();
  reply.credit = host->credit;
  reply.user_credit = user == nullptr ? host->credit : user->credit;
  for (const HostShare& share : state.store.shares_of(id)) {
    auto run = state.runs.find(share.run);
    if (run == state.runs.end()) continue;
    reply.runs.push_back({run->second.run.name, share.results,
                          share.first_version, share.last_version});
  }
  return reply;
}

}  // namespace quorate
