#include "protocol/worker/messages.h"

#include <cmath>
#include <limits>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "protocol/json_reader.h"
#include "protocol/limits.h"
#include "protocol/text.h"
#include "workunits/models/model_spec.h"

namespace quorate::protocol {

using Json = nlohmann::ordered_json;

namespace {

constexpr std::size_t kMaxPath = 4096;
constexpr std::size_t kMaxShards = 1024;
constexpr std::size_t kMaxKind = 32;
constexpr std::size_t kMaxDigests = 8;
constexpr double kMaxLoss = std::numeric_limits<double>::max();
constexpr double kMaxRunSeconds = 1e9;

// Paths may hold bytes that are not UTF-8; they are then replaced, and the
// worker reports a missing file instead of the message being impossible.
std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json to_json(const Claim& claim) {
  Json digests = Json::array();
  for (const Hash& digest : claim.digests) digests.push_back(digest.hex());
  bool success = claim.outcome == ComputeOutcome::success;
  return {{"update", claim.update.hex()},
          {"digests", std::move(digests)},
          {"samples", claim.samples},
          {"loss_bits", claim.loss_bits},
          {"outcome", success ? "success" : "diverged"},
          {"diverged_step", claim.diverged_step}};
}

ComputeOutcome read_outcome(const JsonValue& value) {
  std::string name = value.text(kMaxKind);
  if (name == "success") return ComputeOutcome::success;
  if (name == "diverged") return ComputeOutcome::diverged;
  value.refuse("\"success\" or \"diverged\"");
}

Claim read_claim(const JsonValue& value) {
  Claim claim;
  claim.update = value.at("update").hex<Hash>();
  for (const JsonValue& item : value.at("digests").items(kMaxDigests)) {
    claim.digests.push_back(item.hex<Hash>());
  }
  claim.samples = value.at("samples").integer(kMaxId);
  claim.loss_bits = value.at("loss_bits").integer32();
  claim.outcome = read_outcome(value.at("outcome"));
  claim.diverged_step = value.at("diverged_step").integer32();
  return claim;
}

Json to_json(const ComputeRequest& request) {
  Json json = {{"type", "compute"},
               {"job", request.job},
               {"project", request.project.hex()},
               {"project_key", request.project_key.hex()},
               {"workunit", request.workunit},
               {"snapshot", request.snapshot},
               {"shard", request.shard},
               {"update", request.update},
               {"checkpoint", request.checkpoint}};
  if (request.keep_free != 0) json["keep_free"] = request.keep_free;
  if (request.expected) json["expected"] = to_json(*request.expected);
  return json;
}

Json to_json(const EvaluateRequest& request) {
  return {{"type", "evaluate"},
          {"job", request.job},
          {"model", request.model},
          {"parameters", request.parameters},
          {"shards", request.shards}};
}

Json to_json(const StopRequest&) {
  return {{"type", "stop"}};
}

Json to_json(const WorkerReady& ready) {
  Json json = {{"type", "ready"},
               {"device", plain_text(ready.device, kMaxDevice)},
               {"arithmetic", ready.arithmetic}};
  if (!ready.confinement.empty()) {
    json["confinement"] = plain_text(ready.confinement, kMaxConfinement);
  }
  return json;
}

Json to_json(const WorkerProgress& progress) {
  return {{"type", "progress"},
          {"job", progress.job},
          {"step", progress.step},
          {"steps", progress.steps}};
}

Json to_json(const ComputeDone& done) {
  return {{"type", "computed"},
          {"job", done.job},
          {"claim", to_json(done.claim)},
          {"seconds", done.seconds},
          {"steps", done.steps}};
}

Json to_json(const ComputeDiffers& differs) {
  return {{"type", "differs"},
          {"job", differs.job},
          {"digest", differs.digest},
          {"first_step", differs.first_step},
          {"last_step", differs.last_step},
          {"seconds", differs.seconds},
          {"steps", differs.steps}};
}

// A loss that is not finite is written as null: JSON has no other word for it.
Json to_json(const EvaluateDone& done) {
  return {{"type", "evaluated"},
          {"job", done.job},
          {"correct", done.correct},
          {"samples", done.samples},
          {"loss", done.loss}};
}

Json to_json(const WorkerStopped& stopped) {
  return {{"type", "stopped"}, {"job", stopped.job}};
}

Json to_json(const WorkerFailed& failed) {
  return {{"type", "failed"},
          {"job", failed.job},
          {"kind", plain_text(failed.kind, kMaxKind)},
          {"why", plain_text(failed.why, kMaxReason)}};
}

ComputeRequest read_compute(const JsonValue& root) {
  ComputeRequest request;
  request.job = root.at("job").integer(kMaxId);
  request.project = root.at("project").hex<ProjectId>();
  request.project_key = root.at("project_key").hex<PublicKey>();
  request.workunit = root.at("workunit").text(kMaxPath);
  request.snapshot = root.at("snapshot").text(kMaxPath);
  request.shard = root.at("shard").text(kMaxPath);
  request.update = root.at("update").text(kMaxPath);
  request.checkpoint = root.at("checkpoint").text(kMaxPath);
  if (auto keep_free = root.find("keep_free")) {
    request.keep_free = keep_free->integer(UINT64_MAX);
  }
  if (auto expected = root.find("expected")) {
    request.expected = read_claim(*expected);
  }
  return request;
}

EvaluateRequest read_evaluate(const JsonValue& root) {
  EvaluateRequest request;
  request.job = root.at("job").integer(kMaxId);
  request.model = root.at("model").text(kMaxModelBytes);
  request.parameters = root.at("parameters").text(kMaxPath);
  for (const JsonValue& item : root.at("shards").items(kMaxShards)) {
    request.shards.push_back(item.text(kMaxPath));
  }
  return request;
}

WorkerReady read_ready(const JsonValue& root) {
  WorkerReady ready{root.at("device").text(kMaxDevice),
                    root.at("arithmetic").integer32()};
  if (auto confinement = root.find("confinement")) {
    ready.confinement = confinement->text(kMaxConfinement);
  }
  return ready;
}

WorkerProgress read_progress(const JsonValue& root) {
  return {root.at("job").integer(kMaxId), root.at("step").integer32(),
          root.at("steps").integer32()};
}

ComputeDone read_computed(const JsonValue& root) {
  ComputeDone done;
  done.job = root.at("job").integer(kMaxId);
  done.claim = read_claim(root.at("claim"));
  done.seconds = root.at("seconds").number(kMaxRunSeconds);
  done.steps = root.at("steps").integer32();
  return done;
}

ComputeDiffers read_differs(const JsonValue& root) {
  ComputeDiffers differs;
  differs.job = root.at("job").integer(kMaxId);
  differs.digest = root.at("digest").integer32();
  differs.first_step = root.at("first_step").integer32();
  differs.last_step = root.at("last_step").integer32();
  differs.seconds = root.at("seconds").number(kMaxRunSeconds);
  differs.steps = root.at("steps").integer32();
  return differs;
}

EvaluateDone read_evaluated(const JsonValue& root) {
  EvaluateDone done;
  done.job = root.at("job").integer(kMaxId);
  done.correct = root.at("correct").integer(kMaxId);
  done.samples = root.at("samples").integer(kMaxId);
  if (done.samples == 0) root.at("samples").refuse("at least 1");
  if (done.correct > done.samples) {
    root.at("correct").refuse("no more than there are samples");
  }
  auto loss = root.find("loss");
  done.loss = loss ? loss->number(kMaxLoss) : std::nan("");
  return done;
}

WorkerFailed read_failed(const JsonValue& root) {
  return {root.at("job").integer(kMaxId), root.at("kind").text(kMaxKind),
          root.at("why").text(kMaxReason)};
}

}  // namespace

std::string write(const WorkerRequest& request) {
  return dump(std::visit([](const auto& r) { return to_json(r); }, request));
}

std::string write(const WorkerReply& reply) {
  return dump(std::visit([](const auto& r) { return to_json(r); }, reply));
}

WorkerRequest parse_worker_request(const std::string& line) {
  JsonDocument document(as_bytes(line), "request to the worker");
  JsonValue root = document.root();
  JsonValue type = root.at("type");
  std::string name = type.text(kMaxKind);
  if (name == "compute") return read_compute(root);
  if (name == "evaluate") return read_evaluate(root);
  if (name == "stop") return StopRequest{};
  type.refuse("\"compute\", \"evaluate\" or \"stop\"");
}

WorkerReply parse_worker_reply(const std::string& line) {
  JsonDocument document(as_bytes(line), "message of the worker");
  JsonValue root = document.root();
  JsonValue type = root.at("type");
  std::string name = type.text(kMaxKind);
  if (name == "ready") {
    return read_ready(root);
  }
  if (name == "progress") return read_progress(root);
  if (name == "computed") return read_computed(root);
  if (name == "differs") return read_differs(root);
  if (name == "evaluated") return read_evaluated(root);
  if (name == "stopped") return WorkerStopped{root.at("job").integer(kMaxId)};
  if (name == "failed") return read_failed(root);
  type.refuse("a message that this program knows");
}

}  // namespace quorate::protocol
