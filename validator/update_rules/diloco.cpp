#include "validator/update_rules/diloco.h"

#include <algorithm>
#include <array>

#include "base/arithmetic.h"
#include "base/error.h"
#include "validator/element_loop.h"
#include "validator/update_rules/rule_settings.h"

namespace quorate {
namespace {

constexpr const char* kGamma = "gamma";
constexpr const char* kBeta = "beta";
constexpr const char* kMomentum = "diloco.m";

// Elements whose sums are held at a time: 4 KiB a level of the recursion.
constexpr std::size_t kBlock = 1024;
constexpr std::size_t kChain = 64;

// The sums of the deltas' elements from `first` on. The order is that of
// ChainSum, turned inside out so that the inner loop runs over elements: one
// chain at a time, neighbours joined pairwise.
void sum_deltas(std::span<const Contribution> round, std::size_t first,
                std::span<float> sums) {
  if (round.size() <= kChain) {
    std::fill(sums.begin(), sums.end(), 0.0F);
    for (const Contribution& one : round) {
      const float* delta = one.delta.data() + first;
      for_each_element(sums.size(),
                       [=](std::size_t i) { sums[i] += delta[i]; });
    }
    return;
  }
  std::size_t left = kChain;
  while (left * 2 < round.size()) left *= 2;
  std::array<float, kBlock> right;
  sum_deltas(round.first(left), first, sums);
  sum_deltas(round.subspan(left), first, {right.data(), sums.size()});
  for_each_element(sums.size(), [&](std::size_t i) { sums[i] += right[i]; });
}

class Diloco final : public UpdateRule {
 public:
  Diloco(float gamma, float beta) : gamma_(gamma), beta_(beta) {}

  std::string_view name() const override { return "diloco"; }
  bool in_rounds() const override { return true; }
  std::vector<std::string> state_buffers() const override {
    return {kMomentum};
  }

  void step(ParameterRange range, std::span<float> parameters, RuleState& state,
            std::span<const Contribution> contributions,
            const Coefficients& coefficients) const override {
    check(!contributions.empty(), "diloco needs a result to make a round");
    const float gamma = coefficient(coefficients, kGamma);
    const float beta = coefficient(coefficients, kBeta);
    const float reciprocal = 1.0F / static_cast<float>(contributions.size());
    std::vector<float>& momentum = state.at(kMomentum);
    std::array<float, kBlock> sums;
    for (std::size_t done = 0; done < range.count; done += kBlock) {
      const std::size_t first = range.first + done;
      const std::size_t count = std::min(kBlock, range.count - done);
      sum_deltas(contributions, first, {sums.data(), count});
      float* m = momentum.data() + first;
      float* w = parameters.data() + first;
      const float* sum = sums.data();
      for_each_element(count, [=](std::size_t i) {
        const float mean = sum[i] * reciprocal;
        m[i] = fma(beta, m[i], mean);
        w[i] = fma(gamma, fma(beta, m[i], mean), w[i]);
      });
    }
  }

  void step_statistics(ParameterRange range, std::span<float> parameters,
                       std::span<const Contribution> contributions,
                       const Coefficients&) const override {
    check(!contributions.empty(), "diloco needs a result to make a round");
    const float reciprocal = 1.0F / static_cast<float>(contributions.size());
    for (std::size_t i = range.first; i < range.first + range.count; ++i) {
      ChainSum sum;
      for (const Contribution& one : contributions) {
        sum.push(parameters[i] + one.delta[i]);
      }
      parameters[i] = sum.total() * reciprocal;
    }
  }

 private:
  Coefficients own_coefficients(std::uint64_t, std::uint32_t) const override {
    return {{kGamma, gamma_}, {kBeta, beta_}};
  }

  float gamma_;
  float beta_;
};

}  // namespace

std::unique_ptr<UpdateRule> make_diloco(const std::string& settings) {
  RuleSettings values("diloco", settings);
  const float gamma = values.number(
      kGamma, 0.7F, [](float g) { return g > 0.0F && g <= 1.0F; },
      "a number above 0 and at most 1: beyond 1 the outer step overshoots the "
      "mean of the volunteers");
  const float beta = values.number(
      kBeta, 0.9F, [](float b) { return b >= 0.0F && b < 1.0F; },
      "a number from 0 to below 1: at 1 the momentum never forgets and the "
      "model runs away");
  values.expect_no_others();
  return std::make_unique<Diloco>(gamma, beta);
}

}  // namespace quorate
