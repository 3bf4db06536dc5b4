// What the reviser does next. Pure.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "workunits/workunit.h"

namespace quorate {

enum class RevisionKind { recheck, revoke };

struct RevisionStep {
  RunKey run = 0;
  RevisionKind kind = RevisionKind::recheck;

  auto operator<=>(const RevisionStep&) const = default;
};

// Of the steps that wait, the one whose turn it is after `last`: all in a
// circle, so that nobody who makes work of one kind, and none that fails, keeps
// the others from being done. nullopt: nothing waits.
std::optional<RevisionStep> next_step(std::span<const RevisionStep> waiting,
                                      std::optional<RevisionStep> last);

// A result that is in the model and has to go.
struct Doomed {
  WorkunitId unit = 0;
  ResultId result = 0;
  HostId host = 0;
  PublicKey key;  // that signed it
  std::string reason;
};

// Those that one entry of the ledger revokes: whosesoever they are, for the
// first's reason, in the same order, `most` at the most. All at once, because
// each entry costs a rebuilding of the model, and each replay one more.
std::vector<Doomed> revoked_together(std::span<const Doomed> waiting,
                                     std::size_t most);

// A model is rebuilt in stretches: each takes in what the ledger got while the
// one before was made, and the run goes on meanwhile, but for the last.
struct Stretches {
  std::uint64_t done = 0;  // entries of the ledger
  unsigned made = 0;
};

// Whether the next stretch is the last, so that the run waits for it: little is
// left to take in, or the run goes on as fast as it is followed.
bool is_last_stretch(const Stretches& stretches, std::uint64_t ledger_entries);

}  // namespace quorate
