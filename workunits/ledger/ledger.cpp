// An entry is one line of JSON, keys sorted, no white space. Every kind has
// format, kind, previous, seq; then its own fields under the names of the
// struct. Hashes are hexadecimal, binary32 values stand as their bits.
#include "workunits/ledger/ledger.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/json_fields.h"

namespace quorate {
namespace {

using nlohmann::json;

constexpr std::string_view kFormat = "quorate ledger v1";
// 60,000 shards in the first entry.
constexpr JsonLimits kLimits{4 << 20, 26};
constexpr std::size_t kMaxName = 256;
constexpr std::size_t kMaxSettings = 64 << 10;
constexpr std::size_t kMaxBasis = 32;

template <class... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};
template <class... Ts>
Overloaded(Ts...) -> Overloaded<Ts...>;

json to_json(const RunCreated& body) {
  json shards = json::array();
  for (const Hash& shard : body.shards) shards.push_back(shard.hex());
  return {{"run", body.run.hex()},
          {"name", body.name},
          {"model", json::parse(to_json(body.model))},
          {"dataset", body.dataset},
          {"shards", shards},
          {"seed", hex_of_seed(body.seed)},
          {"rule", body.rule},
          {"settings", body.settings},
          {"initial", body.initial.hex()}};
}

json to_json(const ResultAssimilated& body) {
  json coefficients = json::object();
  for (const auto& [name, value] : body.coefficients) {
    coefficients[name] = hex_of_float(value);
  }
  json line = {{"version_before", body.version_before},
               {"version_after", body.version_after},
               {"unit_index", body.unit_index},
               {"workunit", body.workunit.hex()},
               {"base_version", body.base_version},
               {"staleness", body.staleness},
               {"result", body.result},
               {"host", body.host.hex()},
               {"update", body.update.hex()},
               {"claim", body.claim.hex()},
               {"samples", body.samples},
               {"rule", body.rule},
               {"coefficients", coefficients}};
  if (!body.basis.empty()) line["basis"] = body.basis;
  if (body.read_version) line["read_version"] = *body.read_version;
  return line;
}

json to_json(const SnapshotPublished& body) {
  return {{"version", body.version},
          {"parameters", body.parameters.hex()},
          {"published", body.published.hex()},
          {"rule_state", body.rule_state.hex()}};
}

json to_json(const Revoked& body) {
  json line = {{"version_before", body.version_before},
               {"version_after", body.version_after},
               {"results", body.results},
               {"reason", body.reason},
               {"parameters", body.parameters.hex()}};
  if (body.host) line["host"] = body.host->hex();
  return line;
}

json to_json(const RunEnded& body) {
  return {{"state", body.state},
          {"version", body.version},
          {"parameters", body.parameters.hex()},
          {"published", body.published.hex()}};
}

json to_json(const PeerMixed& body) {
  return {{"version_before", body.version_before},
          {"version_after", body.version_after},
          {"peer", body.peer.hex()},
          {"peer_run", body.peer_run.hex()},
          {"peer_version", body.peer_version},
          {"parameters", body.parameters.hex()},
          {"offer", body.offer.hex()},
          {"weight", hex_of_float(body.weight)},
          {"one_minus_c", hex_of_float(body.one_minus_c)}};
}

std::string line_of(const LedgerEntry& entry) {
  json line =
      std::visit([](const auto& body) { return to_json(body); }, entry.body);
  line["format"] = kFormat;
  line["kind"] = kind_of(entry.body);
  line["seq"] = entry.seq;
  line["previous"] = entry.previous.hex();
  return dump_json(line);
}

RunCreated read_run(const JsonFields& fields) {
  RunCreated body;
  body.run = fields.fixed_bytes<RunId>("run");
  body.name = fields.text("name", kMaxName);
  body.model = model_from_json(dump_json(fields.at("model")));
  body.dataset = fields.text("dataset", kMaxName);
  for (const json& shard : fields.at("shards")) {
    body.shards.push_back(parse_hex<Hash>(
        shard.is_string() ? shard.get_ref<const std::string&>() : "",
        fields.label("shards")));
  }
  body.seed = fields.seed_of_hex("seed");
  body.rule = fields.text("rule", kMaxName);
  body.settings = fields.text("settings", kMaxSettings);
  body.initial = fields.fixed_bytes<Hash>("initial");
  return body;
}

Coefficients read_coefficients(const JsonFields& fields) {
  const json& object = fields.at("coefficients");
  std::string label = fields.label("coefficients");
  JsonFields checked(object, label);
  Coefficients coefficients;
  for (const auto& [name, value] : object.items()) {
    coefficients[name] = checked.float_of_hex(name.c_str());
  }
  return coefficients;
}

// Of a version before the newest, but not of one too far back.
std::uint64_t read_version(const JsonFields& fields,
                           const ResultAssimilated& body) {
  const std::uint64_t read = fields.integer("read_version");
  if (read < body.version_before &&
      body.version_before - read < kMaxAssimilators) {
    return read;
  }
  throw Error(
      ErrorKind::corrupt,
      fmt::format("{}: expected a version before {}, at most {} of them "
                  "before, found {}",
                  fields.label("read_version"), body.version_before,
                  kMaxAssimilators - 1, read));
}

ResultAssimilated read_result(const JsonFields& fields) {
  ResultAssimilated body;
  body.version_before = fields.integer("version_before");
  body.version_after = fields.integer("version_after");
  body.unit_index = fields.integer("unit_index");
  body.workunit = fields.fixed_bytes<Hash>("workunit");
  body.base_version = fields.integer("base_version");
  body.staleness = fields.integer("staleness");
  body.result = static_cast<ResultId>(fields.integer("result"));
  body.host = fields.fixed_bytes<PublicKey>("host");
  body.update = fields.fixed_bytes<Hash>("update");
  body.claim = fields.fixed_bytes<Hash>("claim");
  body.samples = fields.integer("samples");
  body.rule = fields.text("rule", kMaxName);
  body.coefficients = read_coefficients(fields);
  if (fields.has("basis")) body.basis = fields.text("basis", kMaxBasis);
  if (fields.has("read_version"))
    body.read_version = read_version(fields, body);
  return body;
}

SnapshotPublished read_snapshot(const JsonFields& fields) {
  SnapshotPublished body;
  body.version = fields.integer("version");
  body.parameters = fields.fixed_bytes<Hash>("parameters");
  body.published = fields.fixed_bytes<Hash>("published");
  body.rule_state = fields.fixed_bytes<Hash>("rule_state");
  return body;
}

// Ascending, so that a result cannot stand there twice.
std::vector<ResultId> read_results(const JsonFields& fields) {
  const json& array = fields.array("results");
  if (array.empty() || array.size() > kMaxRevoked) {
    throw Error(
        ErrorKind::corrupt,
        fmt::format("{}: expected 1 to {} results, found {}",
                    fields.label("results"), kMaxRevoked, array.size()));
  }
  std::vector<ResultId> results;
  for (const json& item : array) {
    const auto least =
        results.empty() ? 0 : static_cast<std::uint64_t>(results.back()) + 1;
    if (!item.is_number_unsigned() || item.get<std::uint64_t>() < least ||
        item.get<std::uint64_t>() > kMaxJsonInteger) {
      throw Error(ErrorKind::corrupt,
                  fmt::format("{}: expected ids in ascending order, found {}",
                              fields.label("results"), dump_json(item)));
    }
    results.push_back(item.get<ResultId>());
  }
  return results;
}

Revoked read_revocation(const JsonFields& fields) {
  Revoked body;
  body.version_before = fields.integer("version_before");
  body.version_after = fields.integer("version_after");
  body.results = read_results(fields);
  if (fields.has("host")) body.host = fields.fixed_bytes<PublicKey>("host");
  body.reason = fields.text("reason", kMaxRevokedReason);
  body.parameters = fields.fixed_bytes<Hash>("parameters");
  return body;
}

RunEnded read_end(const JsonFields& fields) {
  RunEnded body;
  body.state = fields.text("state", 32);
  body.version = fields.integer("version");
  body.parameters = fields.fixed_bytes<Hash>("parameters");
  body.published = fields.fixed_bytes<Hash>("published");
  return body;
}

// NaN is in no interval.
float read_share(const JsonFields& fields, const char* name) {
  const float value = fields.float_of_hex(name);
  if (value >= 0.0F && value <= 1.0F) return value;
  throw Error(ErrorKind::corrupt, fmt::format("{}: expected 0 to 1, found {}",
                                              fields.label(name), value));
}

PeerMixed read_peer(const JsonFields& fields) {
  PeerMixed body;
  body.version_before = fields.integer("version_before");
  body.version_after = fields.integer("version_after");
  body.peer = fields.fixed_bytes<PublicKey>("peer");
  body.peer_run = fields.fixed_bytes<RunId>("peer_run");
  body.peer_version = fields.integer("peer_version");
  body.parameters = fields.fixed_bytes<Hash>("parameters");
  body.offer = fields.fixed_bytes<Hash>("offer");
  body.weight = fields.float_of_hex("weight");
  if (!is_mixing_weight(body.weight)) {
    throw Error(ErrorKind::corrupt,
                fmt::format("{}: expected a number over 0 and below 1, found "
                            "{}",
                            fields.label("weight"), body.weight));
  }
  body.one_minus_c = read_share(fields, "one_minus_c");
  return body;
}

LedgerBody read_body(const JsonFields& fields) {
  std::string kind = fields.text("kind", 32);
  if (kind == "run") return read_run(fields);
  if (kind == "result") return read_result(fields);
  if (kind == "snapshot") return read_snapshot(fields);
  if (kind == "revocation") return read_revocation(fields);
  if (kind == "end") return read_end(fields);
  if (kind == "peer") return read_peer(fields);
  throw Error(ErrorKind::corrupt, fmt::format("{}: unknown kind \"{}\"",
                                              fields.label("kind"), kind));
}

[[noreturn]] void reject(std::uint64_t seq, const std::string& why) {
  throw Error(ErrorKind::corrupt, fmt::format("ledger entry {}: {}", seq, why));
}

}  // namespace

