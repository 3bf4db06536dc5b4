#include "validator/update_rules/vc_asgd.h"

#include <optional>

#include "validator/update_rules/one_by_one.h"
#include "validator/update_rules/rule_settings.h"

namespace quorate {
namespace {

constexpr const char* kOneMinusAlpha = "one_minus_alpha";

class VcAsgd final : public MixRule {
 public:
  // No alpha: e / (e + 1).
  explicit VcAsgd(std::optional<float> alpha)
      : MixRule(kOneMinusAlpha), alpha_(alpha) {}

  std::string_view name() const override { return "vc-asgd"; }

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
