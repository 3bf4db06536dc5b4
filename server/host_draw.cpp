#include "server/host_draw.h"

#include <set>

#include "base/crypto.h"

namespace quorate {
namespace {

// Users are drawn one by one, so often before all of them are looked at.
constexpr int kTries = 32;

class Draw {
 public:
  Draw(const ProjectState& state, const LiveUnit& live, ResultId result)
      : state_(state), live_(live) {
    for (const Result& other : live.results) {
      std::optional<HostId> kept = state.reservations.host(other.id);
      if (kept && other.id != result) taken_.insert(user_of(*kept));
    }
  }

  std::optional<HostId> of_idle(std::span<const HostId> waiting) const {
    std::vector<Candidate> idle;
    for (HostId id : waiting) {
      if (state_.feeder.in_progress(id).empty()) add(id, idle);
    }
    return draw(idle);
  }

  // As fair as to look at everybody, and quick with thousands.
  std::optional<HostId> of_some_user() const {
    const std::vector<UserId>& users = state_.hosts.volunteers();
    for (int i = 0; i < kTries && !users.empty(); ++i) {
      UserId user = users[secret_random_u64() % users.size()];
      if (taken_.contains(user) || !suits(live_.results, user)) continue;
      std::vector<Candidate> active;
      for (HostId id : state_.hosts.hosts_of(user)) {
        if (state_.is_active(id)) active.push_back({id, user});
      }
      if (std::optional<HostId> host = draw(active)) return host;
    }
    return std::nullopt;
  }

  std::optional<HostId> of_all() const {
    std::vector<Candidate> active;
    for (HostId id : state_.active_hosts()) add(id, active);
    return draw(active);
  }

 private:
  UserId user_of(HostId id) const {
    return state_.hosts.hosts().at(id).user_id;
  }

  void add(HostId id, std::vector<Candidate>& candidates) const {
    UserId user = user_of(id);
    if (!taken_.contains(user)) candidates.push_back({id, user});
  }

  std::optional<HostId> draw(const std::vector<Candidate>& candidates) const {
    return draw_host(live_.results, candidates, secret_random_u64(),
                     secret_random_u64());
  }

  const ProjectState& state_;
  const LiveUnit& live_;
  std::set<UserId> taken_;
};

}  // namespace

std::optional<HostId> draw_host_for(const ProjectState& state,
                                    const LiveUnit& live, ResultId result,
                                    std::span<const HostId> waiting) {
  Draw draw(state, live, result);
  if (auto host = draw.of_idle(waiting)) return host;
  if (auto host = draw.of_some_user()) return host;
  return draw.of_all();
}

}  // namespace quorate
