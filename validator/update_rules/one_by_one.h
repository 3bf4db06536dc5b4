// What rules that take results one by one have in common.
#pragma once

#include <cstdint>
#include <span>

#include "validator/update_rules/update_rule.h"

namespace quorate {

// rate, or the part of it that keeps a step stable: rate (s + 1) is at most
// kMostDrift. Two steps of the sharpest directions' size undo each other, and
// s + 1 results are on their way at once: docs/update-rules.md, "Stale steps".
inline constexpr float kMostDrift = 1.5F;
float bounded_rate(float rate, std::uint64_t staleness);

// W = fma(weight, sub(add(W_b, delta), W), W): from the model towards what the
// volunteer found. With a weight up to 1 this is an average of the two.
void mix(ParameterRange range, std::span<float> parameters,
         const Contribution& result, float weight);

// A rule whose step is mix(), with a weight that it decides for each result.
// Running statistics are averaged in the same way.
class MixRule : public UpdateRule {
 public:
  bool in_rounds() const final { return false; }
  void step(ParameterRange range, std::span<float> parameters, RuleState& state,
            std::span<const Contribution> contributions,
            const Coefficients& coefficients) const final;
  void step_statistics(ParameterRange range, std::span<float> parameters,
                       RuleState& state,
                       std::span<const Contribution> contributions,
                       const Coefficients& coefficients) const final;

 protected:
  // weight: the coefficient's name.
  explicit MixRule(const char* weight) : weight_(weight) {}

 private:
  const char* weight_;
};

// W = fma(rate, delta, W): the volunteer's way, from where the model is.
void follow(ParameterRange range, std::span<float> parameters,
            const Contribution& result, float rate);

// mix() for the running statistics of a rule that follows: the weight is the
// rate, but at most 1.
void mix_statistics(ParameterRange range, std::span<float> parameters,
                    std::span<const Contribution> contributions, float rate);

}  // namespace quorate
