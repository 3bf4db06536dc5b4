#include "validator/timeline.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "workunits/objects/safetensors.h"
#include "workunits/objects/update.h"

namespace quorate {
namespace {

[[noreturn]] void refuse(const std::string& found) {
  throw Error(ErrorKind::corrupt, found);
}

std::unique_ptr<UpdateRule> rule_named(const std::string& name) {
  try {
    return make_update_rule(name, "");
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::usage) throw;
    refuse(error.what());
  }
}

}  // namespace

BaseKey base_key(const ResultAssimilated& entry) {
  return {entry.base_version, replica_of(entry.coefficients)};
}

void note_uses(LastUses& uses, const LedgerEntry& entry) {
  const auto* result = std::get_if<ResultAssimilated>(&entry.body);
  if (result == nullptr) return;
  uses[base_key(*result)] = {entry.seq, result->rule};
  if (result->read_version) {
    uses[{*result->read_version, {}}] = {entry.seq, result->rule};
  }
}

void Timeline::expect_uses(LastUses last_uses) {
  last_uses_ = std::move(last_uses);
  for (auto* versions : {&past_, &lived_}) {
    std::erase_if(*versions, [&](const auto& past) {
      return last_uses_.count(past.first) == 0;
    });
  }
}

void Timeline::show(const LedgerEntry& entry) {
  entry_ = &entry;
  seq_ = entry.seq;
  std::visit(*this, entry.body);
}

Hash Timeline::hash_of(std::span<const float> values) const {
  return parameter_parts(run_.model, values).hash();
}

const Hash& Timeline::parameters_hash() {
  if (!hash_) hash_ = hash_of(state_->parameters());
  return *hash_;
}

void Timeline::operator()(const RunCreated& run) {
  run_ = run;
  expect_room_for(0);
  state_.emplace(initial_parameters(run.model, run.seed), run.model);
  expect_same("initial parameters", run.initial, parameters_hash());
}

void Timeline::operator()(const ResultAssimilated& entry) {
  const UpdateRule& rule = rule_called(entry.rule);
  if (entry.version_after != entry.version_before) keep_current_bases();
  state_buffers_ = rule.state_buffers(entry.coefficients).size();
  expect_room_for(0);
  const bool left_out = options_.is_left_out && options_.is_left_out(entry);
  if (left_out) ++left_out_;
  if (left_out ? state_->skip(entry, rule) : apply(entry, rule)) hash_.reset();
  forget(base_key(entry));
  if (entry.read_version) forget({*entry.read_version, {}});
}

// Unless an entry to come needs it.
void Timeline::forget(const BaseKey& base) {
  if (last_uses_.at(base).seq != seq_) return;
  past_.erase(base);
  lived_.erase(base);
}

bool Timeline::apply(const ResultAssimilated& entry, const UpdateRule& rule) {
  const TrainingTask task = open_task(sources_, run_, entry);
  const auto base = base_of(entry, task.snapshot);
  if (compares() && options_.see) {
    options_.see({*entry_, entry, run_, task, base});
  }
  const std::string what = fmt::format("update of result {}", entry.result);
  std::optional<Bytes> update = read_update(sources_, entry);
  if (!update) {
    throw Error(ErrorKind::unsupported,
                fmt::format("ledger entry {}: {} {}: it was removed after the "
                            "end of the run, as keep_updates_days says: only "
                            "`audit` and `replay --recompute`, which compute "
                            "it again, can follow this run",
                            seq_, what, entry.update.hex()));
  }
  return state_->apply(entry, rule, base,
                       keep_update(task, std::move(*update), what),
                       version_read(entry));
}

