// The model as it would be without some results: what a revocation makes of a
// run. It takes long, and the run may go on meanwhile: what its ledger got
// since is added by going on, as often as the caller likes.
#pragma once

#include <cstdint>
#include <set>
#include <span>

#include "validator/ledger_walk.h"
#include "validator/replay.h"
#include "validator/timeline.h"

namespace quorate {

class Rebuild {
 public:
  // Without `revoked` and whatever the entries revoke. sources: must outlive
  // this. options: of its fields, those about memory.
  Rebuild(const LedgerSources& sources, std::set<ResultId> revoked,
          const ReplayOptions& options);

  // Applies the entries up to `entries`, from the initial parameters, or from
  // where it ended last. Units count as based on the rebuilt versions by
  // number. A revocation on the way repeats the version before it. to_come:
  // what later entries may have as base and is a version by now. One that is
  // not named, and is used after all, is corrupt then. Throws corrupt for what
  // does not fit, naming the entry; also what sources.progress throws, which
  // may so end it. Neither can be gone on with.
  void go_on(std::uint64_t entries, const LastUses& to_come = {});

  // At the version of the last entry. Throws corrupt if a result to be revoked
  // is not in the model, so that no such entry is written.
  ModelState take_model();

 private:
  bool is_left_out(const ResultAssimilated& entry);

  std::set<ResultId> revoked_;
  std::set<ResultId> missing_;          // of these, not met so far
  std::set<ResultId> revoked_earlier_;  // by entries
  LedgerWalk survey_;
  LedgerWalk walk_;
  Timeline timeline_;
};

}  // namespace quorate
