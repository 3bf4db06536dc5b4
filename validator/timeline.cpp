#include "validator/timeline.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "workunits/safetensors.h"

namespace quorate {
namespace {

[[noreturn]] void refuse(const std::string& found) {
  throw Error(ErrorKind::corrupt, found);
}

}  // namespace

void Timeline::show(const LedgerEntry& entry) {
  entry_ = &entry;
  seq_ = entry.seq;
  std::visit(*this, entry.body);
}

Hash Timeline::hash_of(std::span<const float> values) const {
  return sha256(write_parameters(run_.model, values));
}

const Hash& Timeline::parameters_hash() {
  if (!hash_) hash_ = hash_of(state_->parameters());
  return *hash_;
}

void Timeline::operator()(const RunCreated& run) {
  run_ = run;
  expect_room_for(0);
  state_.emplace(initial_parameters(run.model, run.seed),
                 statistic_count(run.model));
  expect_same("initial parameters", run.initial, parameters_hash());
}

void Timeline::operator()(const ResultAssimilated& entry) {
  const UpdateRule& rule = rule_called(entry.rule);
  if (entry.version_after != entry.version_before) keep_current_as_base();
  const bool left_out = options_.is_left_out && options_.is_left_out(entry);
  if (left_out) ++left_out_;
  if (left_out ? state_->skip(entry, rule) : apply(entry, rule)) hash_.reset();
  if (last_uses_.at(entry.base_version) == seq_) {
    past_.erase(entry.base_version);
    lived_.erase(entry.base_version);
  }
}

bool Timeline::apply(const ResultAssimilated& entry, const UpdateRule& rule) {
  const TrainingTask task = open_task(sources_, run_, entry);
  const auto base = base_of(entry, task.snapshot);
  if (compares() && options_.see) {
    options_.see({*entry_, entry, run_, task, base});
  }
  const std::string what = fmt::format("update of result {}", entry.result);
  const std::optional<Bytes> update = read_update(sources_, entry);
  if (!update) {
    throw Error(ErrorKind::unsupported,
                fmt::format("ledger entry {}: {} {}: it was removed after the "
                            "end of the run, as keep_updates_days says: only "
                            "`audit` and `replay --recompute`, which compute "
                            "it again, can follow this run",
                            seq_, what, entry.update.hex()));
  }
  return state_->apply(entry, rule, base,
                       read_parameters(run_.model, *update, what));
}

void Timeline::operator()(const SnapshotPublished& entry) {
  expect_same("snapshot: version", entry.version, state_->version());
  if (!compares()) return;
  const std::string what = fmt::format("version {}: ", entry.version);
  expect_same(what + "parameters", entry.parameters, parameters_hash());
  expect_same(what + "published model", entry.published, published_hash());
  expect_same(what + "state of the rule", entry.rule_state,
              rule_state_hash(state_->rule_state()));
}

void Timeline::operator()(const Revoked& entry) {
  past_.clear();  // versions of the branch that is left
  state_->revoke(entry);
  if (!compares()) return;
  expect_same("revocation: parameters", entry.parameters, parameters_hash());
}

void Timeline::operator()(const RunEnded& entry) {
  expect_same("end of the run: version", entry.version, state_->version());
  if (!compares()) return;
  expect_same("end of the run: parameters", entry.parameters,
              parameters_hash());
  expect_same("end of the run: published model", entry.published,
              published_hash());
}

void Timeline::take_lived_versions(Timeline& before) {
  const std::uint64_t version = before.state_->version();
  if (before.is_used_later(version)) {
    before.lived_[version] =
        before.kept(before.state_->parameters(), before.hash_);
  }
  lived_ = std::move(before.lived_);
}

bool Timeline::is_used_later(std::uint64_t version) const {
  const auto last = last_uses_.find(version);
  return last != last_uses_.end() && last->second > seq_;
}

const UpdateRule& Timeline::rule_called(const std::string& name) {
  if (rule_ && rule_->name() == name) return *rule_;
  try {
    rule_ = make_update_rule(name, "");
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::usage) throw;
    refuse(error.what());
  }
  return *rule_;
}

std::uint64_t Timeline::bytes_needed(std::uint64_t past_versions) const {
  constexpr std::uint64_t kAlways = 4;  // model, average, momentum, an update
  return (kAlways + past_versions) * parameter_count(run_.model) *
         sizeof(float);
}

void Timeline::expect_room_for(std::uint64_t past_versions) const {
  const std::uint64_t needed = bytes_needed(past_versions);
  if (needed <= options_.max_memory_bytes) return;
  throw Error(
      ErrorKind::denied,
      fmt::format("replay: entry {} needs the model and {} past versions of it "
                  "in memory, {} MiB; {} MiB are allowed: allow more",
                  seq_, past_versions, needed >> 20,
                  options_.max_memory_bytes >> 20));
}

PastVersion Timeline::kept(const std::vector<float>& parameters,
                           const std::optional<Hash>& hash) const {
  std::uint64_t in_memory = 1;
  for (const auto* versions : {&past_, &lived_}) {
    in_memory += static_cast<std::uint64_t>(std::count_if(
        versions->begin(), versions->end(),
        [](const auto& past) { return past.second.is_in_memory(); }));
  }
  const bool has_folder = !options_.past_folder.empty();
  if (has_folder && bytes_needed(in_memory) > options_.max_memory_bytes) {
    return {std::span(parameters), hash, options_.past_folder};
  }
  expect_room_for(in_memory);
  return {parameters, hash};
}

void Timeline::keep_current_as_base() {
  if (!is_used_later(state_->version())) return;
  past_[state_->version()] = kept(state_->parameters(), hash_);
}

// The parameters that the entry's unit started from, if they are the snapshot
// that its task names.
std::span<const float> Timeline::base_of(const ResultAssimilated& entry,
                                         const Hash& snapshot) {
  const std::string what =
      fmt::format("snapshot of base version {}", entry.base_version);
  if (entry.base_version == state_->version()) {
    if (compares()) expect_same(what, snapshot, parameters_hash());
    return state_->parameters();
  }
  auto found = past_.find(entry.base_version);
  if (found == past_.end()) {
    found = lived_.find(entry.base_version);
    if (found == lived_.end()) {
      // Rules in rounds need no base, and nothing is compared.
      if (!compares() && rule_->in_rounds()) return {};
      refuse(what + ": there is no such version to start from");
    }
  }
  PastVersion& past = found->second;
  if (compares()) {
    if (!past.hash) past.hash = hash_of(past.parameters());
    expect_same(what, snapshot, *past.hash);
  }
  return past.parameters();
}

}  // namespace quorate