// What an assimilator began from that did not see the newest version.
std::span<const float> Timeline::version_read(
    const ResultAssimilated& entry) const {
  if (!entry.read_version) return {};
  const auto found = past_.find({*entry.read_version, {}});
  if (found != past_.end()) return found->second.parameters();
  refuse(
      fmt::format("result {}: there is no version {} that it could have "
                  "read",
                  entry.result, *entry.read_version));
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

void Timeline::operator()(const PeerMixed& entry) {
  keep_current_bases();
  expect_room_for(0);
  state_->mix(entry, open_peer_model(sources_, run_.model, entry));
  hash_.reset();
}

void Timeline::take_lived_versions(Timeline& before) {
  // Units of rules with replicas do not outlive a revocation.
  const BaseKey newest{before.state_->version(), {}};
  const auto last = last_uses_.find(newest);
  if (last != last_uses_.end() && last->second.seq > before.seq_) {
    before.lived_[newest] =
        before.kept(before.state_->parameters(), before.hash_);
  }
  lived_ = std::move(before.lived_);
}

const UpdateRule& Timeline::rule_called(const std::string& name) {
  if (!rule_ || rule_->name() != name) rule_ = rule_named(name);
  return *rule_;
}

std::uint64_t Timeline::bytes_needed(std::uint64_t past_versions) const {
  constexpr std::uint64_t kAlways = 3;  // model, average, an update
  return (kAlways + std::max<std::uint64_t>(1, state_buffers_) +
          past_versions) *
         parameter_count(run_.model) * sizeof(float);
}

void Timeline::expect_room_for(std::uint64_t past_versions) const {
  // Past versions go to files then, and the model is needed in any case.
  if (!options_.past_folder.empty()) return;
  const std::uint64_t needed = bytes_needed(past_versions);
  if (needed <= options_.max_memory_bytes) return;
  throw Error(
      ErrorKind::denied,
      fmt::format("replay: entry {} needs the model and {} past versions of it "
                  "in memory, {} MiB; {} MiB are allowed: allow more",
                  seq_, past_versions, needed >> 20,
                  options_.max_memory_bytes >> 20));
}

PastVersion Timeline::kept(std::span<const float> parameters,
                           const std::optional<Hash>& hash) const {
  std::uint64_t in_memory = 1;
  for (const auto* versions : {&past_, &lived_}) {
    in_memory += static_cast<std::uint64_t>(std::count_if(
        versions->begin(), versions->end(),
        [](const auto& past) { return past.second.is_in_memory(); }));
  }
  const bool has_folder = !options_.past_folder.empty();
  if (has_folder && bytes_needed(in_memory) > options_.max_memory_bytes) {
    return {parameters, hash, options_.past_folder};
  }
  expect_room_for(in_memory);
  return {std::vector(parameters.begin(), parameters.end()), hash};
}

void Timeline::keep_current_bases() {
  const std::uint64_t version = state_->version();
  for (auto use = last_uses_.lower_bound({version, {}});
       use != last_uses_.end() && use->first.version == version; ++use) {
    if (use->second.seq <= seq_) continue;
    const std::optional<std::uint32_t> replica = use->first.replica;
    // Not the rule at hand: the run may have got this one since its last entry.
    past_[use->first] =
        replica ? kept(state_->base(*rule_named(use->second.rule), replica), {})
                : kept(state_->parameters(), hash_);
  }
}

Hash Timeline::hash_of_current(const BaseKey& base) {
  return base.replica ? hash_of(state_->base(*rule_, base.replica))
                      : parameters_hash();
}

// The parameters that the entry's unit started from, if they are the snapshot
// that its task names.
std::span<const float> Timeline::base_of(const ResultAssimilated& entry,
                                         const Hash& snapshot) {
  const std::string what =
      fmt::format("snapshot of base version {}", entry.base_version);
  const BaseKey key = base_key(entry);
  if (key.version == state_->version()) {
    if (compares()) expect_same(what, snapshot, hash_of_current(key));
    return state_->base(*rule_, key.replica);
  }
  auto found = past_.find(key);
  if (found == past_.end()) {
    found = lived_.find(key);
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
