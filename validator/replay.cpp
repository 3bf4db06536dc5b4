#include "validator/replay.h"

#include <limits>
#include <memory>
#include <unordered_map>
#include <variant>

#include <fmt/format.h>

#include "base/error.h"
#include "workunits/safetensors.h"

namespace quorate {
namespace {

[[noreturn]] void refuse(const std::string& found) {
  throw Error(ErrorKind::corrupt, found);
}

Bytes read_checked(const std::function<Bytes(const Hash&)>& read,
                   const Hash& hash, const std::string& what) {
  Bytes bytes;
  try {
    bytes = read(hash);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::corrupt) throw;
    refuse(fmt::format("{} {}: {}", what, hash.hex(), error.what()));
  }
  if (sha256(bytes) != hash) {
    refuse(fmt::format("{} {}: its bytes have another hash, {}", what,
                       hash.hex(), sha256(bytes).hex()));
  }
  return bytes;
}

void expect_same(const std::string& what, std::uint64_t ledger,
                 std::uint64_t found) {
  if (ledger == found) return;
  refuse(fmt::format("{}: recorded is {}, found {}", what, ledger, found));
}

void expect_same(const std::string& what, const Hash& ledger,
                 const Hash& found) {
  if (ledger == found) return;
  refuse(fmt::format("{}: recorded is {}, found {}", what, ledger.hex(),
                     found.hex()));
}

// The sealed task of an assimilated result, if it is what the entry says.
TrainingTask open_task(const LedgerSources& sources, const RunCreated& run,
                       const ResultAssimilated& entry) {
  const std::string what = fmt::format("workunit of unit {}", entry.unit_index);
  const Bytes sealed = read_checked(sources.tasks, entry.workunit, what);
  TrainingTask task = decode_task(open_sealed(
      sealed, SealKind::workunit, sources.project, sources.key, what));
  if (task.run != run.run || task.model != run.model) {
    refuse(fmt::format("{}: it belongs to another run", what));
  }
  expect_same(what + ": index", entry.unit_index, task.unit_index);
  expect_same(what + ": base version", entry.base_version, task.base_version);
  expect_same(what + ": samples", entry.samples, task.range.samples());
  return task;
}

// Verifies records one by one, at most `limit`, and shows each entry to
// `visit`, which throws corrupt for what does not fit.
LedgerReport walk(const LedgerSources& sources, std::uint64_t limit,
                  const std::function<void(const LedgerEntry&)>& visit) {
  LedgerVerifier verifier(sources.project, sources.key);
  LedgerReport report;
  bool verified = false;
  try {
    while (report.entries < limit) {
      verified = false;
      const auto record = sources.records(report.entries);
      if (!record) break;
      const LedgerEntry entry = verifier.next(*record);
      verified = true;
      visit(entry);
      ++report.entries;
      if (std::holds_alternative<ResultAssimilated>(entry.body)) {
        ++report.results;
      }
    }
    if (report.entries == 0) refuse("the ledger has no entries");
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::corrupt) throw;
    report.first_difference =
        verified
            ? fmt::format("ledger entry {}: {}", report.entries, error.what())
            : error.what();
  }
  return report;
}

// Reads every object that an entry names.
class ObjectCheck {
 public:
  explicit ObjectCheck(const LedgerSources& sources) : sources_(sources) {}

  void operator()(const RunCreated& run) {
    run_ = run;
    read_checked(sources_.objects, run.initial, "initial snapshot");
    for (const Hash& shard : run.shards)
      read_checked(sources_.objects, shard, "shard");
  }
  void operator()(const ResultAssimilated& entry) {
    open_task(sources_, run_, entry);
    read_checked(sources_.objects, entry.update,
                 fmt::format("update of result {}", entry.result));
  }
  void operator()(const SnapshotPublished& entry) {
    read_checked(sources_.objects, entry.parameters, "snapshot");
    read_checked(sources_.objects, entry.published, "published model");
    if (!entry.rule_state.is_zero()) {
      read_checked(sources_.objects, entry.rule_state, "state of the rule");
    }
  }
  void operator()(const RunEnded& entry) {
    read_checked(sources_.objects, entry.parameters, "final snapshot");
    read_checked(sources_.objects, entry.published, "final published model");
  }

