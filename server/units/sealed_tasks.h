// The sealed tasks of workunits as the server itself reads them: it made them,
// so their seals are not checked again.
#pragma once

#include "server/store/store.h"
#include "workunits/objects/object_store.h"
#include "workunits/task.h"

namespace quorate {

// Of the workunit with this object: from the store or, where an earlier version
// made it, from the objects. Throws corrupt if it is missing or has changed.
Bytes sealed_task_of(Store& store, const ObjectReader& objects,
                     const Hash& object);
// What is in it.
TrainingTask task_of(Store& store, const ObjectReader& objects,
                     const Hash& object);
TrainingTask task_in(ByteView sealed, const Hash& object);

}  // namespace quorate
