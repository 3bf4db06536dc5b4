// What operators ordered: one entry for each order that changed something,
// hash-chained as the ledger is, so that an entry that was changed or taken out
// shows. It stays with the project: no volunteer is sent it.
// An entry is one line of JSON; its hash covers the line, and the line names
// the hash before it. Each hash is signed by the project.
// Grammar: docs/formats.md, "Order log".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/crypto.h"
#include "workunits/host.h"
#include "workunits/keyring.h"

namespace quorate {

struct OrderEntry {
  std::uint64_t seq = 1;  // counts up from 1
  Hash previous;          // zero for the first
  Millis time = 0;
  std::string who;        // the Unix user
  std::string command;    // "train-stop"
  std::string arguments;  // a JSON object
  std::string why;        // in the operator's words; may be empty
  std::string outcome;    // in words
};
// The most bytes of each text. Whoever makes an entry shortens it.
inline constexpr std::size_t kMostOrderWho = 256;
inline constexpr std::size_t kMostOrderText = 4096;

// An entry as stored: its line (without newline), hash and signature.
struct OrderRecord {
  std::uint64_t seq = 0;
  std::string line;
  Hash hash;
  Signature signature;
};

OrderRecord make_order_record(const OrderEntry& entry, const ProjectId& project,
                              const PrivateKey& key);
// Throws corrupt, naming the entry, if the line is not one that
// make_order_record writes.
OrderEntry parse_order(std::string_view line);

// Checks a log, record by record from the first.
class OrderChain {
 public:
  explicit OrderChain(Keyring keys) : keys_(std::move(keys)) {}

  // Throws corrupt, saying what is wrong, unless it follows the one before and
  // the project signed it. Returns what it says.
  OrderEntry next(const OrderRecord& record);
  // Throws corrupt if others were made after the last: those were removed.
  void expect_all(std::uint64_t made) const;

  std::uint64_t count() const { return count_; }
  const Hash& head() const { return head_; }

 private:
  Keyring keys_;
  std::uint64_t count_ = 0;
  Hash head_;  // of the last; zero before the first
};

}  // namespace quorate