 private:
  const LedgerSources& sources_;
  RunCreated run_;
};

// The last entry that uses a version as base, by version.
using LastUses = std::unordered_map<std::uint64_t, std::uint64_t>;

class Replayer {
 public:
  Replayer(const LedgerSources& sources, const ReplayOptions& options,
           LastUses last_uses)
      : sources_(sources),
        options_(options),
        last_uses_(std::move(last_uses)) {}

  void show(const LedgerEntry& entry) {
    seq_ = entry.seq;
    std::visit(*this, entry.body);
  }
  void operator()(const RunCreated& run);
  void operator()(const ResultAssimilated& entry);
  void operator()(const SnapshotPublished& entry);
  void operator()(const RunEnded& entry);

  void finish(ReplayReport& report);

 private:
  struct PastVersion {
    std::vector<float> parameters;
    std::optional<Hash> hash;  // once somebody asked for it
  };

  Hash hash_of(std::span<const float> values) const {
    return sha256(write_parameters(run_.model, values));
  }
  const Hash& current_hash() {
    if (!hash_) hash_ = hash_of(state_->parameters());
    return *hash_;
  }
  // Without a host's results the model is rightly another.
  bool is_recorded_model() const { return left_out_ == 0; }
  const UpdateRule& rule_called(const std::string& name);
  void expect_memory(std::uint64_t past_versions) const;
  void keep_current_as_base();
  std::span<const float> base_of(const ResultAssimilated& entry,
                                 const Hash& snapshot);
  bool apply(const ResultAssimilated& entry, const UpdateRule& rule);

  const LedgerSources& sources_;
  const ReplayOptions& options_;
  LastUses last_uses_;
  std::uint64_t seq_ = 0;  // of the entry at hand
  RunCreated run_;
  std::unique_ptr<UpdateRule> rule_;
  std::optional<ModelState> state_;
  std::optional<Hash> hash_;  // of the current version, once asked for
  std::unordered_map<std::uint64_t, PastVersion> past_;
  std::uint64_t left_out_ = 0;
};

void Replayer::operator()(const RunCreated& run) {
  run_ = run;
  expect_memory(0);
  state_.emplace(initial_parameters(run.model, run.seed),
                 statistic_count(run.model));
  expect_same("initial parameters", run.initial, current_hash());
}

void Replayer::operator()(const ResultAssimilated& entry) {
  const UpdateRule& rule = rule_called(entry.rule);
  if (entry.version_after != entry.version_before) keep_current_as_base();
  const bool left_out = options_.without_hosts.count(entry.host) != 0;
  if (left_out) ++left_out_;
  if (left_out ? state_->skip(entry, rule) : apply(entry, rule)) hash_.reset();
  if (last_uses_.at(entry.base_version) == seq_) {
    past_.erase(entry.base_version);
  }
}

bool Replayer::apply(const ResultAssimilated& entry, const UpdateRule& rule) {
  const TrainingTask task = open_task(sources_, run_, entry);
  const auto base = base_of(entry, task.snapshot);
  const std::string what = fmt::format("update of result {}", entry.result);
  std::vector<float> delta = read_parameters(
      run_.model, read_checked(sources_.objects, entry.update, what), what);
  return state_->apply(entry, rule, base, std::move(delta));
}

void Replayer::operator()(const SnapshotPublished& entry) {
  expect_same("snapshot: version", entry.version, state_->version());
  if (!is_recorded_model()) return;
  const std::string what = fmt::format("version {}: ", entry.version);
  expect_same(what + "parameters", entry.parameters, current_hash());
  expect_same(what + "published model", entry.published,
              hash_of(state_->published()));
  expect_same(what + "state of the rule", entry.rule_state,
              rule_state_hash(state_->rule_state()));
}

