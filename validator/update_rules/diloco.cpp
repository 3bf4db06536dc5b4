#include "validator/update_rules/diloco.h"

#include "base/arithmetic.h"
#include "base/element_loop.h"
#include "validator/update_rules/round_mean.h"
#include "validator/update_rules/rule_settings.h"

namespace quorate {
namespace {

constexpr const char* kGamma = "gamma";
constexpr const char* kBeta = "beta";
constexpr const char* kMomentum = "diloco.m";

class Diloco final : public UpdateRule {
 public:
  Diloco(float gamma, float beta) : gamma_(gamma), beta_(beta) {}

  std::string_view name() const override { return "diloco"; }
  bool in_rounds() const override { return true; }

  void step(ParameterRange range, std::span<float> parameters, RuleState& state,
            std::span<const Contribution> contributions,
            const Coefficients& coefficients) const override {
    const float gamma = coefficient(coefficients, kGamma);
    const float beta = coefficient(coefficients, kBeta);
    std::vector<float>& momentum = state.at(kMomentum);
    for_means(contributions, range,
              [&](ParameterRange part, const float* mean) {
                float* m = momentum.data() + part.first;
                float* w = parameters.data() + part.first;
                for_each_element(part.count, [=](std::size_t i) {
                  m[i] = fma(beta, m[i], mean[i]);
                  w[i] = fma(gamma, fma(beta, m[i], mean[i]), w[i]);
                });
              });
  }

  void step_statistics(ParameterRange range, std::span<float> parameters,
                       RuleState&, std::span<const Contribution> contributions,
                       const Coefficients&) const override {
    take_mean_of_statistics(range, parameters, contributions);
  }

 private:
  std::vector<StateBuffer> own_state_buffers(
      const Coefficients&) const override {
    return {{kMomentum}};
  }
  Coefficients own_coefficients(const Arrival&) const override {
    return {{kGamma, gamma_}, {kBeta, beta_}};
  }

  float gamma_;
  float beta_;
};

}  // namespace

std::unique_ptr<UpdateRule> make_diloco(const std::string& settings) {
  RuleSettings values("diloco", settings);
  const float gamma = outer_rate(values, 0.7F);
  const float beta = outer_momentum(values);
  values.expect_no_others();
  return std::make_unique<Diloco>(gamma, beta);
}

}  // namespace quorate
