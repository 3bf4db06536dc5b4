#include "validator/screening.h"

#include <limits>
#include <utility>

#include <doctest/doctest.h>

#include "base/arithmetic.h"
#include "tests/support/samples.h"
#include "workunits/objects/safetensors.h"
#include "workunits/objects/update.h"

namespace quorate {
namespace {

// A task, its assignment, and a header and payload that fit.
struct Report {
  TrainingTask task;
  SentResult sent;
  ResultHeader header;
  std::optional<UploadedUpdate> upload;
  bool signature_valid = true;

  std::optional<std::string> screen() const {
    return screen_header(sent, task, header, signature_valid, upload);
  }
};

Hash hash_of(const char* text) {
  return sha256(as_bytes(text));
}

Report good_report() {
  Report report;
  report.task.arithmetic = kArithmeticVersion;
  report.task.model = ModelSpec{"mlp", {2, 3, 2}};
  report.task.range.steps = 10;
  report.task.range.batch = 4;
  report.task.digest_every = digest_interval(10);  // 2: five digests
  report.sent.result = 42;
  report.sent.nonce.bytes[0] = 1;
  report.sent.workunit = hash_of("workunit");
  report.sent.host.bytes[0] = 2;
  report.header.result_id = 42;
  report.header.nonce = report.sent.nonce;
  report.header.workunit = report.sent.workunit;
  report.header.host = report.sent.host;
  report.header.arithmetic = kArithmeticVersion;
  report.header.claim.update = hash_of("update");
  report.header.claim.digests.assign(5, hash_of("state"));
  report.header.claim.samples = 40;
  report.header.claim.loss_bits = bits(0.5F);
  report.upload = UploadedUpdate{hash_of("update"), 200};
  return report;
}

// Diverged in step 6, after 5 steps: two digests.
Report diverged_report() {
  Report report = good_report();
  report.header.claim.outcome = ComputeOutcome::diverged;
  report.header.claim.diverged_step = 6;
  report.header.claim.update = Hash{};
  report.header.claim.digests.resize(2);
  report.header.claim.samples = 20;
  report.upload.reset();
  return report;
}

TEST_CASE("reports that fit pass") {
  CHECK(good_report().screen() == std::nullopt);
  CHECK(diverged_report().screen() == std::nullopt);

  Report witness = good_report();
  witness.sent.upload_expected = false;
  witness.upload.reset();
  CHECK(witness.screen() == std::nullopt);

  Report at_once = diverged_report();
  at_once.header.claim.diverged_step = 1;
  at_once.header.claim.digests.clear();
  at_once.header.claim.samples = 0;
  CHECK(at_once.screen() == std::nullopt);
}

struct Fault {
  const char* reason;  // what it begins with
  void (*make)(Report& report);
};

const Fault kFaults[] = {
    {"wrong signature", [](Report& r) { r.signature_valid = false; }},
    {"wrong result", [](Report& r) { r.header.result_id = 43; }},
    {"wrong workunit", [](Report& r) { r.header.workunit = hash_of("other"); }},
    {"wrong host key", [](Report& r) { r.header.host.bytes[0] = 9; }},
    {"wrong nonce", [](Report& r) { r.header.nonce.bytes[0] = 9; }},
    {"wrong arithmetic", [](Report& r) { ++r.header.arithmetic; }},
    {"inconsistent outcome: success without an update",
     [](Report& r) { r.header.claim.update = Hash{}; }},
    {"inconsistent outcome: success, but diverged",
     [](Report& r) { r.header.claim.diverged_step = 1; }},
    {"inconsistent outcome: success with a loss",
     [](Report& r) { r.header.claim.loss_bits = kCanonicalNan; }},
    {"wrong number of state digests",
     [](Report& r) { r.header.claim.digests.pop_back(); }},
    {"wrong number of samples", [](Report& r) { ++r.header.claim.samples; }},
    {"update missing", [](Report& r) { r.upload.reset(); }},
    {"update differs from its header",
     [](Report& r) { r.upload->hash = hash_of("other"); }},
    {"update too large",
     [](Report& r) { r.upload->size_bytes = update_bytes(r.task) + 1; }},
};

const Fault kDivergedFaults[] = {
    {"inconsistent outcome: diverged, but it names an update",
     [](Report& r) { r.header.claim.update = hash_of("update"); }},
    {"inconsistent outcome: diverged at step 0",
     [](Report& r) { r.header.claim.diverged_step = 0; }},
    {"inconsistent outcome: diverged at step 11",
     [](Report& r) { r.header.claim.diverged_step = 11; }},
    {"wrong number of state digests",
     [](Report& r) { r.header.claim.diverged_step = 7; }},
    {"wrong number of samples", [](Report& r) { r.header.claim.samples = 24; }},
    {"inconsistent outcome: diverged, but an update was uploaded",
     [](Report& r) {
       r.upload = UploadedUpdate{hash_of("update"), 200};
     }},
};

void check_reason(const Report& report, const char* reason) {
  CAPTURE(reason);
  const auto found = report.screen();
  REQUIRE(found.has_value());
  CAPTURE(*found);
  CHECK(found->rfind(reason, 0) == 0);
}

TEST_CASE("each fault of a report is found and named") {
  for (const Fault& fault : kFaults) {
    Report report = good_report();
    fault.make(report);
    check_reason(report, fault.reason);
  }
  for (const Fault& fault : kDivergedFaults) {
    Report report = diverged_report();
    fault.make(report);
    check_reason(report, fault.reason);
  }
}

TEST_CASE("a reason tells both values apart") {
  Report report = good_report();
  report.header.claim.samples = 36;
  CHECK(report.screen() == "wrong number of samples: expected 40, found 36");
}

TEST_CASE("a proof belongs to nonce, host, update and digests") {
  // given a header with the right proof
  ResultHeader header = good_report().header;
  const ByteView update = as_bytes("the update's bytes");
  header.proof =
      update_proof(header.nonce, header.host, update, header.claim.digests);
  CHECK(screen_proof(header, update) == std::nullopt);
  // when another host, assignment or payload uses it, then it is refused
  CHECK(screen_proof(header, as_bytes("other bytes")).has_value());
  ResultHeader copied = header;
  copied.host.bytes[0] = 9;
  CHECK(screen_proof(copied, update).has_value());
  copied = header;
  copied.nonce.bytes[0] = 9;
  CHECK(screen_proof(copied, update).has_value());
  copied = header;
  copied.claim.digests[0] = hash_of("other");
  CHECK(screen_proof(copied, update).has_value());
}

TEST_CASE("an update is what its task's codec writes of finite values") {
  TrainingTask task = test::sample_task();
  std::vector<float> values(17, 0.25F);
  for (std::string_view name : codec_names()) {
    CAPTURE(name);
    task.codec = codec_called(name).value();
    const Bytes good = encode_update(task, values);
    CHECK(screen_update(task, good).rejection == std::nullopt);
    // cut at any byte
    for (std::size_t size = 0; size < good.size(); ++size) {
      CHECK(screen_update(task, ByteView(good).first(size))
                .rejection.has_value());
    }
    // by another codec, of another model
    TrainingTask other = task;
    other.codec = task.codec == Codec::int4 ? Codec::int8 : Codec::int4;
    CHECK(screen_update(other, good).rejection.has_value());
    other = task;
    other.model.widths = {2, 9, 2};
    CHECK(screen_update(other, good).rejection.has_value());
  }
}

TEST_CASE("an update of whole values is the model's tensors, all finite") {
  const TrainingTask task = test::sample_task();
  std::vector<float> values(17, 0.25F);
  const Bytes good = encode_update(task, values);
  CHECK(good == write_parameters(task.model, values));

  SUBCASE("not finite") {
    for (const float bad : {std::numeric_limits<float>::infinity(),
                            -std::numeric_limits<float>::infinity(),
                            std::numeric_limits<float>::quiet_NaN()}) {
      values[16] = bad;
      CHECK(
          screen_update(task, write_parameters(task.model, values)).rejection ==
          "malformed update: elements that are not finite");
    }
  }
  SUBCASE("another order of the same tensors") {
    const Safetensors file(good, "good");
    std::vector<TensorView> swapped = file.tensors();
    std::swap(swapped.front(), swapped.back());
    const Bytes bytes = write_safetensors(swapped);
    REQUIRE(bytes.size() == good.size());
    CHECK(screen_update(task, bytes).rejection ==
          "malformed update: its header is not that of an update of this "
          "model by codec fp32");
  }
  SUBCASE("the same tensors, written otherwise") {
    CHECK(
        screen_update(task, write_parameters(task.model, values, {{"a", "b"}}))
            .rejection.has_value());
  }
}

}  // namespace
}  // namespace quorate
