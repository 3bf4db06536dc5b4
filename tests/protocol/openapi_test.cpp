// openapi.json says what the readers do: which members must be there, and the
// bounds.
#include <algorithm>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/file.h"
#include "protocol/limits.h"
#include "tests/protocol/samples.h"

namespace quorate::protocol {
namespace {

using nlohmann::json;

json document() {
  return json::parse(read_text_file(QUORATE_OPENAPI));
}

const Sample& sample_named(const std::vector<Sample>& samples,
                           const std::string& name) {
  for (const Sample& sample : samples) {
    if (sample.name == name) return sample;
  }
  FAIL("no sample ", name);
  return samples.front();
}

bool is_read(const Sample& sample, const json& message) {
  try {
    sample.rewrite(message.dump());
    return true;
  } catch (const Error&) {
    return false;
  }
}

struct Pair {
  const char* schema;
  const char* sample;
};
constexpr Pair kPairs[] = {
    {"ProjectStatement", "project statement"},
    {"ProjectStatement", "project statement, dated"},
    {"AccountRequest", "account request"},
    {"HostRequest", "host request"},
    {"HostReply", "host reply"},
    {"SessionRequest", "session request, first"},
    {"PeerSessionRequest", "peer session request, first"},
    {"WorkRequest", "work request"},
    {"WorkReply", "work reply"},
    {"ReportReply", "report reply"},
    {"StandingReply", "standing reply"},
    {"Error", "error reply"},
};

}  // namespace

TEST_CASE("a member that the document requires is required, others are not") {
  json schemas = document()["components"]["schemas"];
  std::vector<Sample> samples = native_samples();
  for (const auto& [schema, name] : kPairs) {
    const Sample& sample = sample_named(samples, name);
    json required = schemas.at(schema)["required"];
    json properties = schemas.at(schema)["properties"];
    json whole = json::parse(sample.bytes);
    CAPTURE(sample.name);
    for (const auto& item : whole.items()) {
      const std::string& key = item.key();
      CAPTURE(key);
      CHECK(properties.contains(key));
      json without = whole;
      without.erase(key);
      bool must_be_there =
          std::find(required.begin(), required.end(), key) != required.end();
      CHECK(is_read(sample, without) == !must_be_there);
    }
  }
}

TEST_CASE("the document's bounds are the readers' bounds") {
  json schemas = document()["components"]["schemas"];
  const json& work = schemas["WorkRequest"]["properties"];
  CHECK(work["want"]["maximum"] == kMaxAssignments);
  CHECK(work["wait"]["maximum"] == kMaxWaitSeconds);
  CHECK(work["device"]["maxLength"] == kMaxDevice);
  CHECK(work["speed_flops"]["maximum"] == kMaxFlops);
  CHECK(work["holding"]["maxItems"] == kMaxHolding);
  CHECK(work["failed"]["maxItems"] == kMaxHolding);
  CHECK(work["shards"]["maxItems"] == kMaxShards);
  const json& reply = schemas["WorkReply"]["properties"];
  CHECK(reply["assignments"]["maxItems"] == kMaxAssignments);
  CHECK(reply["cancel"]["maxItems"] == kMaxHolding);
  CHECK(reply["closed"]["maxItems"] == kMaxHolding);
  CHECK(reply["retry_after"]["maximum"] == kMaxSeconds);
  CHECK(reply["mates"]["maxItems"] == kMaxMates);
  CHECK(reply["mates"]["items"]["maxLength"] == kMaxContact);
  CHECK(schemas["SiteMember"]["properties"]["contact"]["maxLength"] ==
        kMaxContact);
  CHECK(schemas["Assignment"]["properties"]["objects"]["maxItems"] ==
        kMaxObjects);
  CHECK(schemas["Assignment"]["properties"]["deltas"]["maxItems"] ==
        kMaxDeltas);
  CHECK(schemas["HostRequest"]["properties"]["platform"]["maxLength"] ==
        kMaxPlatform);
  CHECK(schemas["ProjectStatement"]["properties"]["url"]["maxLength"] ==
        kMaxUrl);
  CHECK(schemas["ProjectStatement"]["properties"]["keyring"]["maxLength"] ==
        kMaxKeyringHex);
  CHECK(schemas["Error"]["properties"]["message"]["maxLength"] == kMaxReason);
  const json& standing = schemas["StandingReply"]["properties"];
  CHECK(standing["runs"]["maxItems"] == kMaxRuns);
  CHECK(standing["valid"]["maximum"] == kMaxCount);
  CHECK(standing["credit"]["maximum"] == kMaxCredit);
}

TEST_CASE("every kind of object is in the document") {
  json kinds =
      document()["components"]["schemas"]["ObjectRef"]["properties"]["kind"];
  json expected = json::array();
  for (ObjectKind kind :
       {ObjectKind::workunit, ObjectKind::snapshot, ObjectKind::shard,
        ObjectKind::update, ObjectKind::program}) {
    expected.push_back(name_of(kind));
  }
  CHECK(kinds["enum"] == expected);
}

}  // namespace quorate::protocol
