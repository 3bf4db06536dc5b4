#include "server/settings/notary.h"

#include "workunits/sealed.h"

namespace quorate {

Bytes ProjectNotary::sealed(const TrainingTask& task) const {
  return seal(encode(task), SealKind::workunit, keys_.id, keys_.project);
}

LedgerRecord ProjectNotary::record(const LedgerEntry& entry) const {
  return make_record(entry, keys_.id, keys_.project);
}

}  // namespace quorate
