#include "validator/update_rules/local_sgd.h"

#include "base/element_loop.h"
#include "validator/update_rules/round_mean.h"
#include "validator/update_rules/rule_settings.h"

namespace quorate {
namespace {

class MeanRule final : public UpdateRule {
 public:
  MeanRule(const char* name, std::uint32_t local_steps)
      : name_(name), local_steps_(local_steps) {}

  std::string_view name() const override { return name_; }
  bool in_rounds() const override { return true; }
  std::uint32_t local_steps() const override { return local_steps_; }

  void step(ParameterRange range, std::span<float> parameters, RuleState&,
            std::span<const Contribution> contributions,
            const Coefficients&) const override {
    for_means(
        contributions, range, [&](ParameterRange part, const float* mean) {
          float* w = parameters.data() + part.first;
          for_each_element(part.count, [=](std::size_t i) { w[i] += mean[i]; });
        });
  }

  void step_statistics(ParameterRange range, std::span<float> parameters,
                       RuleState&, std::span<const Contribution> contributions,
                       const Coefficients&) const override {
    take_mean_of_statistics(range, parameters, contributions);
  }

 private:
  Coefficients own_coefficients(const Arrival&) const override { return {}; }

  const char* name_;
  std::uint32_t local_steps_;
};

std::unique_ptr<UpdateRule> make(const char* name, std::uint32_t local_steps,
                                 const std::string& settings) {
  RuleSettings(name, settings).expect_no_others();
  return std::make_unique<MeanRule>(name, local_steps);
}

}  // namespace

std::unique_ptr<UpdateRule> make_sync(const std::string& settings) {
  return make("sync", 1, settings);
}

std::unique_ptr<UpdateRule> make_local_sgd(const std::string& settings) {
  return make("local-sgd", 0, settings);
}

}  // namespace quorate
