#include "server/making/training_run.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "protocol/limits.h"
#include "server/making/work_generator.h"
#include "server/units/sealed_tasks.h"
#include "workunits/objects/safetensors.h"
#include "workunits/objects/token_shard.h"
#include "workunits/objects/update.h"

namespace quorate {
namespace {

std::vector<float> read_object(const Run& run, const ObjectStore& objects,
                               const Hash& hash, const char* what) {
  return read_parameters(
      run.model, objects.map_checked(hash).bytes(),
      fmt::format("run {}: {} {}", run.name, what, hash.hex()));
}

ModelState state_at(const Run& run, const ObjectStore& objects,
                    const LedgerEntry& entry) {
  if (const auto* created = std::get_if<RunCreated>(&entry.body)) {
    return ModelState(read_object(run, objects, created->initial, "snapshot"),
                      run.model);
  }
  const auto& at = std::get<SnapshotPublished>(entry.body);
  RuleState rule_state;
  if (!at.rule_state.is_zero()) {
    rule_state = read_rule_state(objects.map_checked(at.rule_state).bytes(),
                                 parameter_count(run.model),
                                 "rule state of run " + run.name);
  }
  return ModelState(at.version,
                    read_object(run, objects, at.parameters, "snapshot"),
                    read_object(run, objects, at.published, "average"),
                    std::move(rule_state), run.model);
}

// The versions that entries to come may have read: ResultAssimilated.
class RecentVersions {
 public:
  void keep(const ModelState& model) {
    versions_[model.version()] = model.parameters();
    if (versions_.size() > kMaxAssimilators) versions_.erase(versions_.begin());
  }
  std::span<const float> read_by(const ResultAssimilated& entry) const {
    if (!entry.read_version) return {};
    const auto found = versions_.find(*entry.read_version);
    if (found != versions_.end()) return found->second;
    return {};  // the model refuses it
  }

