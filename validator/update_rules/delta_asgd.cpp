#include "validator/update_rules/delta_asgd.h"

#include <cmath>

#include "base/error.h"
#include "validator/update_rules/one_by_one.h"
#include "validator/update_rules/rule_settings.h"

namespace quorate {
namespace {

constexpr const char* kRate = "rate";

class DeltaRule final : public UpdateRule {
 public:
  DeltaRule(const char* name, float rate, float power)
      : name_(name), rate_(rate), power_(power) {}

  std::string_view name() const override { return name_; }
  bool in_rounds() const override { return false; }

  void step(ParameterRange range, std::span<float> parameters, RuleState&,
            std::span<const Contribution> contributions,
            const Coefficients& coefficients) const override {
    check(contributions.size() == 1, "delta rules take results one by one");
    follow(range, parameters, contributions[0],
           coefficient(coefficients, kRate));
  }

  void step_statistics(ParameterRange range, std::span<float> parameters,
                       RuleState&, std::span<const Contribution> contributions,
                       const Coefficients& coefficients) const override {
    mix_statistics(range, parameters, contributions,
                   coefficient(coefficients, kRate));
  }

 private:
  Coefficients own_coefficients(const Arrival& arrival) const override {
    const auto age = static_cast<float>(arrival.staleness() + 1);
    return {{kRate,
             bounded_rate(rate_ / std::pow(age, power_), arrival.staleness())}};
  }

  const char* name_;
  float rate_;
  float power_;
};

}  // namespace

std::unique_ptr<UpdateRule> make_delta_asgd(const std::string& settings) {
  RuleSettings values("delta-asgd", settings);
  const float rate = step_rate(values, 1.2F);
  const float power = values.number(
      "power", 1.0F, [](float p) { return p >= 0.0F && p <= 4.0F; },
      "a number from 0 to 4: how much less late results count");
  values.expect_no_others();
  return std::make_unique<DeltaRule>("delta-asgd", rate, power);
}

std::unique_ptr<UpdateRule> make_downpour(const std::string& settings) {
  RuleSettings values("downpour", settings);
  const float rate = step_rate(values, 1.0F);
  values.expect_no_others();
  return std::make_unique<DeltaRule>("downpour", rate, 0.0F);
}

}  // namespace quorate
