// A volunteer's machine in a simulation: what it is, and what it does now.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/crypto.h"
#include "server/simulator/scenario/draws.h"
#include "workunits/assignment.h"
#include "workunits/workunit.h"

namespace quorate {

// A result that a machine has.
// Times are since the simulation's start, unless they are durations.
struct MachineTask {
  enum class Phase : std::uint8_t { downloading, ready, computing, uploading };

  ResultId result = 0;
  RunKey run = 0;
  Hash workunit;
  double operations = 0;
  std::uint64_t upload_bytes = 0;
  Phase phase = Phase::downloading;
  Seconds until{0};  // of the phase; while the machine is away: what is left
  bool is_fatal = false;  // the machine is lost while it computes this
  bool has_turn = false;  // of a report: it is in the server's queue
  Seconds given{0};
  Seconds lease{0};     // how long the machine may be silent
  Seconds deadline{0};  // when it goes to another in any case, from `given`
  Seconds missed{0};    // when it does if nothing more is heard
};

struct Machine {
  Machine(const HostClass& of_kind, std::uint64_t seed, std::uint32_t number);

  MachineTask* find(ResultId result);
  std::size_t computing() const;
  // How many more results it would take now: as client/agent/work_fetch has
  // it, one for each worker and then the next ones.
  std::uint32_t wanted() const;
  bool has_shard(const Hash& shard) const;
  // Of the snapshots that it had last.
  bool has_snapshot(const Hash& snapshot) const;
  // It speaks to the server: its leases begin anew.
  void is_heard(Seconds now);
  // When the server knows that it is lost if it is never heard again.
  Seconds missed(Seconds now) const;

  const HostClass* kind;
  Draws draws;
  double speed_flops;
  double down_rate;  // bytes a second
  double up_rate;

  HostId host = 0;
  std::unique_ptr<PrivateKey> key;  // of one that reports real gradients
  std::uint32_t stay = 0;           // how often it has come or gone
  bool is_there = false;
  bool is_asking = false;
  std::uint32_t question = 0;  // the last that it asked, or gave up
  Seconds came{0};
  Seconds present{0};         // before it came this time
  Seconds computing_time{0};  // of all its workers together
  Seconds down_free{0};       // when the link is free
  Seconds up_free{0};
  std::vector<MachineTask> tasks;
  std::vector<Hash> shards;         // that it has
  std::array<Hash, 2> snapshots{};  // that it had last, the newest first
};

}  // namespace quorate
