// How the updates of volunteers become the next version of a model. A rule is
// pure: no clock, no I/O, no random numbers; whoever has the ledger and the
// updates can repeat each step bit for bit (validator/replay). One interface
// serves rules that take results one by one and rules that collect a round.
// Which rule when: docs/update-rules.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "workunits/codec.h"
#include "workunits/ledger/ledger.h"

namespace quorate {

// What one validated update has for a range of parameters: as many elements.
struct Contribution {
  // The parameters that the unit started from. One-by-one rules only: no rule
  // that collects a round asks for them.
  std::span<const float> base;
  std::span<const float> delta;  // what the unit made of them, minus them
};

// What a rule carries from version to version, by name; each buffer has one
// element per parameter, or a few scalars.
using RuleState = std::map<std::string, std::vector<float>>;

// A buffer that a rule needs, and how it begins.
struct StateBuffer {
  enum class Start { zeros, ones, model };
  std::string name;
  Start start = Start::zeros;
  std::size_t scalars = 0;  // 0: one element per parameter
};
// Scalars that a buffer may have, and what the names of such buffers end with.
inline constexpr std::size_t kMostScalars = kMaxReplicas;
inline constexpr std::string_view kScalars = ".scalars";
// Whether a buffer may have so many values in a model with `elements`
// parameters.
bool is_buffer_size(std::string_view name, std::uint64_t size,
                    std::uint64_t elements);

// What is known of a result when its coefficients are decided.
struct Arrival {
  std::uint64_t version = 0;         // of the model that it is to change
  std::uint64_t base_version = 0;    // that its unit started from
  std::uint32_t epoch = 1;           // of its unit, from 1
  std::uint32_t steps = 1;           // local steps of its unit
  float learning_rate = 1.0F;        // of these
  std::uint32_t replica = 0;         // that its unit trained
  std::uint64_t seed = 0;            // of the run
  const RuleState* state = nullptr;  // of the model; none: of version 0

  std::uint64_t staleness() const { return version - base_version; }
};

// Elements [first, first + count) of all arrays.
struct ParameterRange {
  std::size_t first = 0;
  std::size_t count = 0;
};

// Of every rule: 1 - c, the weight of a new version in the published average.
inline constexpr const char* kOneMinusC = "one_minus_c";
// Of rules in rounds whose versions are rounded: the codec, as a number.
inline constexpr const char* kSnapshots = "snapshots";
// Where they keep the version before it was rounded: what the next one is made
// of.
inline constexpr const char* kUnrounded = "snapshots.unrounded";
// Of rules with replicas: how many there are, and which one a result trained.
inline constexpr const char* kReplicas = "replicas";
inline constexpr const char* kReplica = "replica";
// Of gossip: the replica that it exchanges with.
inline constexpr const char* kPeer = "peer";

class UpdateRule {
 public:
  virtual ~UpdateRule() = default;

  virtual std::string_view name() const = 0;
  // Whether a version is made of several results on one base; then the server
  // decides when a round is complete.
  virtual bool in_rounds() const = 0;
  // Whether a result's share may wait in the state for later ones: then a
  // version is also made of no result (one that was left out).
  virtual bool collects() const { return false; }
  // Of such a rule: whether the step of those that wait comes with the result
  // that makes the version after this one. No peer's model may make that
  // version: the step would be left out, and the next be of twice as many.
  virtual bool is_step_due(std::uint64_t /*version*/) const { return false; }
  // Whether several assimilators may overwrite each other's versions: it keeps
  // nothing but the model.
  bool may_overwrite() const;
  // Local steps that every unit must have; 0: any number.
  virtual std::uint32_t local_steps() const { return 0; }
  // Models that are trained side by side, kept in its state as
  // replica_buffer(); 0: there is none but the model itself.
  virtual std::uint32_t replicas() const { return 0; }
  // Whether replica r gets no unit until others are in, in this state.
  virtual bool is_waiting(const RuleState&, std::uint32_t /*r*/) const {
    return false;
  }
  // Whether hosts of one site make their replica's next state themselves and
  // take the other one's from each other (workunits/objects/replica_exchange).
  virtual bool exchanges_among_hosts() const { return false; }
  // Whether the local optimiser must be without momentum.
  virtual bool is_without_momentum() const { return false; }
  // What its state needs for a step with these coefficients, whose names are
  // the same with any settings. Throws corrupt for what cannot be.
  std::vector<StateBuffer> state_buffers(const Coefficients&) const;

