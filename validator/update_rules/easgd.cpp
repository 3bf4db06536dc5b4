#include "validator/update_rules/easgd.h"

#include "base/arithmetic.h"
#include "base/element_loop.h"
#include "base/error.h"
#include "validator/update_rules/replicas.h"
#include "validator/update_rules/rule_settings.h"

namespace quorate {
namespace {

constexpr const char* kA = "a";

class Easgd final : public UpdateRule {
 public:
  Easgd(const char* name, std::uint32_t replicas, float beta)
      : name_(name), replicas_(replicas), beta_(beta) {}

  std::string_view name() const override { return name_; }
  bool in_rounds() const override { return false; }
  std::uint32_t replicas() const override { return replicas_; }
  bool is_without_momentum() const override {
    return name() == std::string_view("easgd");
  }

  void step(ParameterRange range, std::span<float> parameters, RuleState& state,
            std::span<const Contribution> contributions,
            const Coefficients& coefficients) const override {
    check(contributions.size() == 1, "easgd takes results one by one");
    const float a = coefficient(coefficients, kA);
    const float* delta = contributions[0].delta.data();
    float* own = trained_replica(name_, state, coefficients) + range.first;
    float* z = parameters.data() + range.first;
    for_each_element(range.count, [=](std::size_t i) {
      const float x = own[i] + delta[i];
      const float d = a * (x - z[i]);
      z[i] = z[i] + d;
      own[i] = x - d;
    });
  }

  void step_statistics(ParameterRange range, std::span<float> parameters,
                       RuleState& state,
                       std::span<const Contribution> contributions,
                       const Coefficients& coefficients) const override {
    const float a = coefficient(coefficients, kA);
    float* own = trained_replica(name_, state, coefficients) + range.first;
    const Contribution& result = contributions[0];
    for (std::size_t i = 0; i < range.count; ++i) {
      const float u = result.base[i] + result.delta[i];
      const float z = parameters[range.first + i];
      parameters[range.first + i] = fma(a, u - z, z);
      own[i] = fma(a, z - u, u);
    }
  }

 private:
  std::vector<StateBuffer> own_state_buffers(
      const Coefficients& coefficients) const override {
    return replica_buffers(name_, replicas_of(coefficients));
  }
  Coefficients own_coefficients(const Arrival& arrival) const override {
    const auto count = static_cast<float>(replicas_);
    return {{kA, beta_ / count},
            {kReplicas, count},
            {kReplica, static_cast<float>(arrival.replica)}};
  }

  const char* name_;
  std::uint32_t replicas_;
  float beta_;
};

std::unique_ptr<UpdateRule> make(const char* name,
                                 const std::string& settings) {
  RuleSettings values(name, settings);
  const std::uint32_t replicas = values.count("replicas", 8, kMaxReplicas);
  const float beta = values.number(
      "beta", 0.9F, [](float b) { return b > 0.0F && b <= 1.0F; },
      "a number above 0 and at most 1: beyond 1 the replicas together pull the "
      "centre past themselves");
  values.expect_no_others();
  return std::make_unique<Easgd>(name, replicas, beta);
}

}  // namespace

std::unique_ptr<UpdateRule> make_easgd(const std::string& settings) {
  return make("easgd", settings);
}

std::unique_ptr<UpdateRule> make_eamsgd(const std::string& settings) {
  return make("eamsgd", settings);
}

}  // namespace quorate
