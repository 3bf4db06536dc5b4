#include "workunits/ledger/ledger_file.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "base/json_fields.h"

namespace quorate {
namespace {

using nlohmann::json;

constexpr std::string_view kFormat = "quorate ledger file v1";
// A record's line of 4 MiB, whose quotes are escaped here.
constexpr JsonLimits kLimits{9 << 20, 2};
constexpr std::size_t kMaxLine = 4 << 20;

}  // namespace

std::string write_ledger_head(const Keyring& keys) {
  json head{{"format", kFormat},
            {"project", keys.project.hex()},
            {"key", keys.current().key.hex()}};
  if (keys.number != 0) head["keyring"] = to_hex(keys.sealed);
  return dump_json(head);
}

std::string write_ledger_line(const LedgerRecord& record) {
  return dump_json({{"seq", record.seq},
                    {"kind", record.kind},
                    {"line", record.line},
                    {"hash", record.hash.hex()},
                    {"signature", record.signature.hex()}});
}

LedgerFile::LedgerFile(std::string_view text, std::string what)
    : what_(std::move(what)), rest_(text) {
  const std::string place = what_ + " line 1";
  const json parsed = parse_json(take_line(), kLimits, place);
  const JsonFields fields(parsed, place);
  if (fields.text("format", 64) != kFormat) {
    throw Error(ErrorKind::corrupt,
                fmt::format("{}: expected format \"{}\"", place, kFormat));
  }
  keys_ = read_keys(fields, fields.label("key"));
  if (keys_.project != fields.fixed_bytes<ProjectId>("project")) {
    throw Error(ErrorKind::corrupt,
                fmt::format("{}: its key is not that of its project", place));
  }
}

std::optional<LedgerRecord> LedgerFile::next() {
  if (rest_.empty()) return std::nullopt;
  const std::string_view line = take_line();
  const std::string place = fmt::format("{} line {}", what_, line_);
  const json parsed = parse_json(line, kLimits, place);
  const JsonFields fields(parsed, place);
  LedgerRecord record;
  record.seq = fields.integer("seq");
  record.kind = fields.text("kind", 32);
  record.line = fields.text("line", kMaxLine);
  record.hash = fields.fixed_bytes<Hash>("hash");
  record.signature = fields.fixed_bytes<Signature>("signature");
  return record;
}

std::string_view LedgerFile::take_line() {
  ++line_;
  const std::size_t end = std::min(rest_.find('\n'), rest_.size());
  const std::string_view line = rest_.substr(0, end);
  rest_.remove_prefix(std::min(end + 1, rest_.size()));
  return line;
}

}  // namespace quorate
