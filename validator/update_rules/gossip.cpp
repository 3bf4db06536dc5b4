#include "validator/update_rules/gossip.h"

#include <algorithm>

#include "base/arithmetic.h"
#include "base/element_loop.h"
#include "base/error.h"
#include "base/random.h"
#include "validator/update_rules/one_by_one.h"
#include "validator/update_rules/replicas.h"
#include "validator/update_rules/rule_settings.h"

namespace quorate {
namespace {

constexpr const char* kRule = "gossip";
constexpr const char* kWeights = "gossip.weights.scalars";
constexpr const char* kStep = "step";
constexpr const char* kPull = "pull";  // how far the replica goes to its peer
constexpr const char* kPush = "push";  // how far the peer comes to it
// How the model follows: by the changes of both, times kByChanges, or by the
// delta, times kByDelta; the other is 0.
constexpr const char* kByChanges = "by_changes";
constexpr const char* kByDelta = "by_delta";

enum class Exchange { pull, push, push_sum };

// One of the others, each as likely.
std::uint32_t draw_peer(const Arrival& arrival, std::uint32_t replicas) {
  const std::uint32_t word =
      random_word(arrival.seed, stream_of(RandomUse::gossip_peer),
                  static_cast<std::uint32_t>(arrival.version), 0);
  const std::uint32_t other = integer_below(word, replicas - 1);
  return other < arrival.replica ? other : other + 1;
}

class Gossip final : public UpdateRule {
 public:
  Gossip(std::uint32_t replicas, Exchange exchange)
      : replicas_(replicas), exchange_(exchange) {}

  std::string_view name() const override { return kRule; }
  bool in_rounds() const override { return false; }
  std::uint32_t replicas() const override { return replicas_; }

  void step(ParameterRange range, std::span<float> parameters, RuleState& state,
            std::span<const Contribution> contributions,
            const Coefficients& coefficients) const override {
    check(contributions.size() == 1, "gossip takes results one by one");
    const float step = coefficient(coefficients, kStep);
    const float pull = coefficient(coefficients, kPull);
    const float push = coefficient(coefficients, kPush);
    const float by_changes = coefficient(coefficients, kByChanges);
    const float by_delta = coefficient(coefficients, kByDelta);
    const float* delta = contributions[0].delta.data();
    float* own = trained_replica(kRule, state, coefficients) + range.first;
    float* peer = met_replica(state, coefficients) + range.first;
    float* w = parameters.data() + range.first;
    for_each_element(range.count, [=](std::size_t i) {
      const float u = fma(step, delta[i], own[i]);
      const float mine = fma(pull, peer[i] - u, u);
      const float others = fma(push, u - peer[i], peer[i]);
      const float changes = (mine - own[i]) + (others - peer[i]);
      w[i] = fma(by_delta, delta[i], fma(by_changes, changes, w[i]));
      own[i] = mine;
      peer[i] = others;
    });
  }

  void step_statistics(ParameterRange range, std::span<float> parameters,
                       RuleState& state,
                       std::span<const Contribution> contributions,
                       const Coefficients& coefficients) const override {
    const float pull = coefficient(coefficients, kPull);
    const float push = coefficient(coefficients, kPush);
    float* own = trained_replica(kRule, state, coefficients) + range.first;
    float* peer = met_replica(state, coefficients) + range.first;
    const Contribution& result = contributions[0];
    const std::uint32_t count = replicas_of(coefficients);
    std::vector<const float*> all;
    for (std::uint32_t r = 0; r < count; ++r) {
      all.push_back(replica(kRule, state, r) + range.first);
    }
    const float reciprocal = 1.0F / static_cast<float>(count);
    for (std::size_t i = 0; i < range.count; ++i) {
      const float u = result.base[i] + result.delta[i];
      own[i] = fma(pull, peer[i] - u, u);
      peer[i] = fma(push, u - peer[i], peer[i]);
      ChainSum sum;
      for (const float* one : all) sum.push(one[i]);
      parameters[range.first + i] = sum.total() * reciprocal;
    }
  }

  void step_scalars(RuleState& state,
                    const Coefficients& coefficients) const override {
    if (coefficient(coefficients, kByDelta) == 0.0F) return;
    std::vector<float>& weights = state.at(kWeights);
    float& own = weights[replica_of(coefficients).value()];
    own *= 0.5F;
    weights[peer_of(coefficients).value()] += own;
  }

 private:
  std::vector<StateBuffer> own_state_buffers(
      const Coefficients& coefficients) const override {
    const std::uint32_t count = replicas_of(coefficients);
    std::vector<StateBuffer> buffers = replica_buffers(kRule, count);
    buffers.push_back({kWeights, StateBuffer::Start::ones, count});
    return buffers;
  }
  static float* met_replica(RuleState& state,
                            const Coefficients& coefficients) {
    coefficient(coefficients, kPeer);
    return replica(kRule, state, peer_of(coefficients).value());
  }

  Coefficients own_coefficients(const Arrival& arrival) const override {
    const auto count = static_cast<float>(replicas_);
    const std::uint32_t peer = draw_peer(arrival, replicas_);
    Coefficients decided = {{kReplicas, count},
                            {kReplica, static_cast<float>(arrival.replica)},
                            {kPeer, static_cast<float>(peer)},
                            {kStep, 1.0F},
                            {kPull, 0.0F},
                            {kPush, 0.0F},
                            {kByChanges, 1.0F / count},
                            {kByDelta, 0.0F}};
    if (exchange_ == Exchange::pull) decided[kPull] = 0.5F;
    if (exchange_ == Exchange::push) decided[kPush] = 0.5F;
    if (exchange_ == Exchange::push_sum) {
      const float own = weight_of(arrival, arrival.replica);
      const float half = own * 0.5F;
      const float step = std::min(1.0F / own, kMostDrift);
      decided[kStep] = step;
      decided[kPush] = half / (weight_of(arrival, peer) + half);
      decided[kByChanges] = 0.0F;
      decided[kByDelta] = step * own / count;
    }
    return decided;
  }

  static float weight_of(const Arrival& arrival, std::uint32_t number) {
    if (arrival.state == nullptr) return 1.0F;
    const auto found = arrival.state->find(kWeights);
    const bool has_it =
        found != arrival.state->end() && number < found->second.size();
    return has_it ? found->second[number] : 1.0F;
  }

  std::uint32_t replicas_;
  Exchange exchange_;
};

Exchange exchange_of(RuleSettings& values) {
  if (values.is_text("exchange", "push")) return Exchange::push;
  if (values.is_text("exchange", "push-sum")) return Exchange::push_sum;
  values.expect_text("exchange", "pull", "\"pull\", \"push\" or \"push-sum\"");
  return Exchange::pull;
}

}  // namespace

std::unique_ptr<UpdateRule> make_gossip(const std::string& settings) {
  RuleSettings values(kRule, settings);
  const std::uint32_t replicas = values.count("replicas", 8, kMaxReplicas, 2);
  const Exchange exchange = exchange_of(values);
  values.expect_no_others();
  return std::make_unique<Gossip>(replicas, exchange);
}

}  // namespace quorate
