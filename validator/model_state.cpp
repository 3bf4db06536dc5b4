#include "validator/model_state.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <thread>

#include <fmt/format.h>

#include "base/arithmetic.h"
#include "base/element_loop.h"
#include "base/error.h"
#include "base/parallel.h"
#include "workunits/objects/safetensors.h"
#include "workunits/objects/snapshot_delta.h"

namespace quorate {
namespace {

// Elements that the rule and then the average work on while they are in the
// cache: one pass over memory for both.
constexpr std::size_t kBlock = 4096;
// Elements that a thread takes at a time: some 30 microseconds.
constexpr std::size_t kChunk = 16 * kBlock;
// With fewer elements for each, starting threads costs more than they gain.
constexpr std::size_t kLeastPerThread = 4 * kChunk;
// As many as reach the memory's bandwidth on common servers.
constexpr std::size_t kMostThreads = 8;

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

// Calls body(range) for all of `count` elements, on several threads.
void for_each_chunk(std::size_t count,
                    const std::function<void(ParameterRange)>& body) {
  parallel_for((count + kChunk - 1) / kChunk, merging_threads(count),
               [&](std::size_t chunk) {
                 const std::size_t first = chunk * kChunk;
                 body({first, std::min(kChunk, count - first)});
               });
}

// values go a part of the way to `target`.
void approach(std::span<const float> target, float weight, float* values) {
  const float* x = target.data();
  for_each_element(target.size(), [=](std::size_t i) {
    values[i] = fma(weight, x[i] - values[i], values[i]);
  });
}

// By bit pattern: that is how they are recorded.
bool same_bits(const Coefficients& a, const Coefficients& b) {
  return std::equal(
      a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
        return x.first == y.first && bits(x.second) == bits(y.second);
      });
}

}  // namespace

ModelState::ModelState(std::vector<float> initial, ParameterLayout layout)
    : parameters_(std::move(initial)),
      published_(parameters_),
      layout_(std::move(layout)),
      trainable_(parameters_.size() - layout_.statistics) {}

ModelState::ModelState(std::uint64_t version, std::vector<float> parameters,
                       std::vector<float> published, RuleState rule_state,
                       ParameterLayout layout)
    : version_(version),
      parameters_(std::move(parameters)),
      published_(std::move(published)),
      layout_(std::move(layout)),
      trainable_(parameters_.size() - layout_.statistics),
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
                       std::span<const float> base, ParameterValues delta,
                       std::span<const float> read) {
  expect_follows(entry, rule);
  expect_elements(entry, "update", delta.size(), parameters_.size());
  if (rule.in_rounds()) {
    expect_in_round(entry);
  } else {
    expect_elements(entry, "base", base.size(), parameters_.size());
  }
  if (entry.read_version) {
    expect_elements(entry, "version read", read.size(), parameters_.size());
    std::copy(read.begin(), read.end(), parameters_.begin());
  }
  coefficients_ = entry.coefficients;
  pending_.emplace(entry.unit_index, std::move(delta));
  return advance(entry, rule, base);
}

bool ModelState::take(const ResultAssimilated& entry, const UpdateRule& rule,
                      std::vector<float> stepped) {
  expect_follows(entry, rule);
  expect_elements(entry, "step", stepped.size(), parameters_.size());
  check(rule.may_overwrite(), "a rule without a state steps apart");
  parameters_ = std::move(stepped);
  rule_state_.clear();
  coefficients_ = entry.coefficients;
  const float weight = coefficient(coefficients_, kOneMinusC);
  if (weight != 0.0F) {
    for_each_chunk(parameters_.size(), [&](ParameterRange range) {
      approach(std::span(parameters_).subspan(range.first, range.count), weight,
               published_.data() + range.first);
    });
  }
  version_ = entry.version_after;
  delta_.clear();
  return true;
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
  delta_.clear();
}

