#include "tests/support/samples.h"

#include <array>
#include <cmath>

#include "base/arithmetic.h"
#include "workunits/objects/shard.h"
#include "workunits/objects/token_shard.h"

namespace quorate::test {

PrivateKey sample_key(std::uint8_t fill) {
  return PrivateKey::from_seed(filled<Hash>(fill).view());
}

ProjectId sample_project() {
  return project_id_of(sample_key(1).public_key());
}

ModelSpec sample_model() {
  return {"mlp", {2, 3, 2}};
}

TrainingTask sample_task() {
  TrainingTask task;
  task.run = filled<RunId>(0x11);
  task.unit_index = 5;
  task.arithmetic = kArithmeticVersion;
  task.model = sample_model();
  task.base_version = 3;
  task.snapshot = filled<Hash>(0x22);
  task.shard = filled<Hash>(0x33);
  task.range.epoch = 1;
  task.range.shard_index = 2;
  task.range.shard_samples = 100;
  task.range.first = 10;
  task.range.steps = 4;
  task.range.batch = 2;
  task.order_seed = 0x0123456789abcdef;
  task.unit_seed = unit_seed(task.run, task.unit_index);
  task.optimizer = {0.05F, 0.9F, 0.0F};
  task.inverse_batch = 0.5F;
  task.digest_every = 1;
  return task;
}

TrainingTask sample_image_task() {
  TrainingTask task = sample_task();
  task.model = {"lenet", {6, 16, 120, 84, 10}, {28, 28, 1}};
  return task;
}

TrainingTask sample_codec_task(Codec codec) {
  TrainingTask task = sample_task();
  task.model = parse_model(
      R"(layers {"layers":[{"layer":"flatten"},{"layer":"linear","outputs":17},
                           {"layer":"batch_norm"},{"layer":"relu"},
                           {"layer":"linear","outputs":3}]})",
      {4, 4, 1}, 3);
  task.codec = codec;
  return task;
}

std::vector<float> sample_delta(const ModelSpec& model) {
  std::vector<float> values(parameter_count(model));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto mantissa = static_cast<float>(37 * i % 101) - 50;
    values[i] = std::ldexp(mantissa, -static_cast<int>(8 + i % 7));
  }
  return values;
}

Bytes sample_shard() {
  const std::array<std::uint8_t, 12> images{0, 1, 2,  3,  4,   5,
                                            6, 7, 80, 90, 100, 255};
  const std::array<std::uint8_t, 3> labels{1, 0, 1};
  ShardView shard;
  shard.shape = {2, 2, 1};
  shard.samples = 3;
  shard.images = images;
  shard.labels = labels;
  return write_shard(shard);
}

Bytes sample_token_shard() {
  return write_token_shard(std::array<std::uint8_t, 5>{0, 1, 2, 1, 0});
}

ResultHeader sample_header() {
  ResultHeader header;
  header.result_id = 42;
  header.nonce = filled<Nonce>(0x44);
  header.workunit = filled<Hash>(0x55);
  header.host = sample_key(2).public_key();
  header.claim.update = filled<Hash>(0x66);
  header.claim.digests = {filled<Hash>(0x77), filled<Hash>(0x88)};
  header.claim.samples = 8;
  header.claim.loss_bits = bits(0.625F);
  header.device = "cpu:avx2";
  header.arithmetic = kArithmeticVersion;
  header.proof = filled<Hash>(0x99);
  return header;
}

ResultHeader sample_diverged_header() {
  ResultHeader header = sample_header();
  header.claim.update = Hash{};
  header.claim.outcome = ComputeOutcome::diverged;
  header.claim.diverged_step = 3;
  return header;
}

namespace {

RunCreated sample_run() {
  RunCreated run;
  run.run = filled<RunId>(0x11);
  run.name = "first";
  run.model = sample_model();
  run.dataset = "glyphs";
  run.shards = {filled<Hash>(0x33), filled<Hash>(0x34)};
  run.seed = 7;
  run.rule = "vc-asgd";
  run.settings = R"({"batch":2})";
  run.initial = filled<Hash>(0xa0);
  return run;
}

ResultAssimilated sample_result(std::uint64_t unit, std::uint64_t before,
                                std::uint64_t after, std::uint64_t base) {
  ResultAssimilated result;
  result.version_before = before;
  result.version_after = after;
  result.unit_index = unit;
  result.workunit = filled<Hash>(0x55);
  result.base_version = base;
  result.staleness = before - base;
  result.result = static_cast<ResultId>(40 + unit);
  result.host = sample_key(2).public_key();
  result.update = filled<Hash>(0x66);
  result.claim = filled<Hash>(0x67);
  result.samples = 8;
  result.rule = "vc-asgd";
  result.coefficients = {{"alpha", 0.7F}, {"one_minus_alpha", 0.3F}};
  return result;
}

}  // namespace

