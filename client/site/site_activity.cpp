#include "client/site/site_activity.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json_fields.h"

namespace quorate::client {
namespace {

constexpr JsonLimits kActivityLimits{256 << 10, 4};
constexpr std::size_t kMostWhy = 2000;

MateStatus parse_mate_status(const nlohmann::json& json) {
  const JsonFields fields(json, "mate");
  return {fields.text("name", kMostWhy), fields.text("address", kMostWhy),
          fields.integer("bytes"), fields.text("state", kMostWhy),
          fields.text("why", kMostWhy)};
}

}  // namespace

std::string site_activity_json(const SiteActivity& activity) {
  nlohmann::json mates = nlohmann::json::array();
  for (const MateStatus& mate : activity.mates) {
    mates.push_back({{"name", mate.name},
                     {"address", mate.address},
                     {"bytes", mate.bytes},
                     {"state", mate.state},
                     {"why", mate.why.substr(0, kMostWhy)}});
  }
  return dump_json({{"id", activity.id},
                    {"addresses", activity.addresses},
                    {"port", activity.port},
                    {"bytes_given", activity.bytes_given},
                    {"bytes_received", activity.bytes_received},
                    {"refused", activity.refused},
                    {"mates", std::move(mates)}});
}

SiteActivity parse_site_activity(std::string_view text) {
  const nlohmann::json json = parse_json(text, kActivityLimits, "site");
  const JsonFields fields(json, "site");
  SiteActivity activity;
  activity.id = fields.text("id", kMostWhy);
  for (const nlohmann::json& one : fields.array("addresses")) {
    if (!one.is_string()) {
      throw Error(ErrorKind::corrupt, "site: \"addresses\": expected texts");
    }
    activity.addresses.push_back(one.get<std::string>());
  }
  activity.port = static_cast<std::uint16_t>(fields.integer("port", 0, 65535));
  activity.bytes_given = fields.integer("bytes_given");
  activity.bytes_received = fields.integer("bytes_received");
  activity.refused = fields.integer("refused");
  for (const nlohmann::json& one : fields.array("mates")) {
    activity.mates.push_back(parse_mate_status(one));
  }
  return activity;
}

}  // namespace quorate::client
