// How far an audit is, kept in a file so that it can go on after an
// interruption.
//
// Written durably every second or so and at the end, so what was computed since
// is computed again. Trusted as little as other files: what does not fit the
// ledger is refused.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/crypto.h"
#include "workunits/workunit.h"

namespace quorate {

// entry: its number in the ledger; unit: the unit's index in the run.
struct FalseResult {
  std::uint64_t entry = 0;
  ResultId result = 0;
  std::uint64_t unit = 0;
  PublicKey host;
  std::uint32_t first_step = 0;  // the claim left the path in one of these
  std::uint32_t last_step = 0;

  bool operator==(const FalseResult&) const = default;
};

struct AuditState {
  std::uint64_t seed = 0;     // of the draw
  std::uint64_t entries = 0;  // of the ledger that are done
  Hash last;                  // hash of the last of them
  std::uint64_t recomputed = 0;
  std::vector<FalseResult> found = {};

  bool operator==(const AuditState&) const = default;
};

// Whether the result of this entry is drawn; share: from 0 to 1. Pure: the same
// seed draws the same, so an audit can be repeated; a host that does not know
// the seed cannot foresee it.
bool is_drawn(std::uint64_t seed, std::uint64_t entry, double share);

// JSON; parse_audit_state() gives the same back.
std::string write_audit_state(const AuditState& state);
// Throws corrupt, naming the field.
AuditState parse_audit_state(std::string_view text);

}  // namespace quorate