Receipt sample_receipt() {
  const std::vector<LedgerRecord> ledger = sample_ledger();
  Receipt receipt;
  receipt.project = "sample";
  receipt.keys = keyring_of(sample_key(1).public_key());
  receipt.host = sample_key(2).public_key();
  receipt.user = sample_key(3).public_key();
  receipt.when = 1'790'000'000'123;
  receipt.credit_thousandths = 12'500;
  receipt.runs = {{std::get<RunCreated>(parse_entry(ledger[0].line).body).run,
                   "first", "finished", 3, 1, 2, ledger.size(),
                   ledger.back().hash}};
  return receipt;
}

std::vector<LedgerEntry> sample_entries() {
  SnapshotPublished snapshot{2, filled<Hash>(0xa1), filled<Hash>(0xa2), Hash{}};
  RunEnded end{"finished", 2, filled<Hash>(0xa1), filled<Hash>(0xa2)};
  std::vector<LedgerBody> bodies{sample_run(),
                                 sample_result(0, 0, 1, 0),
                                 sample_result(1, 1, 1, 0),
                                 sample_result(2, 1, 2, 1),
                                 snapshot,
                                 end};
  std::vector<LedgerEntry> entries;
  for (LedgerBody& body : bodies) {
    entries.push_back({entries.size(), Hash{}, std::move(body)});
  }
  return entries;
}

std::vector<LedgerRecord> chain(std::vector<LedgerEntry> entries) {
  std::vector<LedgerRecord> records;
  Hash previous;
  for (LedgerEntry& entry : entries) {
    entry.previous = previous;
    records.push_back(make_record(entry, sample_project(), sample_key(1)));
    previous = records.back().hash;
  }
  return records;
}

std::vector<LedgerRecord> sample_ledger() {
  return chain(sample_entries());
}

std::vector<LedgerEntry> sample_revocation() {
  std::vector<LedgerEntry> entries = sample_entries();
  std::get<ResultAssimilated>(entries.at(3).body).basis = "proven";
  entries.back().body = Revoked{2,
                                3,
                                {40, 42},
                                sample_key(2).public_key(),
                                "found false by a check",
                                filled<Hash>(0xa3)};
  return entries;
}

std::vector<LedgerEntry> sample_revocation_of_several() {
  std::vector<LedgerEntry> entries = sample_revocation();
  std::get<ResultAssimilated>(entries.at(3).body).host =
      sample_key(3).public_key();
  std::get<Revoked>(entries.back().body).host.reset();
  return entries;
}

std::vector<LedgerEntry> sample_overwriting() {
  std::vector<LedgerEntry> entries = sample_entries();
  entries.resize(3);
  ResultAssimilated second = sample_result(1, 1, 2, 0);
  second.read_version = 0;
  entries.back().body = second;
  return entries;
}

std::vector<LedgerEntry> sample_unverified() {
  std::vector<LedgerEntry> entries = sample_entries();
  std::get<ResultAssimilated>(entries.at(3).body).basis = kUnverified;
  return entries;
}

std::vector<LedgerEntry> sample_peer() {
  std::vector<LedgerEntry> entries = sample_entries();
  entries.back().body = PeerMixed{2,
                                  3,
                                  sample_key(4).public_key(),
                                  filled<RunId>(0x12),
                                  17,
                                  filled<Hash>(0xb1),
                                  filled<Hash>(0xb2),
                                  0.5F,
                                  0.25F};
  return entries;
}

OrderEntry sample_order() {
  OrderEntry entry;
  entry.seq = 2;
  entry.previous = filled<Hash>(0xc1);
  entry.time = 1'764'025'200'123;
  entry.who = "anna";
  entry.command = "result-revoke";
  entry.arguments = "{\"result\":12}";
  entry.why = "audited: it was false";
  entry.outcome = "result_rejected: result 12: revoked by the operator";
  return entry;
}

Keyring sample_keyring() {
  Keyring ring;
  ring.number = 2;
  ring.keys = {{sample_key(1).public_key(), 0, 1500, false},
               {sample_key(5).public_key(), 1000, 2000, true},
               {sample_key(6).public_key(), 2000, 9000, false}};
  return seal_keyring(std::move(ring), sample_key(1));
}

ModelOffer sample_offer() {
  ModelOffer offer;
  offer.keys = keyring_of(sample_key(4).public_key());
  offer.run = filled<RunId>(0x12);
  offer.name = "first";
  offer.model = sample_model();
  offer.arithmetic = kArithmeticVersion;
  offer.version = 17;
  offer.parameters = filled<Hash>(0xb1);
  offer.entry = 40;
  offer.record = filled<Hash>(0xb3);
  return offer;
}

}  // namespace quorate::test
