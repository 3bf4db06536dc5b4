#include "validator/model_state.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "base/arithmetic.h"
#include "base/error.h"
#include "validator/element_loop.h"
#include "workunits/safetensors.h"

namespace quorate {
namespace {

// Elements that the rule and then the average work on while they are in the
// cache: one pass over memory for both.
constexpr std::size_t kBlock = 4096;

[[noreturn]] void refuse(const ResultAssimilated& entry,
                         const std::string& found) {
  throw Error(ErrorKind::corrupt,
              fmt::format("result {} (unit {}): {}", entry.result,
                          entry.unit_index, found));
}

void expect_elements(const ResultAssimilated& entry, const char* what,
                     std::size_t found, std::size_t expected) {
  if (found == expected) return;
  refuse(entry, fmt::format("{} has {} elements, the model {}", what, found,
                            expected));
}

// By bit pattern: that is how they are recorded.
bool same_bits(const Coefficients& a, const Coefficients& b) {
  return std::equal(
      a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
        return x.first == y.first && bits(x.second) == bits(y.second);
      });
}

}  // namespace

ModelState::ModelState(std::vector<float> initial, std::size_t statistics)
    : parameters_(std::move(initial)),
      published_(parameters_),
      trainable_(parameters_.size() - statistics) {}

ModelState::ModelState(std::uint64_t version, std::vector<float> parameters,
                       std::vector<float> published, RuleState rule_state,
                       std::size_t statistics)
    : version_(version),
      parameters_(std::move(parameters)),
      published_(std::move(published)),
      trainable_(parameters_.size() - statistics),
      rule_state_(std::move(rule_state)) {
  const std::size_t n = parameters_.size();
  bool fits = published_.size() == n;
  for (const auto& [name, buffer] : rule_state_) {
    fits &= is_buffer_size(name, buffer.size(), n);
  }
  if (!fits) {
    throw Error(ErrorKind::corrupt,
                fmt::format("state of version {}: parameters, average and rule "
                            "state differ in size",
                            version));
  }
}

std::span<const float> ModelState::base(
    const UpdateRule& rule, std::optional<std::uint32_t> replica) const {
  if (!replica) return parameters_;
  const auto found = rule_state_.find(replica_buffer(rule.name(), *replica));
  return found == rule_state_.end() ? parameters_ : found->second;
}

bool ModelState::apply(const ResultAssimilated& entry, const UpdateRule& rule,
                       std::span<const float> base, std::vector<float> delta) {
  expect_follows(entry, rule);
  expect_elements(entry, "update", delta.size(), parameters_.size());
  if (rule.in_rounds()) {
    expect_in_round(entry);
  } else {
    expect_elements(entry, "base", base.size(), parameters_.size());
  }
  coefficients_ = entry.coefficients;
  pending_.push_back({entry.unit_index, std::move(delta)});
  return advance(entry, rule, base);
}

bool ModelState::skip(const ResultAssimilated& entry, const UpdateRule& rule) {
  expect_follows(entry, rule);
  if (rule.collects()) coefficients_ = entry.coefficients;
  return advance(entry, rule, {});
}

void ModelState::revoke(const Revoked& entry) {
  auto refuse_it = [](const std::string& found) {
    throw Error(ErrorKind::corrupt, "revocation: " + found);
  };
  if (entry.version_before != version_ || entry.version_after != version_ + 1) {
    refuse_it(fmt::format("it leads from version {} to {}, the model is at {}",
                          entry.version_before, entry.version_after, version_));
  }
  if (!pending_.empty()) refuse_it("inside an open round");
  version_ = entry.version_after;
  branch_ = version_;
}

void ModelState::expect_follows(const ResultAssimilated& entry,
                                const UpdateRule& rule) const {
  if (entry.rule != rule.name()) {
    refuse(entry,
           fmt::format("rule \"{}\", not \"{}\"", entry.rule, rule.name()));
  }
  if (entry.version_before != version_) {
    refuse(entry, fmt::format("it changes version {}, the model is at {}",
                              entry.version_before, version_));
  }
  const bool makes_version = entry.version_after == version_ + 1;
  const bool stays_open = entry.version_after == version_ && rule.in_rounds();
  if (!makes_version && !stays_open) {
    refuse(entry, fmt::format("it leads from version {} to {}", version_,
                              entry.version_after));
  }
  if (!rule.in_rounds() && !pending_.empty()) {
    refuse(entry, fmt::format("rule \"{}\" inside an open round", entry.rule));
  }
  if (entry.base_version > version_ ||
      entry.staleness != version_ - entry.base_version) {
    refuse(entry, fmt::format("base version {} and staleness {} at version {}",
                              entry.base_version, entry.staleness, version_));
  }
  if (!rule.in_rounds() && entry.base_version < branch_) {
    refuse(entry, fmt::format("base version {} is older than the revocation "
                              "that made version {}",
                              entry.base_version, branch_));
  }
  // Also those that the rule will look for, before anything is changed.
  for (const auto& [name, value] : rule.coefficients({})) {
    coefficient(entry.coefficients, name.c_str());
  }
  rule.state_buffers(entry.coefficients);
  replica_of(entry.coefficients);
  peer_of(entry.coefficients);
}

