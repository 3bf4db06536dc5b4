// What the project did lately, for people who watch: counts minute by minute
// for a day, and the units whose verdict came last. In memory only, from the
// start of this process; counted where things happen, so that showing it reads
// no table. Used by the writer's thread only.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "workunits/workunit.h"

namespace quorate {

// What happened in one minute.
struct MinuteCounts {
  std::uint64_t received = 0;  // results reported, good or bad
  std::uint64_t valid = 0;     // by the time of the verdict
  std::uint64_t rejected = 0;
  std::uint64_t bytes_in = 0;  // through the web front, all of it
  std::uint64_t bytes_out = 0;
};

// A unit after its verdict: from then on everybody may know who computed it.
struct ClosedUnit {
  struct Replica {
    HostId host = 0;
    ServerState server_state = ServerState::over;
    ResultOutcome outcome = ResultOutcome::init;
    ValidateState validate_state = ValidateState::init;
  };

  std::uint64_t unit_index = 0;
  std::uint64_t base_version = 0;
  WorkunitState state = WorkunitState::validated;
  Millis created = 0;
  Millis closed = 0;
  std::vector<Replica> replicas;  // that were sent, in order of result
};

class Activity {
 public:
  static constexpr std::size_t kMinutes = 24 * 60;
  static constexpr std::size_t kClosedUnits = 20;  // of each run

  // clock: must outlive this.
  explicit Activity(const Clock& clock);

  void count_received() { ++now().received; }
  void count_valid() { ++now().valid; }
  void count_rejected() { ++now().rejected; }
  void count_bytes(std::uint64_t in, std::uint64_t out);
  void add_closed(RunKey run, ClosedUnit unit);
  // A result of the run was sent to a host, who will compute for so long.
  void count_host_time(RunKey run, double seconds);

  // Minutes without a gap, oldest first, at most kMinutes; the last is under
  // way. The first minute began with this process.
  const std::deque<MinuteCounts>& minutes();
  // Seconds since the last of minutes() began.
  Seconds into_minute() const;
  // Results received in the last 60 s: whole minutes are counted, and of the
  // one in between the share that is within them is taken.
  std::uint64_t results_per_minute();
  // The last kClosedUnits, newest first.
  const std::deque<ClosedUnit>& closed(RunKey run) const;
  // The part of hosts' time that went to the run lately: what was sent half an
  // hour ago counts half. 0 to 1; nullopt: nothing was sent.
  std::optional<double> part_of_hosts(RunKey run) const;

 private:
  // Counts of this minute.
  MinuteCounts& now();
  std::uint64_t minute() const;  // since the start
  struct Recent {
    double seconds = 0;
    Instant at{};
  };
  double at_now(const Recent& recent) const;

  const Clock& clock_;
  Instant start_;
  std::uint64_t last_minute_ = 0;
  std::deque<MinuteCounts> minutes_{1};
  std::map<RunKey, std::deque<ClosedUnit>> closed_;
  std::map<RunKey, Recent> host_time_;
};

}  // namespace quorate
