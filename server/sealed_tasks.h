// The sealed tasks of workunits as the server itself reads them: it made them,
// so their seals are not checked again.
#pragma once

#include "server/store/store.h"
#include "workunits/task.h"

namespace quorate {

// Of the workunit with this object. Throws corrupt if the store has none.
Bytes sealed_task_of(Store& store, const Hash& object);

// Throws corrupt if the bytes are no sealed task.
TrainingTask task_in(ByteView sealed);

}  // namespace quorate
