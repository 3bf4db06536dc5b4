#include "server/cli/auditing/audit_state.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/json_fields.h"
#include "base/random.h"

namespace quorate {
namespace {

using nlohmann::json;

constexpr std::string_view kFormat = "quorate audit v1";
constexpr JsonLimits kLimits{64 << 20, 4};

FalseResult read_found(const json& item) {
  JsonFields fields(item, "audit: false result");
  FalseResult found;
  found.entry = fields.integer("entry");
  found.result = static_cast<ResultId>(fields.integer("result"));
  found.unit = fields.integer("unit");
  found.host = fields.fixed_bytes<PublicKey>("host");
  found.first_step = fields.integer32("first_step");
  found.last_step = fields.integer32("last_step");
  return found;
}

}  // namespace

bool is_drawn(std::uint64_t seed, std::uint64_t entry, double share) {
  return static_cast<double>(uniform01(random_word(seed, 0, 0, entry))) < share;
}

std::string write_audit_state(const AuditState& state) {
  json found = json::array();
  for (const FalseResult& one : state.found) {
    found.push_back({{"entry", one.entry},
                     {"result", one.result},
                     {"unit", one.unit},
                     {"host", one.host.hex()},
                     {"first_step", one.first_step},
                     {"last_step", one.last_step}});
  }
  return dump_json({{"format", kFormat},
                    {"seed", hex_of_seed(state.seed)},
                    {"entries", state.entries},
                    {"last", state.last.hex()},
                    {"recomputed", state.recomputed},
                    {"found", found}});
}

AuditState parse_audit_state(std::string_view text) {
  const json parsed = parse_json(text, kLimits, "audit");
  JsonFields fields(parsed, "audit");
  if (fields.text("format", 64) != kFormat) {
    throw Error(ErrorKind::corrupt,
                fmt::format("audit: expected format \"{}\"", kFormat));
  }
  AuditState state;
  state.seed = fields.seed_of_hex("seed");
  state.entries = fields.integer("entries");
  state.last = fields.fixed_bytes<Hash>("last");
  state.recomputed = fields.integer("recomputed");
  for (const json& item : fields.array("found")) {
    state.found.push_back(read_found(item));
  }
  return state;
}

}  // namespace quorate
