#include "server/host_draw.h"

#include <set>

namespace quorate {
namespace {

// Users are drawn one by one, so often before all hosts are looked at: as fair,
// and quick with thousands.
constexpr std::size_t kTries = 32;

class Draw {
 public:
  Draw(const ProjectState& state, const LiveUnit& live, ResultId result,
       const WaitingHosts& waiting)
      : state_(state), live_(live), waiting_(waiting) {
    for (const Result& other : live.results) {
      std::optional<HostId> kept = state.reservations.host(other.id);
      if (kept && other.id != result) taken_.insert(user_of(*kept));
    }
  }

  std::optional<HostId> of_idle() const {
    if (waiting_.size() > kTries) {
      if (auto host = of_some_user(&Draw::is_idle)) return host;
    }
    std::vector<Candidate> idle;
    for (const auto& [id, question] : waiting_) {
      if (is_idle(id)) add(id, idle);
    }
    return draw(idle);
  }

  std::optional<HostId> of_anchors() const {
    if (auto host = of_some_user(&Draw::is_active_anchor)) return host;
    std::vector<Candidate> anchors;
    for (HostId id : state_.active_hosts()) {
      if (state_.is_anchor(id)) add(id, anchors);
    }
    return draw(anchors);
  }

  std::optional<HostId> of_active() const {
    if (auto host = of_some_user(&Draw::is_active)) return host;
    std::vector<Candidate> active;
    for (HostId id : state_.active_hosts()) add(id, active);
    return draw(active);
  }

 private:
  bool is_idle(HostId id) const {
    return waiting_.contains(id) && is_active(id) &&
           state_.feeder.in_progress(id).empty() &&
           state_.reservations.kept_for(id).empty();
  }

  // Banned ones get no work.
  bool is_active(HostId id) const {
    return state_.is_active(id) && !state_.is_banned(id);
  }

  bool is_active_anchor(HostId id) const {
    return state_.is_active(id) && state_.is_anchor(id);
  }

  UserId user_of(HostId id) const { return state_.hosts.host(id)->user_id; }

  bool suits_user(UserId user) const {
    return !taken_.contains(user) && suits(live_.results, user);
  }

  void add(HostId id, std::vector<Candidate>& candidates) const {
    UserId user = user_of(id);
    if (suits_user(user) && state_.is_apart(live_, id)) {
      candidates.push_back({id, user});
    }
  }

  std::optional<HostId> of_some_user(bool (Draw::*is_wanted)(HostId)
                                         const) const {
    const std::vector<UserId>& users = state_.hosts.volunteers();
    for (std::size_t i = 0; i < kTries && !users.empty(); ++i) {
      UserId user = users[state_.draw() % users.size()];
      if (!suits_user(user)) continue;
      std::vector<Candidate> wanted;
      for (HostId id : state_.hosts.hosts_of(user)) {
        if ((this->*is_wanted)(id) && state_.is_apart(live_, id)) {
          wanted.push_back({id, user});
        }
      }
      if (std::optional<HostId> host = draw(wanted)) return host;
    }
    return std::nullopt;
  }

  std::optional<HostId> draw(const std::vector<Candidate>& candidates) const {
    const std::uint64_t user = state_.draw();
    return draw_host(candidates, user, state_.draw());
  }

  const ProjectState& state_;
  const LiveUnit& live_;
  const WaitingHosts& waiting_;
  std::set<UserId> taken_;
};

}  // namespace

std::optional<HostId> draw_host_for(const ProjectState& state,
                                    const LiveUnit& live, ResultId result,
                                    const WaitingHosts& waiting, bool anchor) {
  Draw draw(state, live, result, waiting);
  if (anchor) return draw.of_anchors();
  if (auto host = draw.of_idle()) return host;
  return draw.of_active();
}

}  // namespace quorate