void ModelState::expect_in_round(const ResultAssimilated& entry) const {
  for (const Pending& other : pending_) {
    if (other.unit_index == entry.unit_index) {
      refuse(entry, "its unit is in this round already");
    }
  }
  if (!pending_.empty() && !same_bits(entry.coefficients, coefficients_)) {
    refuse(entry, "its coefficients are not those of its round");
  }
}

// The entry's update is in pending_, unless it was skipped.
bool ModelState::advance(const ResultAssimilated& entry, const UpdateRule& rule,
                         std::span<const float> base) {
  if (entry.version_after == version_) return false;
  std::sort(pending_.begin(), pending_.end(),
            [](const Pending& a, const Pending& b) {
              return a.unit_index < b.unit_index;
            });
  std::vector<Contribution> contributions;
  for (const Pending& one : pending_)
    contributions.push_back({base, one.delta});
  if (!contributions.empty() || rule.collects()) merge(contributions, rule);
  pending_.clear();
  version_ = entry.version_after;
  return true;
}

// A run may change its rule: the new one begins anew.
void ModelState::take_buffers_of(const UpdateRule& rule) {
  RuleState taken;
  for (const StateBuffer& buffer : rule.state_buffers(coefficients_)) {
    const auto old = rule_state_.find(buffer.name);
    const std::size_t size =
        buffer.scalars != 0 ? buffer.scalars : parameters_.size();
    if (old != rule_state_.end() && old->second.size() == size) {
      taken[buffer.name] = std::move(old->second);
    } else if (buffer.start == StateBuffer::Start::model) {
      taken[buffer.name] = parameters_;
    } else {
      const bool ones = buffer.start == StateBuffer::Start::ones;
      taken[buffer.name].assign(size, ones ? 1.0F : 0.0F);
    }
  }
  rule_state_ = std::move(taken);
}

void ModelState::merge(std::span<const Contribution> contributions,
                       const UpdateRule& rule) {
  const float weight = coefficient(coefficients_, kOneMinusC);
  take_buffers_of(rule);
  std::size_t count = 0;
  for (std::size_t first = 0; first < parameters_.size(); first += count) {
    if (first < trainable_) {
      count = std::min(kBlock, trainable_ - first);
      rule.step({first, count}, parameters_, rule_state_, contributions,
                coefficients_);
    } else {
      count = std::min(kBlock, parameters_.size() - first);
      rule.step_statistics({first, count}, parameters_, rule_state_,
                           contributions, coefficients_);
    }
    const float* w = parameters_.data() + first;
    float* e = published_.data() + first;
    for_each_element(
        count, [=](std::size_t i) { e[i] = fma(weight, w[i] - e[i], e[i]); });
  }
  rule.step_scalars(rule_state_, coefficients_);
}

Bytes write_rule_state(const RuleState& state) {
  if (state.empty()) return {};
  std::vector<TensorView> tensors;
  for (const auto& [name, buffer] : state) {
    tensors.push_back({name,
                       DType::f32,
                       {buffer.size()},
                       {reinterpret_cast<const std::uint8_t*>(buffer.data()),
                        buffer.size() * sizeof(float)}});
  }
  return write_safetensors(tensors);
}

RuleState read_rule_state(ByteView bytes, std::uint64_t elements,
                          const std::string& what) {
  RuleState state;
  if (bytes.empty()) return state;
  const Safetensors file(bytes, what);
  for (const TensorView& tensor : file.tensors()) {
    const std::uint64_t found = tensor.shape.size() == 1 ? tensor.shape[0] : 0;
    const std::uint64_t size =
        is_buffer_size(tensor.name, found, elements) ? found : elements;
    const ByteView data = file.get(tensor.name, DType::f32, {size}).data;
    std::vector<float>& buffer = state[tensor.name];
    buffer.resize(size);
    std::memcpy(buffer.data(), data.data(), data.size());
  }
  return state;
}

Hash rule_state_hash(const RuleState& state) {
  return state.empty() ? Hash{} : sha256(write_rule_state(state));
}

}  // namespace quorate
