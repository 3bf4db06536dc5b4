#include "server/units/sealed_tasks.h"

#include <fmt/format.h>

#include "base/error.h"
#include "workunits/sealed.h"

namespace quorate {

Bytes sealed_task_of(Store& store, const ObjectReader& objects,
                     const Hash& object) {
  std::optional<Bytes> sealed = store.sealed_task(object);
  if (!sealed) return objects.read(object);
  if (sha256(*sealed) == object) return std::move(*sealed);
  throw Error(ErrorKind::corrupt,
              fmt::format("workunit {}: its task changed on disk, in the "
                          "project's store: restore a backup",
                          object.hex()));
}

TrainingTask task_of(Store& store, const ObjectReader& objects,
                     const Hash& object) {
  return task_in(sealed_task_of(store, objects, object), object);
}

TrainingTask task_in(ByteView sealed, const Hash& object) {
  if (sealed.size() < kSealBytes) {
    throw Error(ErrorKind::corrupt,
                fmt::format("workunit {}: its {} bytes are not a sealed task",
                            object.hex(), sealed.size()));
  }
  return decode_task(sealed.first(sealed.size() - kSealBytes));
}

}  // namespace quorate
