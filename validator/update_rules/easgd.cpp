#include "validator/update_rules/easgd.h"

#include <algorithm>

#include "base/arithmetic.h"
#include "base/element_loop.h"
#include "base/error.h"
#include "validator/update_rules/replicas.h"
#include "validator/update_rules/rule_settings.h"

namespace quorate {
namespace {

constexpr const char* kA = "a";
constexpr const char* kSync = "sync-easgd";
constexpr const char* kCloses = "closes";  // 1: the last of its round
constexpr const char* kSum = "sync-easgd.sum";
// 1 for each replica that is in this round already.
constexpr const char* kArrived = "sync-easgd.arrived.scalars";

// Running statistics of a replica and the centre, tied by `a`: both become
// averages of what both were.
void tie_statistics(ParameterRange range, std::span<float> centre,
                    float* replica, std::span<const Contribution> contributions,
                    float a) {
  for (const Contribution& result : contributions) {
    for (std::size_t i = 0; i < range.count; ++i) {
      const float u = result.base[i] + result.delta[i];
      const float z = centre[range.first + i];
      centre[range.first + i] = fma(a, u - z, z);
      replica[i] = fma(a, z - u, u);
    }
  }
}

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
    tie_statistics(range, parameters,
                   trained_replica(name_, state, coefficients) + range.first,
                   contributions, coefficient(coefficients, kA));
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

class SyncEasgd final : public UpdateRule {
 public:
  SyncEasgd(std::uint32_t replicas, float beta)
      : replicas_(replicas), beta_(beta) {}

  std::string_view name() const override { return kSync; }
  bool in_rounds() const override { return false; }
  bool collects() const override { return true; }
  std::uint32_t replicas() const override { return replicas_; }
  bool is_without_momentum() const override { return true; }
  bool is_waiting(const RuleState& state, std::uint32_t r) const override {
    const auto arrived = state.find(kArrived);
    return arrived != state.end() && r < arrived->second.size() &&
           arrived->second[r] != 0.0F;
  }

  void step(ParameterRange range, std::span<float> parameters, RuleState& state,
            std::span<const Contribution> contributions,
            const Coefficients& coefficients) const override {
    check(contributions.size() <= 1, "sync-easgd takes results one by one");
    float* z = parameters.data() + range.first;
    float* sum = state.at(kSum).data() + range.first;
    for (const Contribution& result : contributions) {
      const float a = coefficient(coefficients, kA);
      const float* delta = result.delta.data();
      float* own = trained_replica(kSync, state, coefficients) + range.first;
      for_each_element(range.count, [=](std::size_t i) {
        const float x = own[i] + delta[i];
        const float d = a * (x - z[i]);
        sum[i] = sum[i] + d;
        own[i] = x - d;
      });
    }
    if (coefficient(coefficients, kCloses) == 0.0F) return;
    for_each_element(range.count, [=](std::size_t i) {
      z[i] = z[i] + sum[i];
      sum[i] = 0.0F;
    });
  }

  void step_statistics(ParameterRange range, std::span<float> parameters,
                       RuleState& state,
                       std::span<const Contribution> contributions,
                       const Coefficients& coefficients) const override {
    if (contributions.empty()) return;
    tie_statistics(range, parameters,
                   trained_replica(kSync, state, coefficients) + range.first,
                   contributions, coefficient(coefficients, kA));
  }

  void step_scalars(RuleState& state,
                    const Coefficients& coefficients) const override {
    std::vector<float>& arrived = state.at(kArrived);
    if (coefficient(coefficients, kCloses) != 0.0F) {
      std::fill(arrived.begin(), arrived.end(), 0.0F);
    } else {
      arrived[replica_of(coefficients).value()] = 1.0F;
    }
  }

 private:
  std::vector<StateBuffer> own_state_buffers(
      const Coefficients& coefficients) const override {
    const std::uint32_t count = replicas_of(coefficients);
    std::vector<StateBuffer> buffers = replica_buffers(kSync, count);
    buffers.push_back({kSum});
    buffers.push_back({kArrived, StateBuffer::Start::zeros, count});
    return buffers;
  }
  Coefficients own_coefficients(const Arrival& arrival) const override {
    const auto count = static_cast<float>(replicas_);
    const bool closes = is_last(arrival);
    return {{kA, beta_ / count},
            {kReplicas, count},
            {kReplica, static_cast<float>(arrival.replica)},
            {kCloses, closes ? 1.0F : 0.0F},
            {kOneMinusC, closes ? 1.0F - average() : 0.0F}};
  }
  bool is_last(const Arrival& arrival) const {
    static const RuleState kNone;
    const RuleState& state = arrival.state ? *arrival.state : kNone;
    for (std::uint32_t r = 0; r < replicas_; ++r) {
      if (r != arrival.replica && !is_waiting(state, r)) return false;
    }
    return true;
  }
  // A step is of a whole round.
  float usual_average() const override { return 0.8F; }

  std::uint32_t replicas_;
  float beta_;
};

struct Settings {
  std::uint32_t replicas;
  float beta;
};

Settings read(const char* name, const std::string& settings) {
  RuleSettings values(name, settings);
  const Settings read{
      values.count("replicas", 8, kMaxReplicas),
      values.number(
          "beta", 0.9F, [](float b) { return b > 0.0F && b <= 1.0F; },
          "a number above 0 and at most 1: beyond 1 the replicas together pull "
          "the centre past themselves")};
  values.expect_no_others();
  return read;
}

std::unique_ptr<UpdateRule> make(const char* name,
                                 const std::string& settings) {
  const auto [replicas, beta] = read(name, settings);
  return std::make_unique<Easgd>(name, replicas, beta);
}

}  // namespace

std::unique_ptr<UpdateRule> make_easgd(const std::string& settings) {
  return make("easgd", settings);
}

std::unique_ptr<UpdateRule> make_eamsgd(const std::string& settings) {
  return make("eamsgd", settings);
}

std::unique_ptr<UpdateRule> make_sync_easgd(const std::string& settings) {
  const auto [replicas, beta] = read(kSync, settings);
  return std::make_unique<SyncEasgd>(replicas, beta);
}

}  // namespace quorate