std::string_view kind_of(const LedgerBody& body) {
  return std::visit(
      Overloaded{[](const RunCreated&) { return "run"; },
                 [](const ResultAssimilated&) { return "result"; },
                 [](const SnapshotPublished&) { return "snapshot"; },
                 [](const Revoked&) { return "revocation"; },
                 [](const RunEnded&) { return "end"; },
                 [](const PeerMixed&) { return "peer"; }},
      body);
}

bool is_mixing_weight(float weight) {
  return weight > 0.0F && weight < 1.0F;
}

LedgerRecord make_record(const LedgerEntry& entry, const ProjectId& project,
                         const PrivateKey& key) {
  LedgerRecord record;
  record.seq = entry.seq;
  record.kind = kind_of(entry.body);
  record.line = line_of(entry);
  record.hash = sha256(as_bytes(record.line));
  record.signature =
      sign_detached(record.hash.view(), SealKind::ledger_entry, project, key);
  return record;
}

LedgerEntry parse_entry(std::string_view line) {
  json parsed = parse_json(line, kLimits, "ledger entry");
  JsonFields any(parsed, "ledger entry");
  LedgerEntry entry;
  entry.seq = any.integer("seq");
  JsonFields fields(parsed, fmt::format("ledger entry {}", entry.seq));
  if (fields.text("format", 64) != kFormat) {
    reject(entry.seq, fmt::format("expected format \"{}\"", kFormat));
  }
  entry.previous = fields.fixed_bytes<Hash>("previous");
  entry.body = read_body(fields);
  if (line_of(entry) != line) {
    reject(entry.seq, "is not written as we write entries");
  }
  return entry;
}

}  // namespace quorate
