// Who must be heard from by when. Durations on a clock that does not jump; kept
// in memory: after a restart every lease starts anew.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "workunits/workunit.h"

namespace quorate {

// Results in progress: lost when the host is silent for too long.
class Leases {
 public:
  void grant(ResultId result, Instant now, Seconds lease);
  // The host was heard from. However often: no longer than `most` after the
  // lease was granted.
  void renew(ResultId result, Instant now, Seconds lease, Seconds most);
  void end(ResultId result);
  // Granted longer ago than `usual`: true once, and it is slow from then on.
  bool becomes_slow(ResultId result, Instant now, Seconds usual);
  bool is_slow(ResultId result) const;
  // Takes out and returns those that ended before `now`.
  std::vector<ResultId> take_expired(Instant now);

 private:
  struct Lease {
    Instant granted;
    Instant until;
    bool is_slow = false;
  };
  void set(ResultId result, const Lease& lease);

  std::map<ResultId, Lease> leases_;
  std::set<std::pair<Instant, ResultId>> by_time_;
};

// The host that an unsent result is reserved for. Each unsent result is in one
// of three states: kept for the host that was drawn for it, held for nobody, or
// free for anybody who suits.
class Reservations {
 public:
  void keep(ResultId result, HostId host, Instant until);
  // Nobody may have it before then.
  void hold(ResultId result, Instant until);
  // Whoever suits and asks first may have it.
  void release(ResultId result);
  // It was sent, or is not needed: forgets it.
  void end(ResultId result);
  // The host it is kept for, or nullopt.
  std::optional<HostId> host(ResultId result) const;
  // Oldest first.
  const std::set<ResultId>& kept_for(HostId host) const;
  const std::set<ResultId>& anybodys() const { return kept_for(kAnybody); }
  // Takes out and returns those whose time is over.
  struct Expired {
    ResultId result;
    // True: it was kept for a host, which did not come. False: it was held.
    bool was_drawn;
  };
  std::vector<Expired> take_expired(Instant now);

 private:
  static constexpr HostId kAnybody = 0;
  static constexpr HostId kNobody = -1;
  struct Kept {
    HostId host;
    Instant until;
  };
  std::map<ResultId, Kept> kept_;
  std::map<HostId, std::set<ResultId>> by_host_;
  std::set<std::pair<Instant, ResultId>> by_time_;  // those that end
};

}  // namespace quorate
