// The model of a run as the entries of its ledger are shown to it one after
// another, with or without the updates of some results. The replay shows it a
// verified ledger; see validator/replay.h for what is compared when.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "validator/ledger_walk.h"
#include "validator/model_state.h"
#include "validator/past_version.h"

namespace quorate {

// What units start from, and steps that overwrite others: the model at a
// version, or a replica of it.
struct BaseKey {
  std::uint64_t version = 0;
  std::optional<std::uint32_t> replica;

  auto operator<=>(const BaseKey&) const = default;
};
BaseKey base_key(const ResultAssimilated& entry);
// The last entry that uses a base, and the rule of those that do: units of
// replicas do not outlive their rule.
struct LastUse {
  std::uint64_t seq = 0;
  std::string rule;
};
using LastUses = std::map<BaseKey, LastUse>;
// Adds what the entry uses.
void note_uses(LastUses& uses, const LedgerEntry& entry);

// A result as the run met it, before its update becomes part of the model.
struct ResultAtHand {
  const LedgerEntry& at;
  const ResultAssimilated& entry;
  const RunCreated& run;
  const TrainingTask& task;
  // Parameters of entry.base_version, whose hash is that of task.snapshot.
  std::span<const float> base;
};
using SeeResult = std::function<void(const ResultAtHand& result)>;

struct TimelineOptions {
  // Results whose updates are left out; empty: none.
  std::function<bool(const ResultAssimilated&)> is_left_out = {};
  // From this entry on the model is compared with what the ledger and the tasks
  // have of it, and results are shown to `see`.
  std::uint64_t compare_from = 0;
  // False: the run met the results that are left out, so that nothing is
  // compared from the first of them on.
  bool is_lived = true;
  SeeResult see = {};  // may be empty
  std::uint64_t max_memory_bytes = 0;
  // Where past versions go that this leaves no room for; empty: nowhere.
  fs::path past_folder = {};
};

class Timeline {
 public:
  // sources: must outlive this.
  Timeline(const LedgerSources& sources, TimelineOptions options,
           LastUses last_uses)
      : sources_(sources),
        options_(std::move(options)),
        last_uses_(std::move(last_uses)) {}

  // Of the entries that are shown from here on: past versions that none of them
  // uses are forgotten.
  void expect_uses(LastUses last_uses);

  // Throws corrupt for what does not fit, denied if it needs more memory than
  // it may have, unsupported for an update that was removed on purpose.
  void show(const LedgerEntry& entry);

  std::uint64_t left_out() const { return left_out_; }
  // Null before the first entry.
  const ModelState* model() const { return state_ ? &*state_ : nullptr; }
  // SHA-256 of write_parameters() of model and average.
  const Hash& parameters_hash();
  Hash published_hash() const { return hash_of(state_->published()); }
  std::optional<ModelState> take_model() { return std::move(state_); }

  // Units of a round that were sent before a revocation name the version that
  // the run had then. Takes such versions over from the timeline before, which
  // ended at that revocation.
  void take_lived_versions(Timeline& before);

  void operator()(const RunCreated& run);
  void operator()(const ResultAssimilated& entry);
  void operator()(const SnapshotPublished& entry);
  void operator()(const Revoked& entry);
  void operator()(const RunEnded& entry);
  void operator()(const PeerMixed& entry);

 private:
  Hash hash_of(std::span<const float> values) const;
  bool compares() const {
    return seq_ >= options_.compare_from &&
           (options_.is_lived || left_out_ == 0);
  }
  const UpdateRule& rule_called(const std::string& name);
  std::uint64_t bytes_needed(std::uint64_t past_versions) const;
  void expect_room_for(std::uint64_t past_versions) const;
  PastVersion kept(std::span<const float> parameters,
                   const std::optional<Hash>& hash) const;
  void keep_current_bases();
  Hash hash_of_current(const BaseKey& base);
  std::span<const float> base_of(const ResultAssimilated& entry,
                                 const Hash& snapshot);
  std::span<const float> version_read(const ResultAssimilated& entry) const;
  bool apply(const ResultAssimilated& entry, const UpdateRule& rule);
  void forget(const BaseKey& base);

  const LedgerSources& sources_;
  TimelineOptions options_;
  LastUses last_uses_;
  const LedgerEntry* entry_ = nullptr;  // the one at hand
  std::uint64_t seq_ = 0;
  RunCreated run_;
  std::unique_ptr<UpdateRule> rule_;
  std::optional<ModelState> state_;
  std::optional<Hash> hash_;  // of the current version, once asked for
  std::map<BaseKey, PastVersion> past_;
  std::map<BaseKey, PastVersion> lived_;
  std::uint64_t state_buffers_ = 0;  // of the rule at hand
  std::uint64_t left_out_ = 0;
};

}  // namespace quorate
