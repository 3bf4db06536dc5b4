// What became of a host's work: GET /v1/hosts/me.
#include <algorithm>

#include <nlohmann/json.hpp>

#include "protocol/json_reader.h"
#include "protocol/limits.h"
#include "protocol/native/messages.h"
#include "protocol/text.h"

namespace quorate::protocol {

using Json = nlohmann::ordered_json;

std::string write(const StandingReply& reply) {
  Json runs = Json::array();
  std::size_t count = std::min(reply.runs.size(), kMaxRuns);
  for (std::size_t i = 0; i < count; ++i) {
    const RunShare& share = reply.runs[i];
    runs.push_back({{"run", plain_text(share.run, kMaxName)},
                    {"results", share.results},
                    {"first_version", share.first_version},
                    {"last_version", share.last_version}});
  }
  return Json{{"host", reply.host},       {"valid", reply.valid},
              {"invalid", reply.invalid}, {"errors", reply.errors},
              {"pending", reply.pending}, {"in_progress", reply.in_progress},
              {"credit", reply.credit},   {"user_credit", reply.user_credit},
              {"runs", std::move(runs)}}
      .dump();
}

StandingReply parse_standing_reply(ByteView bytes) {
  JsonDocument document(bytes, "standing reply");
  JsonValue root = document.root();
  StandingReply reply;
  reply.host = root.at("host").id();
  reply.valid = root.at("valid").integer(kMaxCount);
  reply.invalid = root.at("invalid").integer(kMaxCount);
  reply.errors = root.at("errors").integer(kMaxCount);
  reply.pending = root.at("pending").integer(kMaxCount);
  reply.in_progress = root.at("in_progress").integer(kMaxCount);
  reply.credit = root.at("credit").number(kMaxCredit);
  reply.user_credit = root.at("user_credit").number(kMaxCredit);
  for (const JsonValue& item : root.at("runs").items(kMaxRuns)) {
    RunShare share;
    share.run = item.at("run").text(kMaxName);
    share.results = item.at("results").integer(kMaxCount);
    share.first_version = item.at("first_version").integer(kMaxCount);
    share.last_version = item.at("last_version").integer(kMaxCount);
    reply.runs.push_back(std::move(share));
  }
  return reply;
}

}  // namespace quorate::protocol
