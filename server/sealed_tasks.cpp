#include "server/sealed_tasks.h"

#include <fmt/format.h>

#include "base/error.h"
#include "workunits/sealed.h"

namespace quorate {

Bytes sealed_task_of(Store& store, const Hash& object) {
  if (std::optional<Bytes> sealed = store.sealed_task(object)) {
    return std::move(*sealed);
  }
  throw Error(ErrorKind::corrupt,
              fmt::format("workunit {}: the store lacks its sealed task: "
                          "restore a backup of the project",
                          object.hex()));
}

TrainingTask task_in(ByteView sealed) {
  if (sealed.size() < kSealBytes) {
    throw Error(ErrorKind::corrupt,
                fmt::format("a sealed task in the store: expected more than {} "
                            "bytes, found {}",
                            kSealBytes, sealed.size()));
  }
  return decode_task(sealed.first(sealed.size() - kSealBytes));
}

}  // namespace quorate
