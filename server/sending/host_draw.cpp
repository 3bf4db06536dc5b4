#include "server/sending/host_draw.h"

#include <iterator>
#include <map>
#include <set>
#include <vector>

#include "server/sending/eligibility.h"

namespace quorate {
namespace {

// Users are drawn one by one, so often before all hosts are looked at: as fair,
// and quick with thousands.
constexpr std::size_t kTries = 32;

class Draw {
 public:
  Draw(const ProjectState& state, const LiveUnit& live, ResultId result,
       const WaitingHosts& waiting)
      : state_(state), waiting_(waiting), eligibility_(state, live) {
    for (const Result& other : live.results) {
      std::optional<HostId> kept = state.reservations.host(other.id);
      if (kept && other.id != result) taken_.insert(user_of(*kept));
    }
  }

  std::optional<HostId> of_idle() const {
    if (waiting_.size() > kTries) {
      if (auto host = of_some_user(&Draw::is_idle)) return host;
    }
    std::vector<HostId> idle;
    for (const auto& [id, question] : waiting_) idle.push_back(id);
    return of(idle, &Draw::is_idle);
  }

  std::optional<HostId> of_anchors() const {
    if (auto host = of_some_user(&Draw::is_anchor)) return host;
    return of(state_.active_hosts(), &Draw::is_anchor);
  }

  std::optional<HostId> of_active() const {
    if (auto host = of_some_user(&Draw::may)) return host;
    return of(state_.active_hosts(), &Draw::may);
  }

 private:
  using Wanted = bool (Draw::*)(HostId) const;

  bool is_idle(HostId id) const {
    return waiting_.contains(id) && state_.feeder.in_progress(id).empty() &&
           state_.reservations.kept_for(id).empty() && may(id);
  }

  bool may(HostId id) const { return eligibility_.is_there(id); }

  bool is_anchor(HostId id) const {
    return eligibility_.is_there(id, Eligibility::From::anchors);
  }

  UserId user_of(HostId id) const { return state_.hosts.host(id)->user_id; }

  bool is_taken(UserId user) const { return taken_.contains(user); }

  std::optional<HostId> of(const std::vector<HostId>& hosts,
                           Wanted is_wanted) const {
    std::vector<Candidate> wanted;
    for (HostId id : hosts) {
      const UserId user = user_of(id);
      if (!is_taken(user) && (this->*is_wanted)(id)) {
        wanted.push_back({id, user});
      }
    }
    return draw(wanted);
  }

  std::optional<HostId> of_some_user(Wanted is_wanted) const {
    const std::vector<UserId>& users = state_.hosts.volunteers();
    for (std::size_t i = 0; i < kTries && !users.empty(); ++i) {
      const UserId user = users[state_.draw() % users.size()];
      if (is_taken(user) || !eligibility_.suits(user)) continue;
      if (auto host = of(state_.hosts.hosts_of(user), is_wanted)) return host;
    }
    return std::nullopt;
  }

  std::optional<HostId> draw(const std::vector<Candidate>& candidates) const {
    const std::uint64_t user = state_.draw();
    return draw_host(candidates, user, state_.draw());
  }

  const ProjectState& state_;
  const WaitingHosts& waiting_;
  Eligibility eligibility_;
  std::set<UserId> taken_;
};

}  // namespace

std::optional<HostId> draw_host(std::span<const Candidate> candidates,
                                std::uint64_t random_user,
                                std::uint64_t random_host) {
  std::map<UserId, std::vector<HostId>> by_user;
  for (const Candidate& candidate : candidates) {
    by_user[candidate.user].push_back(candidate.host);
  }
  if (by_user.empty()) return std::nullopt;
  auto user =
      std::next(by_user.begin(),
                static_cast<std::ptrdiff_t>(random_user % by_user.size()));
  const std::vector<HostId>& hosts = user->second;
  return hosts[random_host % hosts.size()];
}

std::optional<HostId> draw_host_for(const ProjectState& state,
                                    const LiveUnit& live, ResultId result,
                                    const WaitingHosts& waiting, bool anchor) {
  Draw draw(state, live, result, waiting);
  if (anchor) return draw.of_anchors();
  if (auto host = draw.of_idle()) return host;
  return draw.of_active();
}

}  // namespace quorate
