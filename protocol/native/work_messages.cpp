// What a host and the project say about work: request, reply, report.
#include <array>

#include <nlohmann/json.hpp>

#include "protocol/json_reader.h"
#include "protocol/limits.h"
#include "protocol/native/messages.h"
#include "protocol/text.h"

namespace quorate::protocol {

using Json = nlohmann::ordered_json;

namespace {

constexpr std::array kObjectKinds{ObjectKind::workunit, ObjectKind::snapshot,
                                  ObjectKind::shard, ObjectKind::update,
                                  ObjectKind::program};

ObjectKind read_object_kind(const JsonValue& value) {
  std::string name = value.text(kMaxName);
  for (ObjectKind kind : kObjectKinds) {
    if (name == name_of(kind)) return kind;
  }
  value.refuse("a kind of object, for example \"snapshot\"");
}

Progress read_progress(const JsonValue& value) {
  Progress progress;
  progress.result = value.at("result").id();
  progress.step = value.at("step").integer32();
  progress.steps = value.at("steps").integer32();
  return progress;
}

Failure read_failure(const JsonValue& value) {
  return {value.at("result").id(), value.at("why").text(kMaxReason)};
}

Json to_json(const Assignment& assignment) {
  Json objects = Json::array();
  for (const ObjectRef& object : assignment.objects) {
    objects.push_back({{"kind", name_of(object.kind)},
                       {"hash", object.hash.hex()},
                       {"size", object.size}});
  }
  Json json = {{"result", assignment.result},
               {"nonce", assignment.nonce.hex()},
               {"objects", std::move(objects)},
               {"lease", assignment.lease.count()}};
  for (const SnapshotStep& step : assignment.deltas) {
    json["deltas"].push_back({{"from", step.from.hex()},
                              {"hash", step.delta.hash.hex()},
                              {"size", step.delta.size}});
  }
  if (const auto& exchange = assignment.exchange) {
    json["exchange"] = {{"from", exchange->from.hex()},
                        {"update", exchange->update.hex()},
                        {"met", exchange->met.hex()}};
  }
  if (!assignment.upload) json["upload"] = false;
  return json;
}

Assignment read_assignment(const JsonValue& value) {
  Assignment assignment;
  assignment.result = value.at("result").id();
  if (assignment.result == 0) value.at("result").refuse("from 1");
  assignment.nonce = value.at("nonce").hex<Nonce>();
  for (const JsonValue& item : value.at("objects").items(kMaxObjects)) {
    assignment.objects.push_back({read_object_kind(item.at("kind")),
                                  item.at("hash").hex<Hash>(),
                                  item.at("size").integer(kMaxId)});
  }
  if (auto deltas = value.find("deltas")) {
    for (const JsonValue& item : deltas->items(kMaxDeltas)) {
      assignment.deltas.push_back(
          {item.at("from").hex<Hash>(),
           {ObjectKind::delta, item.at("hash").hex<Hash>(),
            item.at("size").integer(kMaxId)}});
    }
  }
  if (auto exchange = value.find("exchange")) {
    assignment.exchange = {exchange->at("from").hex<Hash>(),
                           exchange->at("update").hex<Hash>(),
                           exchange->at("met").hex<Hash>()};
  }
  assignment.lease = value.at("lease").seconds(kMaxSeconds);
  if (auto upload = value.find("upload")) {
    assignment.upload = upload->boolean();
  }
  return assignment;
}

std::vector<ResultId> read_ids(const JsonValue& root, const char* key) {
  std::vector<ResultId> ids;
  if (auto list = root.find(key)) {
    for (const JsonValue& item : list->items(kMaxHolding)) {
      ids.push_back(item.id());
    }
  }
  return ids;
}

}  // namespace

std::string write(const WorkRequest& request) {
  Json holding = Json::array();
  for (const Progress& progress : request.holding) {
    holding.push_back({{"result", progress.result},
                       {"step", progress.step},
                       {"steps", progress.steps}});
  }
  Json failed = Json::array();
  for (const Failure& failure : request.failed) {
    failed.push_back({{"result", failure.result},
                      {"why", plain_text(failure.why, kMaxReason)}});
  }
  Json json = {{"want", request.want},
               {"wait", request.wait.count()},
               {"device", plain_text(request.device, kMaxDevice)},
               {"speed_flops", request.speed_flops},
               {"holding", std::move(holding)},
               {"failed", std::move(failed)}};
  for (const Hash& shard : request.shards) {
    json["shards"].push_back(shard.hex());
  }
  if (request.site) {
    json["site"] = {{"id", request.site->site.hex()},
                    {"contact", request.site->contact}};
  }
  return json.dump();
}

WorkRequest parse_work_request(ByteView bytes) {
  JsonDocument document(bytes, "work request");
  JsonValue root = document.root();
  WorkRequest request;
  request.want = root.at("want").integer32(kMaxAssignments);
  if (auto wait = root.find("wait")) {
    request.wait = wait->seconds(kMaxWaitSeconds);
  }
  request.device = root.at("device").text(kMaxDevice);
  if (auto speed = root.find("speed_flops")) {
    request.speed_flops = speed->number(kMaxFlops);
  }
  if (auto holding = root.find("holding")) {
    for (const JsonValue& item : holding->items(kMaxHolding)) {
      request.holding.push_back(read_progress(item));
    }
  }
  if (auto failed = root.find("failed")) {
    for (const JsonValue& item : failed->items(kMaxHolding)) {
      request.failed.push_back(read_failure(item));
    }
  }
  if (auto shards = root.find("shards")) {
    for (const JsonValue& item : shards->items(kMaxShards)) {
      request.shards.push_back(item.hex<Hash>());
    }
  }
  if (auto site = root.find("site")) {
    request.site = {site->at("id").hex<Hash>(),
                    site->at("contact").text(kMaxContact)};
  }
  return request;
}

std::string write(const WorkReply& reply) {
  Json assignments = Json::array();
  for (const Assignment& assignment : reply.assignments) {
    assignments.push_back(to_json(assignment));
  }
  Json json = {{"assignments", std::move(assignments)},
               {"cancel", reply.cancel},
               {"closed", reply.closed},
               {"retry_after", reply.retry_after.count()}};
  if (!reply.mates.empty()) json["mates"] = reply.mates;
  if (reply.is_finished) json["finished"] = true;
  return json.dump();
}

WorkReply parse_work_reply(ByteView bytes) {
  JsonDocument document(bytes, "work reply");
  JsonValue root = document.root();
  WorkReply reply;
  if (auto list = root.find("assignments")) {
    for (const JsonValue& item : list->items(kMaxAssignments)) {
      reply.assignments.push_back(read_assignment(item));
    }
  }
  reply.cancel = read_ids(root, "cancel");
  reply.closed = read_ids(root, "closed");
  if (auto after = root.find("retry_after")) {
    reply.retry_after = after->seconds(kMaxSeconds);
  }
  if (auto finished = root.find("finished")) {
    reply.is_finished = finished->boolean();
  }
  if (auto mates = root.find("mates")) {
    for (const JsonValue& item : mates->items(kMaxMates)) {
      reply.mates.push_back(item.text(kMaxContact));
    }
  }
  return reply;
}

std::string write(const ReportReply& reply) {
  return Json{{"accepted", reply.accepted},
              {"reason", plain_text(reply.reason, kMaxReason)}}
      .dump();
}

ReportReply parse_report_reply(ByteView bytes) {
  JsonDocument document(bytes, "report reply");
  JsonValue root = document.root();
  ReportReply reply;
  reply.accepted = root.at("accepted").boolean();
  if (auto reason = root.find("reason"))
    reply.reason = reason->text(kMaxReason);
  return reply;
}

}  // namespace quorate::protocol
