#include "validator/update_rules/gossip.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "base/arithmetic.h"
#include "base/element_loop.h"
#include "base/error.h"
#include "base/random.h"
#include "validator/update_rules/one_by_one.h"
#include "validator/update_rules/replicas.h"
#include "validator/update_rules/rule_settings.h"
#include "workunits/objects/replica_exchange.h"

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

constexpr std::array<std::string_view, 2> kPlaces{"server", "hosts"};
constexpr std::array<std::string_view, 2> kPartners{"any", "adaptive"};

// How many units each replica had of late, and how old ones are forgotten:
// times this for each new one of any; 0: the rule does not count.
constexpr const char* kPaces = "gossip.paces.scalars";
constexpr const char* kForget = "forget";

enum class Exchange { pull, push, push_sum };

struct GossipOptions {
  std::uint32_t replicas = 0;
  Exchange exchange = Exchange::pull;
  bool is_among_hosts = false;
  bool is_adaptive = false;
};

std::uint32_t random_word_of(const Arrival& arrival) {
  return random_word(arrival.seed, stream_of(RandomUse::gossip_peer),
                     static_cast<std::uint32_t>(arrival.version), 0);
}

// One of the others, each as likely.
std::uint32_t draw_any(const Arrival& arrival, std::uint32_t replicas) {
  const std::uint32_t other =
      integer_below(random_word_of(arrival), replicas - 1);
  return other < arrival.replica ? other : other + 1;
}

const std::vector<float>* find(const Arrival& arrival,
                               const std::string& buffer) {
  if (arrival.state == nullptr) return nullptr;
  const auto found = arrival.state->find(buffer);
  return found == arrival.state->end() ? nullptr : &found->second;
}

// Mean square of the differences, of some of the elements.
double distance(const std::vector<float>& a, const std::vector<float>& b) {
  constexpr std::size_t kLooked = 4096;
  const std::size_t stride = std::max<std::size_t>(1, a.size() / kLooked);
  double sum = 0;
  double looked = 0;
  for (std::size_t i = 0; i < a.size(); i += stride) {
    const double change = static_cast<double>(a[i]) - b[i];
    sum += change * change;
    looked += 1;
  }
  return looked == 0 ? 0 : sum / looked;
}

// How much there is to gain from each of the others: who is far, and who had
// many units of late.
std::vector<double> attractions(const Arrival& arrival,
                                std::uint32_t replicas) {
  std::vector<double> found(replicas, 0);
  const auto* own = find(arrival, replica_buffer(kRule, arrival.replica));
  const auto* pace = find(arrival, kPaces);
  if (own == nullptr || pace == nullptr) return found;
  for (std::uint32_t r = 0; r < replicas; ++r) {
    const auto* other = find(arrival, replica_buffer(kRule, r));
    const bool is_another = r != arrival.replica && other != nullptr;
    if (!is_another || r >= pace->size()) continue;
    const double gain = distance(*own, *other) * (*pace)[r];
    if (std::isfinite(gain)) found[r] = gain;
  }
  return found;
}

// One of the others, each as likely as it attracts; any, if none does.
std::uint32_t draw_attractive(const Arrival& arrival, std::uint32_t replicas) {
  const std::vector<double> gains = attractions(arrival, replicas);
  const double all = std::accumulate(gains.begin(), gains.end(), 0.0);
  if (!(all > 0) || !std::isfinite(all)) return draw_any(arrival, replicas);
  constexpr double kWords = 4294967296.0;
  double left = all * (random_word_of(arrival) / kWords);
  std::uint32_t last = 0;
  for (std::uint32_t r = 0; r < replicas; ++r) {
    if (gains[r] <= 0) continue;
    last = r;
    left -= gains[r];
    if (left < 0) break;
  }
  return last;
}

class Gossip final : public UpdateRule {
 public:
  explicit Gossip(const GossipOptions& options) : options_(options) {}

  std::string_view name() const override { return kRule; }
  bool in_rounds() const override { return false; }
  std::uint32_t replicas() const override { return options_.replicas; }
  bool exchanges_among_hosts() const override {
    return options_.is_among_hosts;
  }

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
    count_unit(state, coefficients);
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
    if (coefficients.contains(kForget)) {
      buffers.push_back({kPaces, StateBuffer::Start::ones, count});
    }
    return buffers;
  }
  static void count_unit(RuleState& state, const Coefficients& coefficients) {
    if (!coefficients.contains(kForget)) return;
    std::vector<float>& paces = state.at(kPaces);
    for (float& pace : paces) pace *= coefficient(coefficients, kForget);
    paces[replica_of(coefficients).value()] += 1.0F;
  }
  static float* met_replica(RuleState& state,
                            const Coefficients& coefficients) {
    coefficient(coefficients, kPeer);
    return replica(kRule, state, peer_of(coefficients).value());
  }

  Coefficients own_coefficients(const Arrival& arrival) const override {
    const auto count = static_cast<float>(options_.replicas);
    const std::uint32_t peer = options_.is_adaptive
                                   ? draw_attractive(arrival, options_.replicas)
                                   : draw_any(arrival, options_.replicas);
    Coefficients decided = {{kReplicas, count},
                            {kReplica, static_cast<float>(arrival.replica)},
                            {kPeer, static_cast<float>(peer)},
                            {kStep, 1.0F},
                            {kPull, 0.0F},
                            {kPush, 0.0F},
                            {kByChanges, 1.0F / count},
                            {kByDelta, 0.0F}};
    if (options_.exchange == Exchange::pull) decided[kPull] = kHalfWay;
    if (options_.exchange == Exchange::push) decided[kPush] = 0.5F;
    if (options_.exchange == Exchange::push_sum) {
      const float own = weight_of(arrival, arrival.replica);
      const float half = own * 0.5F;
      const float step = std::min(1.0F / own, kMostDrift);
      decided[kStep] = step;
      decided[kPush] = half / (weight_of(arrival, peer) + half);
      decided[kByChanges] = 0.0F;
      decided[kByDelta] = step * own / count;
    }
    if (options_.is_adaptive) decided[kForget] = 1.0F - 0.5F / count;
    return decided;
  }

  static float weight_of(const Arrival& arrival, std::uint32_t number) {
    if (arrival.state == nullptr) return 1.0F;
    const auto found = arrival.state->find(kWeights);
    const bool has_it =
        found != arrival.state->end() && number < found->second.size();
    return has_it ? found->second[number] : 1.0F;
  }

  GossipOptions options_;
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
  GossipOptions options;
  options.replicas = values.count("replicas", 8, kMaxReplicas, 2);
  options.exchange = exchange_of(values);
  options.is_among_hosts =
      values.choice("among", "server", kPlaces) == kPlaces[1];
  options.is_adaptive =
      values.choice("partners", "any", kPartners) == kPartners[1];
  if (options.is_among_hosts && options.exchange != Exchange::pull) {
    throw Error(ErrorKind::usage,
                "gossip: hosts exchange replicas by \"pull\" alone: leave "
                "\"exchange\" out, or \"among\"");
  }
  values.expect_no_others();
  return std::make_unique<Gossip>(options);
}

}  // namespace quorate