void ModelState::mix(const PeerMixed& entry, const ParameterValues& peer) {
  expect_follows(entry, peer);
  const auto unrounded = rule_state_.find(kUnrounded);
  const bool is_rounded = unrounded != rule_state_.end();
  if (is_rounded) parameters_ = unrounded->second;
  std::vector<float*> models{parameters_.data()};
  for (auto& [name, buffer] : rule_state_) {
    if (is_replica_buffer(name)) models.push_back(buffer.data());
  }
  for_each_chunk(parameters_.size(), [&](ParameterRange range) {
    std::vector<float> room;
    const std::size_t end = range.first + range.count;
    for (std::size_t first = range.first; first < end; first += kBlock) {
      const std::size_t count = std::min(kBlock, end - first);
      const auto target = peer.block(first, count, room);
      for (float* model : models) {
        approach(target, entry.weight, model + first);
      }
      approach(std::span(parameters_).subspan(first, count), entry.one_minus_c,
               published_.data() + first);
    }
  });
  // So far from the version before that hosts fetch it whole.
  if (is_rounded) unrounded->second = parameters_;
  delta_.clear();
  version_ = entry.version_after;
}

void ModelState::expect_follows(const PeerMixed& entry,
                                const ParameterValues& peer) const {
  auto refuse_it = [](const std::string& found) {
    throw Error(ErrorKind::corrupt, "model of a peer: " + found);
  };
  if (entry.version_before != version_ || entry.version_after != version_ + 1) {
    refuse_it(fmt::format("it leads from version {} to {}, the model is at {}",
                          entry.version_before, entry.version_after, version_));
  }
  if (!pending_.empty()) refuse_it("inside an open round");
  if (!is_mixing_weight(entry.weight)) {
    refuse_it(fmt::format("weight {}: expected a number over 0 and below 1",
                          entry.weight));
  }
  if (peer.size() != parameters_.size()) {
    refuse_it(fmt::format("it has {} elements, the model {}", peer.size(),
                          parameters_.size()));
  }
  for_each_chunk(peer.size(), [&](ParameterRange range) {
    std::vector<float> room;
    if (!all_finite(peer.block(range.first, range.count, room))) {
      refuse_it("it has numbers that are not finite");
    }
  });
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
  if (entry.read_version) expect_overwrites(entry, rule);
}

void ModelState::expect_overwrites(const ResultAssimilated& entry,
                                   const UpdateRule& rule) const {
  const std::uint64_t read = *entry.read_version;
  const std::uint64_t least = std::max(entry.base_version, branch_);
  if (read < least || read >= version_ || version_ - read >= kMaxAssimilators) {
    refuse(entry, fmt::format("it read version {} at version {}: expected one "
                              "from version {} on, at most {} before",
                              read, version_, least, kMaxAssimilators - 1));
  }
  if (rule.in_rounds() || !rule.state_buffers(entry.coefficients).empty()) {
    refuse(entry, fmt::format("it overwrites versions, but rule \"{}\" keeps "
                              "more than the model",
                              entry.rule));
  }
}

void ModelState::expect_in_round(const ResultAssimilated& entry) const {
  if (pending_.contains(entry.unit_index)) {
    refuse(entry, "its unit is in this round already");
  }
  if (!pending_.empty() && !same_bits(entry.coefficients, coefficients_)) {
    refuse(entry, "its coefficients are not those of its round");
  }
}

// The entry's update is in pending_, unless it was skipped.
bool ModelState::advance(const ResultAssimilated& entry, const UpdateRule& rule,
                         std::span<const float> base) {
  if (entry.version_after == version_) return false;
  const bool has_changed = !pending_.empty() || rule.collects();
  if (has_changed) merge(rule, base);
  pending_.clear();
  version_ = entry.version_after;
  delta_.clear();
  if (has_changed) round_version();
  return true;
}

