#include "validator/update_rules/delayed_nesterov.h"

#include "base/arithmetic.h"
#include "base/element_loop.h"
#include "base/error.h"
#include "validator/update_rules/one_by_one.h"
#include "validator/update_rules/rule_settings.h"

namespace quorate {
namespace {

constexpr const char* kGamma = "gamma";
constexpr const char* kBeta = "beta";
constexpr const char* kShare = "share";        // of this result: 1 / delay
constexpr const char* kMomentum = "momentum";  // b
constexpr const char* kCloses = "closes";      // 1: every delay-th; else 0
constexpr const char* kStateM = "delayed-nesterov.m";
constexpr const char* kStateBuffer = "delayed-nesterov.buffer";

class DelayedNesterov final : public UpdateRule {
 public:
  DelayedNesterov(float gamma, float beta, std::uint32_t delay, float c)
      : gamma_(gamma), beta_(beta), delay_(delay), c_(c) {}

  std::string_view name() const override { return "delayed-nesterov"; }
  bool in_rounds() const override { return false; }
  bool collects() const override { return true; }
  bool is_step_due(std::uint64_t version) const override {
    return (version + 1) % delay_ == 0;
  }

  void step(ParameterRange range, std::span<float> parameters, RuleState& state,
            std::span<const Contribution> contributions,
            const Coefficients& coefficients) const override {
    check(contributions.size() <= 1, "delayed-nesterov takes them one by one");
    const float gamma = coefficient(coefficients, kGamma);
    const float beta = coefficient(coefficients, kBeta);
    const float share = coefficient(coefficients, kShare);
    const float b = coefficient(coefficients, kMomentum);
    const bool closes = coefficient(coefficients, kCloses) != 0.0F;
    std::vector<float>& sums = state.at(kStateBuffer);
    for (const Contribution& result : contributions) {
      follow(range, sums, result, share);
    }
    if (closes) close(range, state, beta);
    const float* m = state.at(kStateM).data() + range.first;
    float* w = parameters.data() + range.first;
    if (contributions.empty()) {
      for_each_element(range.count, [=](std::size_t i) {
        w[i] = fma(gamma, b * m[i], w[i]);
      });
      return;
    }
    const float* delta = contributions[0].delta.data();
    for_each_element(range.count, [=](std::size_t i) {
      w[i] = fma(gamma, fma(b, m[i], share * delta[i]), w[i]);
    });
  }

  void step_statistics(ParameterRange range, std::span<float> parameters,
                       RuleState&, std::span<const Contribution> contributions,
                       const Coefficients& coefficients) const override {
    mix_statistics(range, parameters, contributions,
                   coefficient(coefficients, kShare));
  }

 private:
  std::vector<StateBuffer> own_state_buffers(
      const Coefficients&) const override {
    return {{kStateBuffer}, {kStateM}};
  }
  static void close(ParameterRange range, RuleState& state, float beta) {
    float* sum = state.at(kStateBuffer).data() + range.first;
    float* m = state.at(kStateM).data() + range.first;
    for_each_element(range.count, [=](std::size_t i) {
      m[i] = fma(beta, m[i], sum[i]);
      sum[i] = 0.0F;
    });
  }

  Coefficients own_coefficients(const Arrival& arrival) const override {
    const auto n = static_cast<float>(delay_);
    const bool closes = is_step_due(arrival.version);
    return {{kGamma, gamma_},
            {kBeta, beta_},
            {kShare, bounded_rate(gamma_ / n, arrival.staleness()) / gamma_},
            {kMomentum, (closes ? 1.0F - c_ * n + c_ : c_) * beta_},
            {kCloses, closes ? 1.0F : 0.0F}};
  }

  float gamma_;
  float beta_;
  std::uint32_t delay_;
  float c_;
};

}  // namespace

std::unique_ptr<UpdateRule> make_delayed_nesterov(const std::string& settings) {
  RuleSettings values("delayed-nesterov", settings);
  const float gamma = outer_rate(values, 0.4F);
  const float beta = outer_momentum(values);
  const std::uint32_t delay = values.count("delay", 10, 1000);
  const float most_c = 1.0F / static_cast<float>(delay);
  const float c = values.number(
      "c", 0.0F, [most_c](float x) { return x >= 0.0F && x <= most_c; },
      "a number from 0 to 1 / delay, at which all of the momentum is used up "
      "before the next step");
  values.expect_no_others();
  return std::make_unique<DelayedNesterov>(gamma, beta, delay, c);
}

}  // namespace quorate
