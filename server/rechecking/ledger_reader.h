// A run's ledger for a thread other than the writer's: read in pages, on the
// writer's thread, and with each page the sealed tasks that it names.
#pragma once

#include <map>
#include <vector>

#include "server/state/project_state.h"
#include "server/writer/writer.h"
#include "validator/ledger_walk.h"

namespace quorate {

class LedgerReader {
 public:
  LedgerReader(ProjectState& state, Writer& writer, RunKey run)
      : state_(state), writer_(writer), run_(run) {}

  // Refers to this.
  LedgerSources sources();
  // Of an entry that was read lately. Throws corrupt if it is missing.
  const Bytes& task(const Hash& workunit) const;

 private:
  // Waits for the writer. A page holds some hundred entries with their tasks.
  void load(std::uint64_t seq);

  ProjectState& state_;
  Writer& writer_;
  RunKey run_;
  std::uint64_t first_ = 0;
  std::vector<LedgerRecord> page_;
  std::map<Hash, Bytes> tasks_;
};

}  // namespace quorate
