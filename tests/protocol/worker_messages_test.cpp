#include <cmath>
#include <optional>
#include <string>

#include <doctest/doctest.h>

#include "base/error.h"
#include "protocol/worker/messages.h"
#include "tests/protocol/samples.h"
#include "workunits/models/model_spec.h"

namespace quorate::protocol {

TEST_CASE("every worker message survives reading and writing") {
  for (const Sample& sample : worker_samples()) {
    CAPTURE(sample.name);
    CHECK(sample.rewrite(sample.bytes) == sample.bytes);
    CHECK(sample.bytes.find('\n') == std::string::npos);
  }
}

TEST_CASE("compute and its claim have the bytes that the document shows") {
  std::vector<Sample> samples = worker_samples();
  CHECK(write(WorkerRequest(sample_compute_request())) == samples[0].bytes);
  CHECK(write(WorkerReply(ComputeDone{3, sample_claim(), 0.25, 20})) ==
        samples[6].bytes);
}

TEST_CASE("a claim arrives as it was sent, also of a diverged unit") {
  Claim claim = sample_claim();
  claim.outcome = ComputeOutcome::diverged;
  claim.diverged_step = 12;
  claim.update = {};
  WorkerReply read =
      parse_worker_reply(write(WorkerReply(ComputeDone{1, claim, 2, 12})));
  CHECK(std::get<ComputeDone>(read).claim == claim);
}

TEST_CASE("a loss that is no number arrives as NaN") {
  WorkerReply read = parse_worker_reply(
      write(WorkerReply(EvaluateDone{1, 10, 100, std::nan("")})));
  CHECK(std::isnan(std::get<EvaluateDone>(read).loss));
}

TEST_CASE("the longest list of layers that a run may have reaches a worker") {
  const std::string layer =
      R"({"layer":"conv2d","channels":2,"window":3,"padding":1},)";
  std::string layers;
  std::optional<ModelSpec> longest;
  for (;;) {
    layers += layer;
    try {
      longest = parse_model("layers {\"layers\":[" + layers +
                                R"({"layer":"mean_pixels"},)"
                                R"({"layer":"linear","outputs":2}]})",
                            {4, 4, 2}, 2);
    } catch (const Error& error) {
      CHECK(std::string(error.what()).find("list fewer layers") !=
            std::string::npos);
      break;
    }
  }
  const std::string json = to_json(*longest);
  CHECK(json.size() + layer.size() > kMaxModelBytes);
  const WorkerRequest read = parse_worker_request(
      write(WorkerRequest(EvaluateRequest{1, json, "parameters", {}})));
  CHECK(model_from_json(std::get<EvaluateRequest>(read).model) == *longest);
}

TEST_CASE("a reason of several lines stays one line") {
  std::string line = write(WorkerReply(WorkerFailed{1, "io", "a\nb"}));
  CHECK(line.find('\n') == std::string::npos);
  CHECK(std::get<WorkerFailed>(parse_worker_reply(line)).why == "a?b");
}

TEST_CASE("an evaluation is of samples, and not more correct than these") {
  for (const char* wrong :
       {R"({"type":"evaluated","job":4,"correct":0,"samples":0,"loss":1})",
        R"({"type":"evaluated","job":4,"correct":9,"samples":8,"loss":1})"}) {
    CHECK_THROWS_AS(parse_worker_reply(wrong), Error);
  }
}

TEST_CASE("an unknown message is refused by name") {
  CHECK_THROWS_WITH_AS(
      parse_worker_request(R"({"type":"dance"})"),
      R"(request to the worker: "type": expected "compute", "evaluate" or )"
      R"("stop", found "dance")",
      Error);
  CHECK_THROWS_WITH_AS(parse_worker_reply("{}"),
                       R"(message of the worker: "type" is missing)", Error);
}

}  // namespace quorate::protocol