 private:
  std::map<std::uint64_t, std::vector<float>> versions_;
};

void apply(TrainingRun& training, Store& store, const ObjectStore& objects,
           const RecentVersions& recent, const ResultAssimilated& entry) {
  const TrainingTask task = task_of(store, objects, entry.workunit);
  ParameterValues base;  // the parameters that the unit started from
  if (!training.rule->in_rounds()) {
    base = map_parameters(task.model, objects.map_checked(task.snapshot),
                          fmt::format("run {}: snapshot {}", training.run.name,
                                      task.snapshot.hex()));
  }
  training.model.apply(
      entry, *training.rule, base.all(),
      map_update(task, objects.map_checked(entry.update),
                 fmt::format("run {}: update {}", training.run.name,
                             entry.update.hex())),
      recent.read_by(entry));
}

void apply(TrainingRun& training, const ObjectStore& objects,
           const PeerMixed& entry) {
  training.model.mix(
      entry,
      map_parameters(training.run.model, objects.map_checked(entry.parameters),
                     fmt::format("run {}: model of a peer {}",
                                 training.run.name, entry.parameters.hex())));
}

void apply_later_entries(TrainingRun& training, Store& store,
                         const ObjectStore& objects, std::uint64_t from_seq) {
  constexpr std::uint64_t kAtOnce = 256;
  RecentVersions recent;
  const bool is_shared = training.run.consistency == Consistency::eventual;
  for (std::uint64_t seq = from_seq;;) {
    std::vector<LedgerRecord> records =
        store.ledger(training.run.key, seq, kAtOnce);
    if (records.empty()) return;
    for (const LedgerRecord& record : records) {
      LedgerEntry entry = parse_entry(record.line);
      seq = record.seq + 1;
      if (const auto* result = std::get_if<ResultAssimilated>(&entry.body)) {
        if (is_shared) recent.keep(training.model);
        apply(training, store, objects, recent, *result);
      } else if (const auto* mixed = std::get_if<PeerMixed>(&entry.body)) {
        apply(training, objects, *mixed);
      }
    }
  }
}

// The version of the model once the entry is made.
std::uint64_t version_after(const LedgerEntry& entry) {
  if (const auto* result = std::get_if<ResultAssimilated>(&entry.body)) {
    return result->version_after;
  }
  if (const auto* at = std::get_if<SnapshotPublished>(&entry.body)) {
    return at->version;
  }
  if (const auto* revoked = std::get_if<Revoked>(&entry.body)) {
    return revoked->version_after;
  }
  if (const auto* mixed = std::get_if<PeerMixed>(&entry.body)) {
    return mixed->version_after;
  }
  if (const auto* end = std::get_if<RunEnded>(&entry.body)) {
    return end->version;
  }
  return 0;
}

}  // namespace

std::vector<ShardEntry> samples_for(const ModelSpec& model,
                                    const DatasetManifest& dataset) {
  std::vector<ShardEntry> shards = dataset.train;
  if (!dataset.is_text()) return shards;
  for (ShardEntry& shard : shards) {
    shard.samples = token_windows(shard.samples, targets_of(model));
  }
  return shards;
}

TrainingRun::TrainingRun(Run row, RunCursor at,
                         std::span<const ShardProgress> stored,
                         DatasetManifest data,
                         std::unique_ptr<UpdateRule> update_rule,
                         ModelState state)
    : run(std::move(row)),
      cursor(at),
      dataset(std::move(data)),
      operations_of_sample(training_operations(run.model)),
      shards(samples_for(run.model, dataset)),
      rule(std::move(update_rule)),
      model(std::move(state)),
      replicas(rule->replicas()) {
  if (!is_active()) return;
  shard_index = ShardIndex(shards);
  progress = EpochProgress(steps_of_shards(shards, run.batch), run.seed,
                           cursor.epoch, stored);
}

Hash TrainingRun::snapshot(ObjectStore& objects,
                           std::optional<std::uint32_t> replica) {
  if (replica) return put_snapshot(objects, model.base(*rule, replica));
  if (snapshot_version_ != model.version()) {
    put_delta(objects);
    snapshot_ = put_snapshot(objects, model.parameters());
    snapshot_version_ = model.version();
  }
  return snapshot_;
}

// Before the snapshot that it leads to takes the other's place.
void TrainingRun::put_delta(ObjectStore& objects) {
  const ByteView delta = model.delta();
  const bool leads_here =
      snapshot_version_ && *snapshot_version_ + 1 == model.version();
  if (delta.empty() || !leads_here) return deltas.clear();
  const auto [hash, is_new] = objects.put_own(ByteParts(delta));
  if (is_new) own_snapshots.insert(hash);
  deltas.push_back({snapshot_, {ObjectKind::delta, hash, delta.size()}});
  if (deltas.size() > protocol::kMaxDeltas) deltas.pop_front();
}

std::vector<SnapshotStep> TrainingRun::deltas_to(const Hash& snapshot,
                                                 std::uint64_t whole) const {
  Hash reached = snapshot_;
  std::uint64_t bytes = 0;
  std::vector<SnapshotStep> way;
  for (auto step = deltas.rbegin(); step != deltas.rend(); ++step) {
    const bool has_begun = !way.empty();
    if (has_begun || reached == snapshot) {
      bytes += step->delta.size;
      if (bytes >= whole) break;
      way.push_back(*step);
    }
    reached = step->from;
  }
  std::reverse(way.begin(), way.end());
  return way;
}

Hash TrainingRun::put_snapshot(ObjectStore& objects,
                               std::span<const float> parameters) {
  auto [hash, is_new] = objects.put_own(parameter_parts(run.model, parameters));
  // The ledger names the published version, also after a restart at it.
  if (is_new && model.version() != published_version) {
    own_snapshots.insert(hash);
  }
  return hash;
}

std::optional<Hash> TrainingRun::written_snapshot() const {
  if (!snapshot_version_) return std::nullopt;
  return snapshot_;
}

bool TrainingRun::is_handed_out() const {
  return cursor.steps_before >= progress.epoch_steps() * run.epochs;
}

DatasetManifest load_manifest(const ProjectFolder& folder,
                              const std::string& name) {
  fs::path path = folder.manifest(name);
  if (!is_dataset_name(name) || !fs::exists(path)) {
    throw Error(
        ErrorKind::usage,
        fmt::format("there is no data set \"{}\": add it with `quorate dataset "
                    "add {} PATH`, or see `quorate dataset list`",
                    name, name));
  }
  return manifest_from_json(read_text_file(path), path.string());
}

TrainingRun open_run(const Run& run, Store& store,
                     const ProjectFolder& folder) {
  std::optional<LedgerRecord> last = store.last_record(run.key);
  std::optional<LedgerRecord> from = store.last_snapshot_record(run.key);
  if (!last || !from) {
    throw Error(ErrorKind::corrupt,
                "run " + run.name + ": its ledger is empty");
  }
  std::uint64_t version = version_after(parse_entry(last->line));
  const RunCursor cursor = store.cursor(run.key);
  TrainingRun training(run, cursor, store.shard_progress(run.key, cursor.epoch),
                       load_manifest(folder, run.dataset),
                       make_update_rule(run.rule, run.rule_settings),
                       ModelState(version, {}, {}, {}));
  training.is_loaded = false;
  LedgerEntry entry = parse_entry(from->line);
  training.published_version = version_after(entry);
  if (const auto* at = std::get_if<SnapshotPublished>(&entry.body)) {
    training.published_hash = at->published;
  }
  training.evaluations = store.evaluations(run.key);
  training.next_seq = last->seq + 1;
  training.last_hash = last->hash;
  return training;
}

UpdateSize size_of_update(const TrainingTask& task, const ObjectStore& objects,
                          const Hash& update) {
  const std::string what = "update " + update.hex();
  return size_of(
      task, decode_update(task, objects.map_checked(update).bytes(), what));
}

namespace {

// The last updates that house workers have confirmed, oldest first.
UpdateBound bound_of(const Run& run, Store& store, const ObjectStore& objects) {
  std::vector<Workunit> units =
      store.workunits({.run = run.key,
                       .state = WorkunitState::assimilated,
                       .check = UnitCheck::sound},
                      {.limit = UpdateBound::kWindow});
  UpdateBound bound;
  for (auto unit = units.rbegin(); unit != units.rend(); ++unit) {
    const std::optional<Result> result = store.result(unit->canonical_result);
    if (!result) continue;
    try {
      bound.add_confirmed(size_of_update(task_of(store, objects, unit->object),
                                         objects, result->update));
    } catch (const Error& error) {
      // It is in the model already: verify-ledger reports it.
      if (error.kind() != ErrorKind::corrupt) throw;
    }
  }
  return bound;
}

}  // namespace

void load_model(TrainingRun& training, Store& store,
                const ObjectStore& objects) {
  LedgerEntry from =
      parse_entry(store.last_snapshot_record(training.run.key).value().line);
  training.model = state_at(training.run, objects, from);
  apply_later_entries(training, store, objects, from.seq + 1);
  training.bound = bound_of(training.run, store, objects);
  training.is_loaded = true;
}

}  // namespace quorate
