#include "synthetic_run.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/arithmetic.h"
#include "base/error.h"
#include "base/random.h"
#include "workunits/model_offer.h"
#include "workunits/objects/safetensors.h"

namespace quorate {
namespace {

PrivateKey test_key() {
  const std::array<std::uint8_t, 32> seed{1, 2, 3};
  return PrivateKey::from_seed(seed);
}

constexpr std::uint64_t kSeed = 5;

}  // namespace

SyntheticRun::SyntheticRun()
    : key_(test_key()), project_(project_id_of(key_.public_key())) {
  run_.bytes[0] = 77;
  parameters_ = initial_parameters(model_, kSeed);
  published_ = parameters_;
  versions_.push_back(parameters_);
  RunCreated created;
  created.run = run_;
  created.name = "synthetic";
  created.model = model_;
  created.dataset = "none";
  created.shards = {store({1, 2, 3})};
  created.seed = kSeed;
  created.rule = "vc-asgd";
  created.settings = "{}";
  created.initial = snapshot(parameters_);
  append(created);
}

PublicKey SyntheticRun::host_key(int host) {
  PublicKey key;
  key.bytes[0] = static_cast<std::uint8_t>(host);
  return key;
}

Hash SyntheticRun::store(Bytes bytes) {
  const Hash hash = sha256(bytes);
  objects[hash] = std::move(bytes);
  return hash;
}

Hash SyntheticRun::hash_of(const std::vector<float>& values) const {
  return sha256(write_parameters(model_, values));
}

Hash SyntheticRun::snapshot(const std::vector<float>& values) {
  return store(write_parameters(model_, values));
}

void SyntheticRun::append(LedgerBody body) {
  entries.push_back({entries.size(), Hash{}, std::move(body)});
}

ResultAssimilated SyntheticRun::new_result(std::uint64_t base_version, int host,
                                           std::uint64_t unit_index) {
  TrainingTask task;
  task.run = run_;
  task.unit_index = unit_index;
  task.arithmetic = kArithmeticVersion;
  task.model = model_;
  task.base_version = base_version;
  task.snapshot = snapshot(versions_.at(base_version));
  task.shard = sha256(as_bytes("shard"));
  task.range.shard_samples = 64;
  task.range.steps = 2;
  task.range.batch = 4;
  task.unit_seed = unit_seed(run_, unit_index);
  task.inverse_batch = 0.25F;
  task.digest_every = digest_interval(2);
  ResultAssimilated entry;
  entry.version_before = version_;
  entry.version_after = version_;
  entry.unit_index = unit_index;
  entry.workunit =
      store(seal(encode(task), SealKind::workunit, project_, key_));
  entry.base_version = base_version;
  entry.staleness = version_ - base_version;
  entry.result = static_cast<ResultId>(1000 + unit_index);
  entry.host = host_key(host);
  entry.claim = sha256(as_bytes("claim"));
  entry.samples = 8;
  return entry;
}

std::vector<float> SyntheticRun::make_delta(ResultAssimilated& entry) {
  RandomStream random(entry.unit_index, stream_of(RandomUse::codec), 0);
  std::vector<float> delta(parameters_.size());
  for (float& value : delta) value = uniform11(random.next()) * 0.1F;
  entry.update = snapshot(delta);
  return delta;
}

void SyntheticRun::average(float one_minus_c) {
  for (std::size_t i = 0; i < published_.size(); ++i) {
    const float change = parameters_[i] - published_[i];
    published_[i] = std::fma(one_minus_c, change, published_[i]);
  }
  ++version_;
  versions_.push_back(parameters_);
}

void SyntheticRun::overwrite_from(std::uint64_t read,
                                  std::uint64_t base_version, int host) {
  parameters_ = versions_.at(read);
  assimilate_vc_asgd(base_version, host);
  std::get<ResultAssimilated>(entries.back().body).read_version = read;
}

void SyntheticRun::assimilate_vc_asgd(std::uint64_t base_version, int host) {
  momentum_.clear();
  ResultAssimilated entry = new_result(base_version, host, next_unit_++);
  const std::vector<float> delta = make_delta(entry);
  const std::vector<float>& base = versions_.at(base_version);
  const float weight = 1.0F - 0.7F;
  for (std::size_t i = 0; i < delta.size(); ++i) {
    const float returned = base[i] + delta[i];
    parameters_[i] =
        std::fma(weight, returned - parameters_[i], parameters_[i]);
  }
  entry.version_after = version_ + 1;
  entry.rule = "vc-asgd";
  entry.coefficients = {{"one_minus_alpha", weight},
                        {"one_minus_c", 1.0F - 0.9F}};
  append(entry);
  average(1.0F - 0.9F);
}

void SyntheticRun::assimilate_round(std::size_t results, int host) {
  assimilate_old_round(results, version_, host);
}

void SyntheticRun::assimilate_old_round(std::size_t results,
                                        std::uint64_t base_version, int host) {
  momentum_.resize(parameters_.size(), 0.0F);
  std::vector<float> sum(parameters_.size(), 0.0F);
  std::vector<std::vector<float>> deltas;
  for (std::size_t i = results; i > 0; --i) {
    ResultAssimilated entry =
        new_result(base_version, host, next_unit_ + i - 1);
    deltas.insert(deltas.begin(), make_delta(entry));
    if (i == 1) entry.version_after = version_ + 1;
    entry.rule = "diloco";
    entry.coefficients = {
        {"beta", 0.9F}, {"gamma", 0.7F}, {"one_minus_c", 1.0F - 0.8F}};
    append(entry);
    host = 0;
  }
  next_unit_ += results;
  const float reciprocal = 1.0F / static_cast<float>(results);
  for (std::size_t i = 0; i < sum.size(); ++i) {
    for (const auto& delta : deltas) sum[i] = sum[i] + delta[i];
    const float mean = sum[i] * reciprocal;
    momentum_[i] = std::fma(0.9F, momentum_[i], mean);
    const float step = std::fma(0.9F, momentum_[i], mean);
    parameters_[i] = std::fma(0.7F, step, parameters_[i]);
  }
  average(1.0F - 0.8F);
}

void SyntheticRun::assimilate_in_open_round() {
  ResultAssimilated entry = new_result(version_, 0, next_unit_++);
  make_delta(entry);
  entry.rule = "diloco";
  entry.coefficients = {
      {"beta", 0.9F}, {"gamma", 0.7F}, {"one_minus_c", 1.0F - 0.8F}};
  append(entry);
}

// The equations once more, in a plain loop over the entries.
SyntheticRun::Model SyntheticRun::without(
    const std::set<PublicKey>& hosts) const {
  Model model;
  model.parameters = initial_parameters(model_, kSeed);
  model.published = model.parameters;
  model.versions = {model.parameters};
  std::map<std::uint64_t, std::vector<float>> round;  // by unit
  for (const LedgerEntry& at : entries) {
    const auto* entry = std::get_if<ResultAssimilated>(&at.body);
    const auto* mixed = std::get_if<PeerMixed>(&at.body);
    const bool makes_version =
        std::holds_alternative<Revoked>(at.body) || mixed != nullptr ||
        (entry != nullptr && entry->version_after != entry->version_before);
    if (entry != nullptr && hosts.count(entry->host) == 0 &&
        revoked_.count(entry->result) == 0) {
      round[entry->unit_index] =
          read_parameters(model_, objects.at(entry->update), "update");
    }
    if (!makes_version) continue;
    if (mixed != nullptr) mix(*mixed, model);
    if (!round.empty()) merge(*entry, round, model);
    round.clear();
    ++model.version;
    model.versions.push_back(model.parameters);
  }
  return model;
}

void SyntheticRun::merge(const ResultAssimilated& closing,
                         std::map<std::uint64_t, std::vector<float>>& round,
                         Model& model) const {
  std::vector<float>& w = model.parameters;
  if (closing.read_version) w = model.versions.at(*closing.read_version);
  const bool is_round = closing.rule == "diloco";
  model.momentum.resize(is_round ? w.size() : 0, 0.0F);
  for (std::size_t i = 0; i < w.size(); ++i) {
    if (is_round) {
      float sum = 0.0F;
      for (const auto& [unit, delta] : round) sum = sum + delta[i];
      const float mean = sum * (1.0F / static_cast<float>(round.size()));
      model.momentum[i] = std::fma(0.9F, model.momentum[i], mean);
      w[i] = std::fma(0.7F, std::fma(0.9F, model.momentum[i], mean), w[i]);
    } else {
      const float base = model.versions.at(closing.base_version)[i];
      const float returned = base + round.begin()->second[i];
      w[i] = std::fma(1.0F - 0.7F, returned - w[i], w[i]);
    }
    const float weight = 1.0F - (is_round ? 0.8F : 0.9F);
    float& e = model.published[i];
    e = std::fma(weight, w[i] - e, e);
  }
}

std::vector<ResultId> SyntheticRun::revoke(int host) {
  Revoked revoked;
  for (const LedgerEntry& at : entries) {
    const auto* entry = std::get_if<ResultAssimilated>(&at.body);
    if (entry == nullptr || entry->host != host_key(host)) continue;
    if (revoked_.insert(entry->result).second) {
      revoked.results.push_back(entry->result);
    }
  }
  std::sort(revoked.results.begin(), revoked.results.end());
  const Model rebuilt = without({});
  parameters_ = rebuilt.parameters;
  published_ = rebuilt.published;
  momentum_ = rebuilt.momentum;
  revoked.version_before = version_++;
  revoked.version_after = version_;
  versions_.push_back(parameters_);
  revoked.host = host_key(host);
  revoked.reason = "found false by a spot check";
  revoked.parameters = snapshot(parameters_);
  append(revoked);
  return revoked.results;
}

PrivateKey SyntheticRun::peer_key() {
  const std::array<std::uint8_t, 32> seed{4, 5, 6};
  return PrivateKey::from_seed(seed);
}

void SyntheticRun::mix_peer(std::uint64_t peer_version) {
  RandomStream random(peer_version, stream_of(RandomUse::codec), 1);
  std::vector<float> theirs(parameters_.size());
  for (float& value : theirs) value = uniform11(random.next());
  ModelOffer offer;
  offer.run.bytes[0] = 99;
  offer.keys = keyring_of(peer_key().public_key());
  offer.name = "theirs";
  offer.model = model_;
  offer.arithmetic = kArithmeticVersion;
  offer.version = peer_version;
  offer.parameters = snapshot(theirs);
  PeerMixed entry;
  entry.version_before = version_;
  entry.version_after = version_ + 1;
  entry.peer = peer_key().public_key();
  entry.peer_run = offer.run;
  entry.peer_version = peer_version;
  entry.parameters = offer.parameters;
  entry.offer = store(seal_offer(offer, peer_key()));
  entry.weight = 0.25F;
  entry.one_minus_c = 0.5F;
  append(entry);
  for (std::size_t i = 0; i < theirs.size(); ++i) {
    parameters_[i] =
        std::fma(0.25F, theirs[i] - parameters_[i], parameters_[i]);
  }
  average(0.5F);
}

void SyntheticRun::mix(const PeerMixed& entry, Model& model) const {
  const std::vector<float> theirs =
      read_parameters(model_, objects.at(entry.parameters), "peer");
  for (std::size_t i = 0; i < theirs.size(); ++i) {
    float& w = model.parameters[i];
    w = std::fma(entry.weight, theirs[i] - w, w);
    float& e = model.published[i];
    e = std::fma(entry.one_minus_c, w - e, e);
  }
}

void SyntheticRun::publish() {
  SnapshotPublished published;
  published.version = version_;
  published.parameters = snapshot(parameters_);
  published.published = snapshot(published_);
  if (!momentum_.empty()) {
    published.rule_state =
        store(rule_state_parts({{"diloco.m", momentum_}}).joined());
  }
  append(published);
}

void SyntheticRun::end() {
  append(RunEnded{"finished", version_, snapshot(parameters_),
                  snapshot(published_)});
}

std::vector<LedgerRecord> SyntheticRun::records() const {
  std::vector<LedgerRecord> records;
  Hash previous;
  for (LedgerEntry entry : entries) {
    entry.previous = previous;
    records.push_back(make_record(entry, project_, key_));
    previous = records.back().hash;
  }
  return records;
}

LedgerSources SyntheticRun::sources(const std::vector<LedgerRecord>& of) const {
  LedgerSources sources;
  sources.records = [&of](std::uint64_t seq) -> std::optional<LedgerRecord> {
    if (seq >= of.size()) return std::nullopt;
    return of[seq];
  };
  sources.objects = [this](const Hash& hash) {
    const auto found = objects.find(hash);
    if (found == objects.end()) {
      throw Error(ErrorKind::corrupt, "missing from the store");
    }
    return found->second;
  };
  sources.tasks = sources.objects;
  sources.keys = keyring_of(key_.public_key());
  return sources;
}

SyntheticRun run_with_revocations() {
  SyntheticRun run;               // entry 0
  run.assimilate_vc_asgd(0);      // 1: version 1
  run.assimilate_vc_asgd(0, 1);   // 2: version 2, host 1
  run.assimilate_vc_asgd(2);      // 3: version 3, trained on host 1's work
  run.assimilate_vc_asgd(1, 2);   // 4: version 4, host 2
  run.publish();                  // 5: as it went, false update included
  run.assimilate_round(3, 1);     // 6 to 8: version 5, the first by host 1
  run.revoke(1);                  // 9: version 6
  run.publish();                  // 10
  run.assimilate_vc_asgd(6);      // 11: version 7
  run.assimilate_vc_asgd(6, 2);   // 12: version 8, host 2
  run.assimilate_vc_asgd(7);      // 13: version 9
  run.revoke(2);                  // 14: version 10
  run.assimilate_vc_asgd(10, 1);  // 15: version 11, host 1 again
  run.publish();                  // 16
  run.end();                      // 17
  return run;
}

SyntheticRun run_with_peers() {
  SyntheticRun run;              // entry 0
  run.mix_peer(3);               // 1: version 1
  run.assimilate_vc_asgd(0, 1);  // 2: version 2, host 1, staleness 1
  run.publish();                 // 3
  run.mix_peer(7);               // 4: version 3
  run.publish();                 // 5
  run.assimilate_vc_asgd(2);     // 6: version 4
  run.assimilate_vc_asgd(3, 2);  // 7: version 5
  run.mix_peer(8);               // 8: version 6
  run.revoke(1);                 // 9: version 7
  run.publish();                 // 10
  run.assimilate_round(1, 2);    // 11: version 8
  run.mix_peer(9);               // 12: version 9
  run.publish();                 // 13
  return run;
}

}  // namespace quorate
