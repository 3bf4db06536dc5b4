#include "validator/update_rules/vc_asgd.h"

#include <optional>

#include "base/error.h"
#include "validator/update_rules/one_by_one.h"
#include "validator/update_rules/rule_settings.h"

namespace quorate {
namespace {

constexpr const char* kOneMinusAlpha = "one_minus_alpha";

class VcAsgd final : public UpdateRule {
 public:
  // No alpha: e / (e + 1).
  explicit VcAsgd(std::optional<float> alpha) : alpha_(alpha) {}

  std::string_view name() const override { return "vc-asgd"; }
  bool in_rounds() const override { return false; }

  void step(ParameterRange range, std::span<float> parameters, RuleState&,
            std::span<const Contribution> contributions,
            const Coefficients& coefficients) const override {
    check(contributions.size() == 1, "vc-asgd takes results one by one");
    mix(range, parameters, contributions[0],
        coefficient(coefficients, kOneMinusAlpha));
  }

  // The step is such an average.
  void step_statistics(ParameterRange range, std::span<float> parameters,
                       RuleState&, std::span<const Contribution> contributions,
                       const Coefficients& coefficients) const override {
    RuleState none;
    step(range, parameters, none, contributions, coefficients);
  }

 private:
  Coefficients own_coefficients(const Arrival& arrival) const override {
    const auto e = static_cast<float>(arrival.epoch);
    const float alpha = alpha_.value_or(e / (e + 1.0F));
    return {{kOneMinusAlpha, 1.0F - alpha}};
  }

  std::optional<float> alpha_;
};

}  // namespace

std::unique_ptr<UpdateRule> make_vc_asgd(const std::string& settings) {
  RuleSettings values("vc-asgd", settings);
  std::optional<float> alpha;
  if (!values.is_text("alpha", "var")) {
    alpha = values.number(
        "alpha", 0.7F, [](float a) { return a >= 0.0F && a < 1.0F; },
        "\"var\", or a number from 0 to below 1: at 1 no result would change "
        "the model, beyond it the model runs away from its volunteers");
  }
  values.expect_no_others();
  return std::make_unique<VcAsgd>(alpha);
}

}  // namespace quorate
