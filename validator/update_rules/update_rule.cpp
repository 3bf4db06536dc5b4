#include "validator/update_rules/update_rule.h"

#include <array>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "validator/update_rules/dc_asgd.h"
#include "validator/update_rules/delayed_nesterov.h"
#include "validator/update_rules/delta_asgd.h"
#include "validator/update_rules/diloco.h"
#include "validator/update_rules/easgd.h"
#include "validator/update_rules/fedasync.h"
#include "validator/update_rules/fedbuff.h"
#include "validator/update_rules/gossip.h"
#include "validator/update_rules/local_sgd.h"
#include "validator/update_rules/rule_settings.h"
#include "validator/update_rules/vc_asgd.h"

namespace quorate {
namespace {

// Between the rule's name and the number of the replica.
constexpr std::string_view kReplicaMark = ".x.";

struct KnownRule {
  std::string_view name;
  std::unique_ptr<UpdateRule> (*make)(const std::string& settings);
};

constexpr std::array kRules = {
    KnownRule{"vc-asgd", make_vc_asgd},
    KnownRule{"delta-asgd", make_delta_asgd},
    KnownRule{"downpour", make_downpour},
    KnownRule{"dc-asgd", make_dc_asgd},
    KnownRule{"dc-asgd-adaptive", make_dc_asgd_adaptive},
    KnownRule{"fedasync", make_fedasync},
    KnownRule{"fedbuff", make_fedbuff},
    KnownRule{"delayed-nesterov", make_delayed_nesterov},
    KnownRule{"easgd", make_easgd},
    KnownRule{"eamsgd", make_eamsgd},
    KnownRule{"sync-easgd", make_sync_easgd},
    KnownRule{"gossip", make_gossip},
    KnownRule{"sync", make_sync},
    KnownRule{"local-sgd", make_local_sgd},
    KnownRule{"diloco", make_diloco},
};

// A coefficient that stands for a whole number in [least, end).
std::uint32_t whole(const char* name, float value, std::uint32_t least,
                    std::uint32_t end) {
  if (value >= static_cast<float>(least) && value < static_cast<float>(end) &&
      value == std::floor(value)) {
    return static_cast<std::uint32_t>(value);
  }
  throw Error(ErrorKind::corrupt,
              fmt::format("update rule: coefficient \"{}\" is {}: expected a "
                          "whole number from {} to {}",
                          name, value, least, end - 1));
}

std::optional<std::uint32_t> index_of(const Coefficients& coefficients,
                                      const char* name) {
  const auto found = coefficients.find(name);
  if (found == coefficients.end()) return std::nullopt;
  return whole(name, found->second, 0, replicas_of(coefficients));
}

}  // namespace

bool is_buffer_size(std::string_view name, std::uint64_t size,
                    std::uint64_t elements) {
  return name.ends_with(kScalars) ? size <= kMostScalars : size == elements;
}

Coefficients UpdateRule::coefficients(const Arrival& arrival) const {
  check(arrival.epoch >= 1, "epochs of update rules count from 1");
  check(arrival.base_version <= arrival.version, "a result of a later version");
  Coefficients decided = own_coefficients(arrival);
  decided.try_emplace(kOneMinusC, 1.0F - average());
  if (snapshots_ != Codec::fp32) {
    decided.emplace(kSnapshots, static_cast<float>(snapshots_));
  }
  return decided;
}

bool UpdateRule::may_overwrite() const {
  return !in_rounds() && state_buffers(coefficients({})).empty();
}

std::vector<StateBuffer> UpdateRule::state_buffers(
    const Coefficients& coefficients) const {
  std::vector<StateBuffer> buffers = own_state_buffers(coefficients);
  if (snapshots_of(coefficients) != Codec::fp32) {
    buffers.push_back({kUnrounded, StateBuffer::Start::model});
  }
  return buffers;
}

std::unique_ptr<UpdateRule> make_update_rule(std::string_view name,
                                             const std::string& settings) {
  for (const KnownRule& rule : kRules) {
    if (rule.name != name) continue;
    std::unique_ptr<UpdateRule> made = rule.make(settings);
    made->set_average(published_average(name, settings, made->average()));
    made->set_snapshots(snapshot_codec(name, settings, made->in_rounds()));
    return made;
  }
  throw Error(ErrorKind::usage,
              fmt::format("update rule \"{}\": unknown; choose one of: {}",
                          name, fmt::join(update_rule_names(), ", ")));
}

std::vector<std::string> update_rule_names() {
  std::vector<std::string> names;
  for (const KnownRule& rule : kRules) names.emplace_back(rule.name);
  return names;
}

std::string replica_buffer(std::string_view rule, std::uint32_t replica) {
  return fmt::format("{}{}{}", rule, kReplicaMark, replica);
}

bool is_replica_buffer(std::string_view name) {
  return name.find(kReplicaMark) != std::string_view::npos;
}

std::uint32_t replicas_of(const Coefficients& coefficients) {
  return whole(kReplicas, coefficient(coefficients, kReplicas), 1,
               kMaxReplicas + 1);
}

std::optional<std::uint32_t> replica_of(const Coefficients& coefficients) {
  return index_of(coefficients, kReplica);
}

std::optional<std::uint32_t> peer_of(const Coefficients& coefficients) {
  return index_of(coefficients, kPeer);
}

Codec snapshots_of(const Coefficients& coefficients) {
  const auto found = coefficients.find(kSnapshots);
  if (found == coefficients.end()) return Codec::fp32;
  return static_cast<Codec>(
      whole(kSnapshots, found->second, 1,
            static_cast<std::uint32_t>(codec_names().size())));
}

float coefficient(const Coefficients& coefficients, const char* name) {
  const auto found = coefficients.find(name);
  if (found != coefficients.end()) return found->second;
  throw Error(ErrorKind::corrupt,
              fmt::format("update rule: coefficient \"{}\" is missing", name));
}

}  // namespace quorate
