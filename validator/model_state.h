// The model of a run at a version, and how a ledger entry leads to the next.
// The server's assimilator and the replay both use this, so that what is
// replayed is what was done. Memory only: durability is the ledger's.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/crypto.h"
#include "validator/update_rules/update_rule.h"
#include "workunits/ledger.h"

namespace quorate {

class ModelState {
 public:
  // Version 0: the average starts as the parameters, the rule's state at zero.
  // statistics: how many of the last parameters are running statistics.
  explicit ModelState(std::vector<float> initial, std::size_t statistics = 0);
  // As a SnapshotPublished entry names it. To go on from a snapshot of version
  // v, apply every entry with version_before >= v: those of v's open round may
  // stand before the snapshot in the ledger.
  ModelState(std::uint64_t version, std::vector<float> parameters,
             std::vector<float> published, RuleState rule_state,
             std::size_t statistics = 0);

  std::uint64_t version() const { return version_; }
  const std::vector<float>& parameters() const { return parameters_; }
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
  bool apply(const ResultAssimilated& entry, const UpdateRule& rule,
             std::span<const float> base, std::vector<float> delta);
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

 private:
  struct Pending {
    std::uint64_t unit_index = 0;
    std::vector<float> delta;
  };

  void expect_follows(const ResultAssimilated& entry,
                      const UpdateRule& rule) const;
  void expect_in_round(const ResultAssimilated& entry) const;
  bool advance(const ResultAssimilated& entry, const UpdateRule& rule,
               std::span<const float> base);
  void take_buffers_of(const UpdateRule& rule);
  void merge(std::span<const Contribution> contributions,
             const UpdateRule& rule);

  std::uint64_t version_ = 0;
  std::uint64_t branch_ = 0;  // the version of the last revocation
  std::vector<float> parameters_;
  std::vector<float> published_;
  std::size_t trainable_ = 0;  // parameters before the running statistics
  RuleState rule_state_;
  std::vector<Pending> pending_;
  Coefficients coefficients_;  // of what is pending
};

// A rule's state as safetensors bytes: one f32 tensor a buffer, by name, of
// [elements], or of the number of its scalars. Empty if there are no buffers:
// then a ledger names the zero hash.
Bytes write_rule_state(const RuleState& state);
// elements: parameter_count() of the model. Throws corrupt, naming `what`.
RuleState read_rule_state(ByteView bytes, std::uint64_t elements,
                          const std::string& what);
// The hash that a SnapshotPublished entry has for it.
Hash rule_state_hash(const RuleState& state);

}  // namespace quorate
