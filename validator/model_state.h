// The model of a run at a version, and how a ledger entry leads to the next.
// The server's assimilator and the replay both use this, so that what is
// replayed is what was done. Memory only: durability is the ledger's.
//
// A step is one pass over memory on several threads: the rule and the average
// work on a block of parameters while it is in the cache, and base and update
// may lie in mapped files (workunits/objects/parameter_values).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/crypto.h"
#include "validator/update_rules/update_rule.h"
#include "workunits/ledger/ledger.h"
#include "workunits/models/model_spec.h"
#include "workunits/objects/byte_parts.h"
#include "workunits/objects/parameter_values.h"

namespace quorate {

// What the parameters of a state are.
struct ParameterLayout {
  // Not explicit: arithmetic alone needs no model.
  ParameterLayout(std::size_t last_ones = 0) : statistics(last_ones) {}
  ParameterLayout(const ModelSpec& spec)
      : statistics(statistic_count(spec)), model(spec) {}

  std::size_t statistics;          // how many of the last are running ones
  std::optional<ModelSpec> model;  // only rounded versions need it
};

class ModelState {
 public:
  // Version 0: the average starts as the parameters, the rule's state at zero.
  explicit ModelState(std::vector<float> initial, ParameterLayout layout = {});
  // As a SnapshotPublished entry names it. To go on from a snapshot of version
  // v, apply every entry with version_before >= v: those of v's open round may
  // stand before the snapshot in the ledger.
  ModelState(std::uint64_t version, std::vector<float> parameters,
             std::vector<float> published, RuleState rule_state,
             ParameterLayout layout = {});

  std::uint64_t version() const { return version_; }
  const std::vector<float>& parameters() const { return parameters_; }
  std::size_t trainable() const { return trainable_; }
  // What leads from the version before to this one, if versions are rounded
  // (workunits/objects/snapshot_delta); empty: nothing does.
  ByteView delta() const { return delta_; }
  // The moving average of the versions: what is evaluated and exported.
  const std::vector<float>& published() const { return published_; }
  const RuleState& rule_state() const { return rule_state_; }
  // What a unit of now starts from: a replica that the rule has begun, else the
  // parameters.
  std::span<const float> base(const UpdateRule& rule,
                              std::optional<std::uint32_t> replica) const;
  // Results of the open round: in the ledger, not yet in a version.
  std::size_t pending() const { return pending_.size(); }

  // Makes an entry's update part of the model: at once, or in a round when the
  // entry closes it. Returns whether there is a new version.
  // rule: the one that the entry names, with any settings; the coefficients
  // come from the entry.
  // base: parameters of entry.base_version, which may be parameters(); not
  // used in rounds.
  // Throws corrupt if the entry does not follow from this state, naming what
  // differs; the state is unchanged then.
  // read: parameters of entry.read_version, if it has one: the step begins from
  // them, and what came since is overwritten. The published average goes on
  // from where it is.
  bool apply(const ResultAssimilated& entry, const UpdateRule& rule,
             std::span<const float> base, ParameterValues delta,
             std::span<const float> read = {});
  // The same of an entry whose step was computed apart, by apply_step().
  bool take(const ResultAssimilated& entry, const UpdateRule& rule,
            std::vector<float> stepped);
  // The same without this entry's update, to see the model without a host: a
  // version that would have been made of it alone repeats the one before, but
  // for what a rule that collects does of others then.
  bool skip(const ResultAssimilated& entry, const UpdateRule& rule);
  // A revocation, of the state that rebuild_without() (validator/replay) gives:
  // the same model under the next version's number. Results one by one must be
  // based on that version or a later one from now on.
  // Throws corrupt if the entry does not follow from this state, which is
  // unchanged then.
  void revoke(const Revoked& entry);
  // Goes a part of the way to the model of another project's run, of as many
  // parameters: W = fma(weight, sub(X, W), W) of parameters, of running
  // statistics (both stay between what they were and what the peer has) and of
  // every replica that a rule has begun, so that a model which is the mean of
  // its replicas remains it. What else a rule carries, as momentum, stays. The
  // average takes part as in any version.
  // Source: "pull" of Jin et al., arXiv 1611.04581, between servers.
  // Throws corrupt if the entry does not follow from this state or the peer's
  // model is not finite; the state is unchanged then.
  void mix(const PeerMixed& entry, const ParameterValues& peer);

 private:
  void expect_follows(const ResultAssimilated& entry,
                      const UpdateRule& rule) const;
  void expect_in_round(const ResultAssimilated& entry) const;
  void expect_overwrites(const ResultAssimilated& entry,
                         const UpdateRule& rule) const;
  bool advance(const ResultAssimilated& entry, const UpdateRule& rule,
               std::span<const float> base);
  void take_buffers_of(const UpdateRule& rule);
  void merge(const UpdateRule& rule, std::span<const float> base);
  void merge(ParameterRange range, const UpdateRule& rule,
             std::span<const float> base, std::vector<float>& parameters);
  void round_version();
  void expect_follows(const PeerMixed& entry,
                      const ParameterValues& peer) const;

  std::uint64_t version_ = 0;
  std::uint64_t branch_ = 0;  // the version of the last revocation
  std::vector<float> parameters_;
  std::vector<float> published_;
  ParameterLayout layout_;
  std::size_t trainable_ = 0;  // parameters before the running statistics
  Bytes delta_;
  RuleState rule_state_;
  std::map<std::uint64_t, ParameterValues> pending_;  // by index of unit
  Coefficients coefficients_;                         // of what is pending
};

// The step of an entry of a rule that may_overwrite(), on any thread:
// `parameters` are those of the version that it read, the first `trainable` of
// them no running statistics, and become the next version's. What
// ModelState::apply() does but for the average, in the same bits.
void apply_step(const ResultAssimilated& entry, const UpdateRule& rule,
                std::span<const float> base, const ParameterValues& delta,
                std::size_t trainable, std::vector<float>& parameters);

// How many threads work on a model of so many parameters. The bits are the same
// with any number.
std::size_t merging_threads(std::size_t parameters);

// A rule's state as safetensors bytes: one f32 tensor a buffer, by name, of
// [elements], or of the number of its scalars, which stay where they are. Empty
// if there are no buffers: then a ledger names the zero hash.
ByteParts rule_state_parts(const RuleState& state);
// elements: parameter_count() of the model. Throws corrupt, naming `what`.
RuleState read_rule_state(ByteView bytes, std::uint64_t elements,
                          const std::string& what);
// The hash that a SnapshotPublished entry has for it.
Hash rule_state_hash(const RuleState& state);

}  // namespace quorate
