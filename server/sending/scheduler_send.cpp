// How a result goes out: what the scheduler has chosen for a host becomes an
// assignment.
#include <algorithm>
#include <utility>

#include "base/crypto.h"
#include "base/error.h"
#include "server/making/run_limits.h"
#include "server/sending/scheduler.h"
#include "server/units/decision.h"
#include "server/units/states.h"
#include "validator/replication.h"

namespace quorate {

std::optional<Assignment> Scheduler::send(LiveUnit& live, Result& result,
                                          const Host& host,
                                          const Device& device) {
  std::vector<ObjectRef> objects = objects_of(live);
  if (objects.empty()) return std::nullopt;
  result.is_witness = host.id != state_.house_host && is_witness(live);
  mark_sent(result, host, state_.clock.unix_ms());
  fill_secret_random(result.nonce.bytes);
  state_.feeder.save(result);
  state_.reservations.end(result.id);
  maker_.note_sent(
      live.unit, host.id, device.name,
      estimated_seconds(live.unit.operations, device.speed_flops,
                        most_time(live, state_.terms(host).lease)));
  // A house worker needs no lease: this process knows when it ends.
  if (host.id != state_.house_host) {
    state_.leases.grant(result.id, state_.clock.now(),
                        state_.terms(host).lease);
  }
  Assignment assignment = assignment_of(live, result, std::move(objects));
  OpenResult open = open_result(live, result, host.key);
  open.is_of_proven = state_.is_anchor(host.id);
  for (const SnapshotStep& step : assignment.deltas) {
    open.deltas.push_back(step.delta.hash);
  }
  state_.open_results.add(std::move(open));
  // Last: it adds results, and `result` is one of them.
  if (!state_.is_anchor(host.id)) demand_quorum(live);
  return assignment;
}

Assignment Scheduler::assignment_of(const LiveUnit& live, const Result& result,
                                    std::vector<ObjectRef> objects) const {
  Assignment assignment;
  assignment.result = result.id;
  assignment.nonce = result.nonce;
  const std::uint64_t whole = objects[1].size;
  assignment.objects = std::move(objects);
  const TrainingRun& training = state_.run(live.unit.run);
  assignment.deltas = training.deltas_to(live.unit.snapshot, whole);
  if (training.rule->exchanges_among_hosts()) {
    assignment.exchange = training.replicas.way_to(live.task->replica.value(),
                                                   live.unit.snapshot);
  }
  assignment.lease = state_.terms(*state_.hosts.host(result.host)).lease;
  assignment.deadline = most_time(live, assignment.lease);
  assignment.upload = !result.is_witness;
  return assignment;
}

void Scheduler::demand_quorum(LiveUnit& live) {
  const std::uint32_t quorum =
      results_needed(state_.run(live.unit.run).run.quorum, QuorumFor::unproven);
  if (live.unit.min_quorum >= quorum) return;
  set_quorum(live.unit, quorum);
  state_.feeder.save(live);
  Instances now = count_instances(live.results);
  const std::uint32_t alive = now.outstanding() + now.undecided;
  if (alive >= quorum) return;
  for (ResultId id : state_.feeder.add_results(live, quorum - alive)) {
    reserve(live, id);
  }
}

// One payload of a claim is enough; of a claim that is disputed everybody's is
// wanted.
bool Scheduler::is_witness(const LiveUnit& live) const {
  const Hash* claim = nullptr;
  bool has_uploader = false;
  for (const Result& other : live.results) {
    const bool is_reported = other.outcome == ResultOutcome::success;
    if (is_reported && claim != nullptr && *claim != other.claim) return false;
    if (is_reported) claim = &other.claim;
    const bool is_there =
        is_reported || other.server_state == ServerState::in_progress;
    if (is_there && !other.is_witness) has_uploader = true;
  }
  return has_uploader;
}

// Whether this result has to be an anchor's: none of the unit's others is, and
// no other is still to be drawn.
bool Scheduler::wants_anchor(const LiveUnit& live, ResultId result) const {
  if (!state_.needs_anchor(state_.run(live.unit.run).run)) return false;
  bool others_have_it = false;
  bool is_only_one = true;
  for (const Result& other : live.results) {
    if (other.id == result) continue;
    is_only_one = false;
    std::optional<HostId> kept = state_.reservations.host(other.id);
    if (kept && state_.is_anchor(*kept)) others_have_it = true;
    if (state_.is_of_anchor(other)) others_have_it = true;
  }
  // The first result of a unit is anybody's: its partners are drawn later.
  return !others_have_it && !is_only_one;
}

Eligibility::From Scheduler::taker_of(const LiveUnit& live,
                                      ResultId result) const {
  return wants_anchor(live, result) ? Eligibility::From::anchors
                                    : Eligibility::From::anybody;
}

// Empty if one of them is missing: the run is to be paused for it.
std::vector<ObjectRef> Scheduler::objects_of(const LiveUnit& live) {
  const Workunit& unit = live.unit;
  try {
    return {{ObjectKind::workunit, unit.object, live.sealed_bytes},
            {ObjectKind::snapshot, unit.snapshot, sizes_.of(unit.snapshot)},
            {ObjectKind::shard, unit.shard, sizes_.of(unit.shard)}};
  } catch (const Error& error) {
    state_.run(unit.run).damage = error.what();
    return {};
  }
}

}  // namespace quorate