  // c of the published average: setting "average" of every rule, in [0, 1); at
  // 0 the versions themselves are published.
  float average() const { return average_.value_or(usual_average()); }
  void set_average(float keep) { average_ = keep; }
  // How versions are rounded, so that hosts fetch changes instead of whole
  // snapshots: setting "snapshots" of rules in rounds.
  Codec snapshots() const { return snapshots_; }
  void set_snapshots(Codec codec) { snapshots_ = codec; }

  // Decided once per result and recorded in its ledger entry; step() and the
  // average use the recorded values. All results of a round have the same.
  Coefficients coefficients(const Arrival& arrival) const;

  // Changes a range of the learned `parameters` (and of `state`, which has
  // exactly the buffers of state_buffers()) into the next version's. Element by
  // element: disjoint ranges may run on different threads, and blocks of any
  // size give the same bits.
  // contributions: of this range. One, or those of a complete round in order of
  // unit index; none only for a rule that collects.
  // Throws corrupt, before any change, if a coefficient is missing.
  virtual void step(ParameterRange range, std::span<float> parameters,
                    RuleState& state,
                    std::span<const Contribution> contributions,
                    const Coefficients& coefficients) const = 0;

  // The same for running statistics: an average of the model's and of what the
  // contributions bring, with weights from 0 to 1 and nothing carried on but
  // replicas, so that a variance does not become negative.
  virtual void step_statistics(ParameterRange range,
                               std::span<float> parameters, RuleState& state,
                               std::span<const Contribution> contributions,
                               const Coefficients& coefficients) const = 0;

  // The scalars of its state for the next step; once, after all ranges.
  virtual void step_scalars(RuleState&, const Coefficients&) const {}

 private:
  // May have kOneMinusC, if it is not 1 - average().
  virtual Coefficients own_coefficients(const Arrival& arrival) const = 0;
  virtual std::vector<StateBuffer> own_state_buffers(
      const Coefficients&) const {
    return {};
  }
  // Results one by one have more noise to average than steps of several.
  virtual float usual_average() const { return in_rounds() ? 0.8F : 0.9F; }

  std::optional<float> average_;
  Codec snapshots_ = Codec::fp32;
};

// The rule called `name`. settings: a JSON object, or empty for the defaults.
// Throws usage for an unknown rule or setting (listing what is known) and for a
// value with which the model could not stay stable.
std::unique_ptr<UpdateRule> make_update_rule(std::string_view name,
                                             const std::string& settings);
std::vector<std::string> update_rule_names();

// Where a rule keeps replica r; a name that starts with the rule's own.
std::string replica_buffer(std::string_view rule, std::uint32_t replica);
// Whether a buffer's name is one that replica_buffer() gives, of any rule.
bool is_replica_buffer(std::string_view name);
// How many replicas a rule with these coefficients has. Throws corrupt for what
// cannot be, as the next two do.
std::uint32_t replicas_of(const Coefficients& coefficients);
// The replica that a result trained, and the one that it met then; nullopt if
// its rule has none.
std::optional<std::uint32_t> replica_of(const Coefficients& coefficients);
std::optional<std::uint32_t> peer_of(const Coefficients& coefficients);

// How versions are rounded; fp32: not at all. Throws corrupt for what cannot
// be.
Codec snapshots_of(const Coefficients& coefficients);

// Throws corrupt, naming it, if there is none.
float coefficient(const Coefficients& coefficients, const char* name);

}  // namespace quorate
