// Which hosts were heard of lately. A question costs as much as hosts have
// fallen silent since the last one, however many there are.
#pragma once

#include <cstddef>
#include <list>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "workunits/workunit.h"

namespace quorate {

class Presence {
 public:
  // `now` is never before that of an earlier call.
  void hear(HostId host, Instant now);
  // Takes out and returns those that were last heard of before `since`.
  std::vector<HostId> take_silent(Instant since);
  // Whether a host that is here could be sent work; at first it could.
  void set_available(HostId host, bool is_available);

  // Whether it could be sent work and was heard of since then; all such hosts;
  // and how many of all that are here could be sent work.
  bool is_available(HostId host, Instant since) const;
  std::vector<HostId> available(Instant since) const;
  std::size_t available_count() const { return available_; }

 private:
  struct Entry {
    HostId host;
    Instant heard;
    bool is_available;
  };
  std::list<Entry> entries_;  // who was heard of last is last
  std::unordered_map<HostId, std::list<Entry>::iterator> by_host_;
  std::size_t available_ = 0;
};

}  // namespace quorate