// Hosts have the rounded versions, so each is made of the one before by what
// they fetch; the rest of the change is in the next one (error feedback).
void ModelState::round_version() {
  const Codec codec = snapshots_of(coefficients_);
  if (codec == Codec::fp32) return;
  check(layout_.model.has_value(), "versions of a known model are rounded");
  const std::size_t threads = merging_threads(parameters_.size());
  delta_ = encode_snapshot_delta({*layout_.model, codec, version_}, parameters_,
                                 rule_state_.at(kUnrounded), threads);
  apply_snapshot_delta(*layout_.model, delta_, parameters_, "rounded version",
                       threads);
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

void ModelState::merge(const UpdateRule& rule, std::span<const float> base) {
  take_buffers_of(rule);
  std::vector<float>& parameters = snapshots_of(coefficients_) == Codec::fp32
                                       ? parameters_
                                       : rule_state_.at(kUnrounded);
  for_each_chunk(parameters.size(), [&](ParameterRange range) {
    merge(range, rule, base, parameters);
  });
  rule.step_scalars(rule_state_, coefficients_);
}

void ModelState::merge(ParameterRange range, const UpdateRule& rule,
                       std::span<const float> base,
                       std::vector<float>& parameters) {
  const float weight = coefficient(coefficients_, kOneMinusC);
  std::vector<std::vector<float>> rooms(pending_.size());
  std::vector<Contribution> contributions(pending_.size());
  const std::size_t end = range.first + range.count;
  for (std::size_t first = range.first, count = 0; first < end;
       first += count) {
    const bool is_learned = first < trainable_;
    const std::size_t stop = is_learned ? std::min(trainable_, end) : end;
    count = std::min(kBlock, stop - first);
    std::size_t at = 0;
    for (const auto& [unit, delta] : pending_) {
      contributions[at] = {base.empty() ? base : base.subspan(first, count),
                           delta.block(first, count, rooms[at])};
      ++at;
    }
    const auto step =
        is_learned ? &UpdateRule::step : &UpdateRule::step_statistics;
    (rule.*step)({first, count}, parameters, rule_state_, contributions,
                 coefficients_);
    if (weight == 0.0F) continue;  // what is published stays as it is
    const float* w = parameters.data() + first;
    float* e = published_.data() + first;
    for_each_element(
        count, [=](std::size_t i) { e[i] = fma(weight, w[i] - e[i], e[i]); });
  }
}

void apply_step(const ResultAssimilated& entry, const UpdateRule& rule,
                std::span<const float> base, const ParameterValues& delta,
                std::size_t trainable, std::vector<float>& parameters) {
  check(rule.may_overwrite(), "a rule without a state steps apart");
  expect_elements(entry, "update", delta.size(), parameters.size());
  expect_elements(entry, "base", base.size(), parameters.size());
  RuleState none;
  std::vector<float> room;
  const std::size_t end = parameters.size();
  for (std::size_t first = 0, count = 0; first < end; first += count) {
    const bool is_learned = first < trainable;
    count = std::min(kBlock, (is_learned ? trainable : end) - first);
    const Contribution one{base.subspan(first, count),
                           delta.block(first, count, room)};
    const auto step =
        is_learned ? &UpdateRule::step : &UpdateRule::step_statistics;
    (rule.*step)({first, count}, parameters, none, {&one, 1},
                 entry.coefficients);
  }
}

std::size_t merging_threads(std::size_t parameters) {
  const std::size_t processors = std::thread::hardware_concurrency();
  return std::clamp<std::size_t>(
      parameters / kLeastPerThread, 1,
      std::clamp<std::size_t>(processors, 1, kMostThreads));
}

ByteParts rule_state_parts(const RuleState& state) {
  if (state.empty()) return {};
  std::vector<TensorView> tensors;
  for (const auto& [name, buffer] : state) {
    tensors.push_back({name,
                       DType::f32,
                       {buffer.size()},
                       {reinterpret_cast<const std::uint8_t*>(buffer.data()),
                        buffer.size() * sizeof(float)}});
  }
  return safetensors_parts(tensors);
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
  return state.empty() ? Hash{} : rule_state_parts(state).hash();
}

}  // namespace quorate