void Replayer::operator()(const RunEnded& entry) {
  expect_same("end of the run: version", entry.version, state_->version());
  if (!is_recorded_model()) return;
  expect_same("end of the run: parameters", entry.parameters, current_hash());
  expect_same("end of the run: published model", entry.published,
              hash_of(state_->published()));
}

void Replayer::finish(ReplayReport& report) {
  report.left_out = left_out_;
  if (!state_) return;
  report.parameters = current_hash();
  report.published = hash_of(state_->published());
  report.model = std::move(state_);
}

const UpdateRule& Replayer::rule_called(const std::string& name) {
  if (rule_ && rule_->name() == name) return *rule_;
  try {
    rule_ = make_update_rule(name, "");
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::usage) throw;
    refuse(error.what());
  }
  return *rule_;
}

void Replayer::expect_memory(std::uint64_t past_versions) const {
  constexpr std::uint64_t kAlways = 4;  // model, average, momentum, an update
  const std::uint64_t version_bytes =
      parameter_count(run_.model) * sizeof(float);
  const std::uint64_t needed = (kAlways + past_versions) * version_bytes;
  if (needed <= options_.max_memory_bytes) return;
  throw Error(
      ErrorKind::denied,
      fmt::format("replay: entry {} needs the model and {} past versions of it "
                  "in memory, {} MiB; {} MiB are allowed: allow more",
                  seq_, past_versions, needed >> 20,
                  options_.max_memory_bytes >> 20));
}

void Replayer::keep_current_as_base() {
  const auto last = last_uses_.find(state_->version());
  if (last == last_uses_.end() || last->second <= seq_) return;
  expect_memory(past_.size() + 1);
  past_[state_->version()] = {state_->parameters(), hash_};
}

// The parameters that the entry's unit started from, if they are the snapshot
// that its task names.
std::span<const float> Replayer::base_of(const ResultAssimilated& entry,
                                         const Hash& snapshot) {
  const std::string what =
      fmt::format("snapshot of base version {}", entry.base_version);
  if (entry.base_version == state_->version()) {
    if (is_recorded_model()) expect_same(what, snapshot, current_hash());
    return state_->parameters();
  }
  const auto found = past_.find(entry.base_version);
  if (found == past_.end()) refuse(what + ": there is no such version yet");
  PastVersion& past = found->second;
  if (is_recorded_model()) {
    if (!past.hash) past.hash = hash_of(past.parameters);
    expect_same(what, snapshot, *past.hash);
  }
  return past.parameters;
}

}  // namespace

LedgerReport verify_ledger(const LedgerSources& sources) {
  ObjectCheck objects(sources);
  return walk(sources, std::numeric_limits<std::uint64_t>::max(),
              [&](const LedgerEntry& entry) {
                std::visit(objects, entry.body);
                if (sources.progress) sources.progress(entry.seq + 1);
              });
}

ReplayReport replay(const LedgerSources& sources,
                    const ReplayOptions& options) {
  LastUses last_uses;
  ReplayReport report;
  report.ledger = walk(sources, std::numeric_limits<std::uint64_t>::max(),
                       [&](const LedgerEntry& entry) {
                         const auto* result =
                             std::get_if<ResultAssimilated>(&entry.body);
                         if (result == nullptr) return;
                         last_uses[result->base_version] = entry.seq;
                       });
  if (!report.ledger.ok()) return report;
  // A run that goes on has more records by now: their bases are not known.
  Replayer replayer(sources, options, std::move(last_uses));
  report.ledger =
      walk(sources, report.ledger.entries, [&](const LedgerEntry& entry) {
        replayer.show(entry);
        if (sources.progress) sources.progress(entry.seq + 1);
      });
  replayer.finish(report);
  return report;
}

}  // namespace quorate
