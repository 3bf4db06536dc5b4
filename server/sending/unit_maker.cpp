#include "server/sending/unit_maker.h"

#include <algorithm>

#include "base/arithmetic.h"
#include "server/making/fitting_shard.h"
#include "server/making/run_limits.h"
#include "server/making/work_generator.h"
#include "server/units/decision.h"
#include "server/units/states.h"
#include "workunits/objects/safetensors.h"

namespace quorate {
namespace {

TrainingTask make_task(const TrainingRun& training, const NextUnit& next,
                       std::optional<std::uint32_t> replica,
                       const Hash& snapshot) {
  const Run& run = training.run;
  TrainingTask task;
  task.run = run.id;
  task.unit_index = training.cursor.next_unit;
  task.arithmetic = kArithmeticVersion;
  task.model = run.model;
  task.base_version = training.model.version();
  task.replica = replica;
  task.snapshot = snapshot;
  task.shard = training.shards.at(next.range.shard_index).hash;
  task.range = next.range;
  task.order_seed = run.seed;
  task.unit_seed = unit_seed(run.id, task.unit_index);
  task.optimizer = run.optimizer;
  task.optimizer.learning_rate = next.learning_rate;
  task.inverse_batch = inverse_batch(run.model, run.batch);
  task.digest_every = digest_interval(next.range.steps);
  task.codec = run.codec;
  return task;
}

// Errors are counted against this many tries, replicas against the double.
constexpr std::uint32_t kMaxErrorResults = 12;

Workunit make_workunit(const TrainingRun& training, const TrainingTask& task,
                       const Hash& object, Millis now) {
  Workunit unit;
  unit.run = training.run.key;
  unit.unit_index = task.unit_index;
  unit.object = object;
  unit.snapshot = task.snapshot;
  unit.shard = task.shard;
  unit.base_version = task.base_version;
  unit.round = training.cursor.round;
  unit.epoch = task.range.epoch;
  unit.samples = task.range.samples();
  unit.operations =
      training.operations_of_sample * static_cast<double>(unit.samples);
  unit.max_error_results = kMaxErrorResults;
  unit.max_total_results = 2 * kMaxErrorResults;
  unit.created = now;
  return unit;
}

// Of a unit that begins a shard.
std::uint32_t whole_steps(const TrainingRun& training, const Pace& pace) {
  return next_unit(training.run, training.cursor,
                   {0, training.shards.front().samples, 0},
                   training.progress.epoch_steps(), pace)
      .range.steps;
}

}  // namespace

LiveUnit* UnitMaker::make(const UnitWish& wish, Turn turn) {
  if (turn == Turn::shared) {  // the first of both
    hosts_ = state_.count_hosts();
    usual_speed_.note(wish.host, wish.speed_flops);
  }
  std::vector<RunTurn> runs = with_work(turn);
  const std::optional<RunKey> home = home_of(wish, runs);
  RunTurns& turns = turn == Turn::shared ? shared_ : spare_;
  for (RunKey key : turns.order(std::move(runs), home, hosts_.at_work)) {
    if (LiveUnit* live = make_for(state_.run(key), wish)) return live;
  }
  return nullptr;
}

void UnitMaker::note_sent(const Workunit& unit, HostId host,
                          const std::string& device, double host_seconds) {
  constexpr double kHour = 3600;
  TrainingRun& training = state_.run(unit.run);
  RunUsage& used = training.cursor.used;
  used.host_seconds += host_seconds;
  used.cost += host_seconds / kHour * price_per_hour(state_.settings, device);
  state_.store.update_cursor(unit.run, training.cursor);
  state_.activity.count_host_time(unit.run, host_seconds);
  last_run_[host] = unit.run;
  if (turn_of(training.run) == Turn::shared) {
    shared_.charge(unit.run, training.run.share, host_seconds);
  } else {
    spare_.charge(unit.run, 1, host_seconds);
  }
}

std::vector<RunTurn> UnitMaker::with_work(Turn turn) const {
  std::vector<RunTurn> runs;
  for (const auto& [key, training] : state_.runs) {
    if (turn_of(training.run) != turn || !has_work(training)) continue;
    runs.push_back({key, turn == Turn::shared ? training.run.share : 1, 0});
  }
  return runs;
}

bool UnitMaker::has_work(const TrainingRun& training) const {
  // What is made while the model is rebuilt would be cancelled, and what is
  // made on a model that diverged diverges.
  if (training.run.state != RunState::running || training.is_revising ||
      training.divergence) {
    return false;
  }
  if (training.is_handed_out() || !training.end_reason.empty()) return false;
  const std::size_t open =
      state_.feeder.units_in(training.run.key, WorkunitState::open).size();
  if (open >= most_open_units(hosts_.active)) return false;
  if (training.is_at_barrier() &&
      (open > 0 ||
       !state_.feeder.units_in(training.run.key, WorkunitState::validated)
            .empty())) {
    return false;
  }
  if (training.rule->replicas() != 0) {
    return next_replica(busy_replicas(training), training.cursor.next_unit)
        .has_value();
  }
  return !training.is_round_made();
}

void UnitMaker::begin_round(TrainingRun& training) const {
  RunCursor& cursor = training.cursor;
  if (!training.rule->in_rounds() || cursor.round_units != 0) return;
  cursor.round_units = units_of_round(training.run, hosts_of(training));
}

std::optional<RunKey> UnitMaker::home_of(
    const UnitWish& wish, const std::vector<RunTurn>& runs) const {
  // House workers have every file.
  if (runs.size() < 2 || wish.host == state_.house_host) return std::nullopt;
  const auto last = last_run_.find(wish.host);
  if (last != last_run_.end()) return last->second;
  for (const RunTurn& turn : runs) {
    const ShardIndex& shards = state_.runs.at(turn.run).shard_index;
    if (!shards.find(wish.shards).empty()) return turn.run;
  }
  return std::nullopt;
}

std::size_t UnitMaker::hosts_of(const TrainingRun& training) const {
  if (turn_of(training.run) == Turn::spare) return hosts_.at_work;
  double all = 0;
  for (const auto& [key, other] : state_.runs) {
    const bool is_on =
        other.run.state == RunState::running && !other.is_handed_out();
    if (is_on || key == training.run.key) all += other.run.share;
  }
  return hosts_of_share(hosts_.at_work, training.run.share, all);
}

Pace UnitMaker::pace_of(const TrainingRun& training,
                        const UnitWish& wish) const {
  Pace pace{wish.speed_flops, usual_speed_.flops(), usual_speed_.fastest(),
            hosts_of(training)};
  pace.in_rounds = training.rule->in_rounds();
  const DoorTerms terms = state_.terms(*state_.hosts.host(wish.host));
  pace.least_seconds =
      std::max(pace.least_seconds, terms.shortest_unit.count());
  if (terms.takes_changes) pace.snapshots = training.rule->snapshots();
  return pace;
}

// A replica is trained by one unit at a time, and may have to wait for others.
std::vector<bool> UnitMaker::busy_replicas(const TrainingRun& training) const {
  std::vector<bool> is_busy(training.rule->replicas());
  for (std::uint32_t r = 0; r < is_busy.size(); ++r) {
    is_busy[r] = training.rule->is_waiting(training.model.rule_state(), r);
  }
  for (WorkunitState state : {WorkunitState::open, WorkunitState::validated}) {
    for (WorkunitId id : state_.feeder.units_in(training.run.key, state)) {
      const auto replica = state_.feeder.find(id)->task->replica;
      if (replica && *replica < is_busy.size()) is_busy[*replica] = true;
    }
  }
  return is_busy;
}

std::optional<std::uint32_t> UnitMaker::replica_for_host(
    const TrainingRun& training, HostId host) const {
  const std::vector<bool> is_busy = busy_replicas(training);
  const std::uint64_t turn = training.cursor.next_unit;
  if (!training.rule->exchanges_among_hosts() || host == state_.house_host) {
    return next_replica(is_busy, turn);
  }
  const auto is_there = [&](HostId home) { return state_.is_active(home); };
  return replica_for(host, is_busy, training.replicas.homes(is_there), turn);
}

// Of the epoch under way, or of the next one if nothing is left of it.
std::uint32_t UnitMaker::take_shard(TrainingRun& training,
                                    const UnitWish& wish) {
  EpochProgress& progress = training.progress;
  if (progress.is_done()) progress.begin(++training.cursor.epoch);
  std::vector<std::uint32_t> held = held_by(wish, training);
  if (auto last = training.shard_hosts.leave(wish.host)) held.push_back(*last);
  const std::optional<std::uint32_t> fitting =
      training.rule->in_rounds() && training.run.local_steps == 0
          ? fitting_shard(progress, held,
                          whole_steps(training, pace_of(training, wish)))
          : std::nullopt;
  const std::uint32_t shard =
      fitting ? *fitting
              : choose_shard(progress, held, training.shard_hosts).value();
  // House workers have every shard, and keep nobody from one.
  if (wish.host != state_.house_host) {
    training.shard_hosts.move(wish.host, shard);
  }
  return shard;
}

// What it says, and what it was sent.
std::vector<std::uint32_t> UnitMaker::held_by(
    const UnitWish& wish, const TrainingRun& training) const {
  std::vector<std::uint32_t> held = training.shard_index.find(wish.shards);
  for (ResultId id : state_.feeder.in_progress(wish.host)) {
    const LiveUnit& live = *state_.feeder.find_by_result(id);
    if (live.unit.run == training.run.key) {
      held.push_back(live.task->range.shard_index);
    }
  }
  return held;
}

LiveUnit* UnitMaker::make_for(TrainingRun& training, const UnitWish& wish) {
  std::optional<std::uint32_t> replica;
  if (training.rule->replicas() != 0) {
    replica = replica_for_host(training, wish.host);
    if (!replica) return nullptr;
  }
  begin_round(training);
  EpochProgress& progress = training.progress;
  const std::uint32_t shard = take_shard(training, wish);
  const ShardEntry& entry = training.shards.at(shard);
  const NextUnit next =
      next_unit(training.run, training.cursor,
                {shard, entry.samples, progress.first_step(shard)},
                progress.epoch_steps(), pace_of(training, wish));
  TrainingTask task = make_task(training, next, replica,
                                training.snapshot(state_.objects, replica));
  if (replica) {
    training.replicas.handed_out(*replica, task.snapshot, wish.host);
  }
  Bytes sealed = state_.notary->sealed(task);
  Workunit unit =
      make_workunit(training, task, sha256(sealed), state_.clock.unix_ms());
  set_quorum(unit, results_needed(training.run.quorum,
                                  wish.is_proven ? QuorumFor::proven
                                                 : QuorumFor::unproven));
  training.cursor = next.after;
  state_.store.update_cursor(training.run.key, training.cursor);
  ShardProgress handed_out = progress.hand_out(shard, next.range.steps);
  handed_out.run = training.run.key;
  state_.store.replace_shard_progress(handed_out);
  LiveUnit& live = state_.feeder.add_unit(std::move(unit), std::move(task),
                                          std::move(sealed));
  state_.feeder.add_results(live, live.unit.target_results);
  return &live;
}

}  // namespace quorate
