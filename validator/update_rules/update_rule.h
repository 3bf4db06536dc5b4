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
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "workunits/ledger.h"

namespace quorate {

// One validated update, as many elements as the model has parameters.
struct Contribution {
  // The parameters that the unit started from. One-by-one rules only: no rule
  // that collects a round asks for them.
  std::span<const float> base;
  std::span<const float> delta;  // what the unit made of them, minus them
};

// What is known of a result when its coefficients are decided.
struct Arrival {
  std::uint64_t version = 0;       // of the model that it is to change
  std::uint64_t base_version = 0;  // that its unit started from
  std::uint32_t epoch = 1;         // of its unit, from 1
  std::uint32_t steps = 1;         // local steps of its unit
  float learning_rate = 1.0F;      // of these

  std::uint64_t staleness() const { return version - base_version; }
};

// What a rule carries from version to version, by name; each buffer has one
// element per parameter.
using RuleState = std::map<std::string, std::vector<float>>;

// Elements [first, first + count) of all arrays.
struct ParameterRange {
  std::size_t first = 0;
  std::size_t count = 0;
};

// Of every rule: 1 - c, the weight of a new version in the published average.
inline constexpr const char* kOneMinusC = "one_minus_c";

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
  // Local steps that every unit must have; 0: any number.
  virtual std::uint32_t local_steps() const { return 0; }
  // Names of the buffers of its state; they start at zero. The same with any
  // settings, as are the names of the coefficients.
  virtual std::vector<std::string> state_buffers() const { return {}; }

  // c of the published average: 0.9 per result, 0.8 per round.
  float ema_keep() const { return in_rounds() ? 0.8F : 0.9F; }

  // Decided once per result and recorded in its ledger entry; step() and the
  // average use the recorded values. All results of a round have the same.
  Coefficients coefficients(const Arrival& arrival) const;

  // Changes a range of the learned `parameters` (and of `state`, which has
  // exactly the buffers of state_buffers()) into the next version's. Element by
  // element: disjoint ranges may run on different threads, and blocks of any
  // size give the same bits.
  // contributions: one, or those of a complete round in order of unit index;
  // none only for a rule that collects.
  // Throws corrupt, before any change, if a coefficient is missing.
  virtual void step(ParameterRange range, std::span<float> parameters,
                    RuleState& state,
                    std::span<const Contribution> contributions,
                    const Coefficients& coefficients) const = 0;

  // The same for running statistics: an average of the model's and of what the
  // contributions bring, with weights from 0 to 1 and nothing carried on from
  // version to version, so that a variance does not become negative.
  virtual void step_statistics(ParameterRange range,
                               std::span<float> parameters,
                               std::span<const Contribution> contributions,
                               const Coefficients& coefficients) const = 0;

 private:
  // May have kOneMinusC, if it is not 1 - ema_keep().
  virtual Coefficients own_coefficients(const Arrival& arrival) const = 0;
};

// The rule called `name`. settings: a JSON object, or empty for the defaults.
// Throws usage for an unknown rule or setting (listing what is known) and for a
// value with which the model could not stay stable.
std::unique_ptr<UpdateRule> make_update_rule(std::string_view name,
                                             const std::string& settings);
std::vector<std::string> update_rule_names();

// Throws corrupt, naming it, if there is none.
float coefficient(const Coefficients& coefficients, const char* name);

}  // namespace quorate
