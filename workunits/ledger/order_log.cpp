// One line of JSON, keys sorted, no white space: what is read is written anew
// and compared, as of ledger entries.
#include "workunits/ledger/order_log.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/json_fields.h"

namespace quorate {
namespace {

using nlohmann::json;

constexpr std::string_view kFormat = "quorate order v1";
constexpr JsonLimits kLimits{64 << 10, 3};

std::string line_of(const OrderEntry& entry) {
  return dump_json({{"format", kFormat},
                    {"seq", entry.seq},
                    {"previous", entry.previous.hex()},
                    {"time", entry.time},
                    {"who", entry.who},
                    {"command", entry.command},
                    {"arguments", entry.arguments},
                    {"why", entry.why},
                    {"outcome", entry.outcome}});
}

[[noreturn]] void reject_order(std::uint64_t seq, const std::string& why) {
  throw Error(ErrorKind::corrupt, fmt::format("order {}: {}", seq, why));
}

}  // namespace

OrderRecord make_order_record(const OrderEntry& entry, const ProjectId& project,
                              const PrivateKey& key) {
  OrderRecord record;
  record.seq = entry.seq;
  record.line = line_of(entry);
  record.hash = sha256(as_bytes(record.line));
  record.signature =
      sign_detached(record.hash.view(), SealKind::order, project, key);
  return record;
}

OrderEntry parse_order(std::string_view line) {
  const json parsed = parse_json(line, kLimits, "order");
  const JsonFields any(parsed, "order");
  OrderEntry entry;
  entry.seq = any.integer("seq", 1);
  const JsonFields fields(parsed, fmt::format("order {}", entry.seq));
  if (fields.text("format", 64) != kFormat) {
    reject_order(entry.seq, fmt::format("expected format \"{}\"", kFormat));
  }
  entry.previous = fields.fixed_bytes<Hash>("previous");
  entry.time = static_cast<Millis>(fields.integer("time"));
  entry.who = fields.text("who", kMostOrderWho);
  entry.command = fields.text("command", kMostOrderWho);
  entry.arguments = fields.text("arguments", kMostOrderText);
  entry.why = fields.text("why", kMostOrderText);
  entry.outcome = fields.text("outcome", kMostOrderText);
  if (line_of(entry) != line) {
    reject_order(entry.seq, "is not written as we write orders");
  }
  return entry;
}

OrderEntry OrderChain::next(const OrderRecord& record) {
  const std::uint64_t seq = count_ + 1;
  if (record.seq != seq) {
    reject_order(seq, fmt::format("it is missing: order {} is next in the "
                                  "store, so it was removed",
                                  record.seq));
  }
  if (sha256(as_bytes(record.line)) != record.hash) {
    reject_order(seq, "its text was changed: the hash is of another");
  }
  if (signer_of(record.hash.view(), SealKind::order, keys_, record.signature) ==
      nullptr) {
    reject_order(seq, "it is not signed by this project");
  }
  OrderEntry entry = parse_order(record.line);
  if (entry.seq != seq) {
    reject_order(seq, fmt::format("it says that it is order {}", entry.seq));
  }
  if (entry.previous != head_) {
    reject_order(seq, "the order before it is not the one that it names");
  }
  count_ = seq;
  head_ = record.hash;
  return entry;
}

void OrderChain::expect_all(std::uint64_t made) const {
  if (count_ == made) return;
  reject_order(count_ + 1, fmt::format("it is missing: {} were made, and the "
                                       "last of them were removed",
                                       made));
}

}  // namespace quorate
