#include "validator/update_rules/fedasync.h"

#include <cmath>

#include "validator/update_rules/one_by_one.h"
#include "validator/update_rules/rule_settings.h"

namespace quorate {
namespace {

constexpr const char* kWeight = "weight";

enum class Weighting { constant, polynomial, hinge };

class FedAsync final : public MixRule {
 public:
  FedAsync(float alpha, Weighting weighting, float a, float b)
      : MixRule(kWeight), alpha_(alpha), weighting_(weighting), a_(a), b_(b) {}

  std::string_view name() const override { return "fedasync"; }

 private:
  Coefficients own_coefficients(const Arrival& arrival) const override {
    return {{kWeight, alpha_ * share(static_cast<float>(arrival.staleness()))}};
  }

  float share(float staleness) const {
    if (weighting_ == Weighting::polynomial) {
      return std::pow(staleness + 1.0F, -a_);
    }
    if (weighting_ == Weighting::constant || staleness <= b_) return 1.0F;
    return 1.0F / (a_ * (staleness - b_) + 1.0F);
  }

  float alpha_;
  Weighting weighting_;
  float a_;
  float b_;
};

Weighting weighting_of(RuleSettings& values) {
  if (values.is_text("weighting", "constant")) return Weighting::constant;
  if (values.is_text("weighting", "hinge")) return Weighting::hinge;
  values.expect_text("weighting", "polynomial",
                     "\"constant\", \"polynomial\" or \"hinge\"");
  return Weighting::polynomial;
}

}  // namespace

std::unique_ptr<UpdateRule> make_fedasync(const std::string& settings) {
  RuleSettings values("fedasync", settings);
  const float alpha = values.number(
      "alpha", 0.6F, [](float a) { return a > 0.0F && a <= 1.0F; },
      "a number above 0 and at most 1: beyond 1 the model runs past its "
      "volunteers");
  const Weighting weighting = weighting_of(values);
  float a = 0.0F;
  float b = 0.0F;
  if (weighting != Weighting::constant) {
    a = values.number(
        "a", weighting == Weighting::hinge ? 10.0F : 0.5F,
        [](float x) { return x > 0.0F && x <= 100.0F; },
        "a number above 0 and at most 100");
  }
  if (weighting == Weighting::hinge) {
    b = values.number(
        "b", 4.0F, [](float x) { return x >= 0.0F && x <= 1000.0F; },
        "a number from 0 to 1000: the staleness up to which results count in "
        "full");
  }
  values.expect_no_others();
  return std::make_unique<FedAsync>(alpha, weighting, a, b);
}

}  // namespace quorate
