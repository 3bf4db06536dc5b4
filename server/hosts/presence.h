// Which hosts were heard of lately. A question costs as much as hosts have
// fallen silent since the last one, however many there are. In memory only:
// after a restart nobody is here before they are heard of. Used by the writer's
// thread only.
#pragma once

#include <array>
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
  // The host said something. A new one is available at first.
  void hear(HostId host, Instant now);
  // Takes out and returns those that were last heard of before `since`.
  std::vector<HostId> take_silent(Instant since);
  // Whether a host that is here could be sent work; at first it could.
  void set_available(HostId host, bool is_available);

  // Whether it could be sent work and was heard of since then; all such hosts.
  bool is_available(HostId host, Instant since) const;
  std::vector<HostId> available(Instant since) const;

  // Of hosts that could be sent work: those that were heard of for the last
  // time since `recent`, between `quiet` and then, and before. Neither time is
  // before that of an earlier call.
  struct Counts {
    std::size_t recent = 0;
    std::size_t quiet = 0;
    std::size_t silent = 0;

    std::size_t all() const { return recent + quiet + silent; }
  };
  Counts count(Instant recent, Instant quiet);

 private:
  // What the last count found: recent, quiet, and silent for even longer.
  static constexpr std::size_t kTiers = 3;
  struct Entry {
    HostId host;
    Instant heard;
    bool is_available;
    std::size_t tier;
  };
  using Entries = std::list<Entry>;  // who was heard of last is last

  void move(Entries::iterator entry, std::size_t tier);
  void let_age(std::size_t tier, Instant since);

  std::array<Entries, kTiers> tiers_;
  std::array<std::size_t, kTiers> available_{};
  std::unordered_map<HostId, Entries::iterator> by_host_;
};

// Estimates how many of the counted hosts are still at work, where `quiet` was
// twice as long ago as `recent`. A host that leaves still counts as recent for
// that time. We estimate how many of the recent hosts have left from how many
// fell silent in the span of the same length before. If that is most of them,
// it was something else, such as a link that many share: at least half are
// counted.
std::size_t hosts_at_work(const Presence::Counts& counts);

}  // namespace quorate
