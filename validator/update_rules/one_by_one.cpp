#include "validator/update_rules/one_by_one.h"

#include <algorithm>

#include "base/arithmetic.h"
#include "base/element_loop.h"
#include "base/error.h"

namespace quorate {

float bounded_rate(float rate, std::uint64_t staleness) {
  return std::min(rate, kMostDrift / (static_cast<float>(staleness) + 1.0F));
}

void mix(ParameterRange range, std::span<float> parameters,
         const Contribution& result, float weight) {
  const float* base = result.base.data();
  const float* delta = result.delta.data();
  float* w = parameters.data() + range.first;
  for_each_element(range.count, [=](std::size_t i) {
    w[i] = fma(weight, (base[i] + delta[i]) - w[i], w[i]);
  });
}

void MixRule::step(ParameterRange range, std::span<float> parameters,
                   RuleState&, std::span<const Contribution> contributions,
                   const Coefficients& coefficients) const {
  check(contributions.size() == 1, "the rule takes results one by one");
  mix(range, parameters, contributions[0], coefficient(coefficients, weight_));
}

void MixRule::step_statistics(ParameterRange range, std::span<float> parameters,
                              RuleState& state,
                              std::span<const Contribution> contributions,
                              const Coefficients& coefficients) const {
  step(range, parameters, state, contributions, coefficients);
}

void follow(ParameterRange range, std::span<float> parameters,
            const Contribution& result, float rate) {
  const float* delta = result.delta.data();
  float* w = parameters.data() + range.first;
  for_each_element(range.count,
                   [=](std::size_t i) { w[i] = fma(rate, delta[i], w[i]); });
}

void mix_statistics(ParameterRange range, std::span<float> parameters,
                    std::span<const Contribution> contributions, float rate) {
  for (const Contribution& result : contributions) {
    mix(range, parameters, result, std::min(rate, 1.0F));
  }
}

}  // namespace quorate
