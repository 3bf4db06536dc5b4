#include "validator/update_rules/fedbuff.h"

#include <cmath>

#include "base/arithmetic.h"
#include "base/element_loop.h"
#include "base/error.h"
#include "validator/update_rules/one_by_one.h"
#include "validator/update_rules/rule_settings.h"

namespace quorate {
namespace {

constexpr const char* kShare = "share";
constexpr const char* kRate = "rate";              // rate / buffer; 0: no step
constexpr const char* kStatistics = "statistics";  // share / buffer
constexpr const char* kSum = "fedbuff.sum";

class FedBuff final : public UpdateRule {
 public:
  FedBuff(std::uint32_t buffer, float rate) : buffer_(buffer), rate_(rate) {}

  std::string_view name() const override { return "fedbuff"; }
  bool in_rounds() const override { return false; }
  bool collects() const override { return true; }
  bool is_step_due(std::uint64_t version) const override {
    return (version + 1) % buffer_ == 0;
  }

  void step(ParameterRange range, std::span<float> parameters, RuleState& state,
            std::span<const Contribution> contributions,
            const Coefficients& coefficients) const override {
    check(contributions.size() <= 1, "fedbuff takes results one by one");
    const float share = coefficient(coefficients, kShare);
    const float rate = coefficient(coefficients, kRate);
    std::vector<float>& sums = state.at(kSum);
    for (const Contribution& result : contributions) {
      follow(range, sums, result, share);
    }
    if (rate == 0.0F) return;
    float* sum = sums.data() + range.first;
    float* w = parameters.data() + range.first;
    for_each_element(range.count, [=](std::size_t i) {
      w[i] = fma(rate, sum[i], w[i]);
      sum[i] = 0.0F;
    });
  }

  void step_statistics(ParameterRange range, std::span<float> parameters,
                       RuleState&, std::span<const Contribution> contributions,
                       const Coefficients& coefficients) const override {
    mix_statistics(range, parameters, contributions,
                   coefficient(coefficients, kStatistics));
  }

 private:
  std::vector<StateBuffer> own_state_buffers(
      const Coefficients&) const override {
    return {{kSum}};
  }
  Coefficients own_coefficients(const Arrival& arrival) const override {
    const auto size = static_cast<float>(buffer_);
    const float rate = rate_ / size;
    const auto steps = static_cast<float>(arrival.version / buffer_ -
                                          arrival.base_version / buffer_);
    const float drift =
        bounded_rate(rate / std::sqrt(1.0F + steps), arrival.staleness());
    const bool closes = is_step_due(arrival.version);
    return {{kShare, drift / rate},
            {kRate, closes ? rate : 0.0F},
            {kStatistics, drift / rate_},
            {kOneMinusC, closes ? 1.0F - average() : 0.0F}};
  }
  float usual_average() const override { return 0.8F; }

  std::uint32_t buffer_;
  float rate_;
};

}  // namespace

std::unique_ptr<UpdateRule> make_fedbuff(const std::string& settings) {
  RuleSettings values("fedbuff", settings);
  const std::uint32_t buffer = values.count("buffer", 10, 1000);
  const float rate = step_rate(values, 1.0F);
  values.expect_no_others();
  return std::make_unique<FedBuff>(buffer, rate);
}

}  // namespace quorate
