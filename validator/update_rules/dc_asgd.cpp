#include "validator/update_rules/dc_asgd.h"

#include <cmath>

#include "base/arithmetic.h"
#include "base/element_loop.h"
#include "base/error.h"
#include "validator/update_rules/one_by_one.h"
#include "validator/update_rules/rule_settings.h"

namespace quorate {
namespace {

constexpr const char* kRate = "rate";
constexpr const char* kCompensation = "compensation";  // lambda r
constexpr const char* kReciprocal = "reciprocal";      // r
constexpr const char* kDecay = "decay";
constexpr const char* kOneMinusDecay = "one_minus_decay";
constexpr const char* kSquare = "dc-asgd-adaptive.v";
constexpr float kSmall = 1e-7F;

class DcAsgd : public UpdateRule {
 public:
  DcAsgd(float rate, float lambda) : rate_(rate), lambda_(lambda) {}

  std::string_view name() const override { return "dc-asgd"; }
  bool in_rounds() const override { return false; }

  void step(ParameterRange range, std::span<float> parameters, RuleState&,
            std::span<const Contribution> contributions,
            const Coefficients& coefficients) const override {
    check(contributions.size() == 1, "dc-asgd takes results one by one");
    const float rate = coefficient(coefficients, kRate);
    const float compensation = coefficient(coefficients, kCompensation);
    const float* base = contributions[0].base.data();
    const float* delta = contributions[0].delta.data();
    float* w = parameters.data() + range.first;
    for_each_element(range.count, [=](std::size_t i) {
      const float q = (delta[i] * delta[i]) * (w[i] - base[i]);
      w[i] = fma(rate, fma(-compensation, q, delta[i]), w[i]);
    });
  }

  void step_statistics(ParameterRange range, std::span<float> parameters,
                       RuleState&, std::span<const Contribution> contributions,
                       const Coefficients& coefficients) const override {
    mix_statistics(range, parameters, contributions,
                   coefficient(coefficients, kRate));
  }

 protected:
  Coefficients own_coefficients(const Arrival& arrival) const override {
    const auto age = static_cast<float>(arrival.staleness() + 1);
    return {{kRate, bounded_rate(rate_ / age, arrival.staleness())},
            {kCompensation, lambda_ * reciprocal(arrival)}};
  }

  static float reciprocal(const Arrival& arrival) {
    return 1.0F / (static_cast<float>(arrival.steps) * arrival.learning_rate);
  }

 private:
  float rate_;
  float lambda_;
};

class DcAsgdAdaptive final : public DcAsgd {
 public:
  DcAsgdAdaptive(float rate, float lambda, float decay)
      : DcAsgd(rate, lambda), decay_(decay) {}

  std::string_view name() const override { return "dc-asgd-adaptive"; }

  void step(ParameterRange range, std::span<float> parameters, RuleState& state,
            std::span<const Contribution> contributions,
            const Coefficients& coefficients) const override {
    check(contributions.size() == 1, "dc-asgd takes results one by one");
    const float rate = coefficient(coefficients, kRate);
    const float compensation = coefficient(coefficients, kCompensation);
    const float reciprocal = coefficient(coefficients, kReciprocal);
    const float decay = coefficient(coefficients, kDecay);
    const float one_minus_decay = coefficient(coefficients, kOneMinusDecay);
    const float* base = contributions[0].base.data();
    const float* delta = contributions[0].delta.data();
    float* v = state.at(kSquare).data() + range.first;
    float* w = parameters.data() + range.first;
    for_each_element(range.count, [=](std::size_t i) {
      const float g = delta[i] * reciprocal;
      v[i] = fma(decay, v[i], one_minus_decay * (g * g));
      const float strength = compensation / std::sqrt(v[i] + kSmall);
      const float q = (delta[i] * delta[i]) * (w[i] - base[i]);
      w[i] = fma(rate, fma(-strength, q, delta[i]), w[i]);
    });
  }

 private:
  std::vector<StateBuffer> own_state_buffers(
      const Coefficients&) const override {
    return {{kSquare}};
  }

  Coefficients own_coefficients(const Arrival& arrival) const override {
    Coefficients decided = DcAsgd::own_coefficients(arrival);
    decided[kReciprocal] = reciprocal(arrival);
    decided[kDecay] = decay_;
    decided[kOneMinusDecay] = 1.0F - decay_;
    return decided;
  }

  float decay_;
};

float strength(RuleSettings& values) {
  return values.number(
      "lambda", 0.5F, [](float l) { return l >= 0.0F && l <= 2.0F; },
      "a number from 0 (no compensation) to 2, the most that was ever found "
      "useful");
}

}  // namespace

std::unique_ptr<UpdateRule> make_dc_asgd(const std::string& settings) {
  RuleSettings values("dc-asgd", settings);
  const float rate = step_rate(values, 1.2F);
  const float lambda = strength(values);
  values.expect_no_others();
  return std::make_unique<DcAsgd>(rate, lambda);
}

std::unique_ptr<UpdateRule> make_dc_asgd_adaptive(const std::string& settings) {
  RuleSettings values("dc-asgd-adaptive", settings);
  const float rate = step_rate(values, 1.2F);
  const float lambda = strength(values);
  const float decay = values.number(
      "decay", 0.95F, [](float d) { return d >= 0.0F && d < 1.0F; },
      "a number from 0 to below 1: at 1 the mean square never learns");
  values.expect_no_others();
  return std::make_unique<DcAsgdAdaptive>(rate, lambda, decay);
}

}  // namespace quorate
