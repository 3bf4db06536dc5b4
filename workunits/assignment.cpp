#include "workunits/assignment.h"

#include "base/error.h"

namespace quorate {

std::string_view name_of(ObjectKind kind) {
  switch (kind) {
    case ObjectKind::workunit:
      return "workunit";
    case ObjectKind::snapshot:
      return "snapshot";
    case ObjectKind::shard:
      return "shard";
    case ObjectKind::update:
      return "update";
    case ObjectKind::program:
      return "program";
  }
  check(false, "an object kind without a name");
  return {};
}

}  // namespace quorate
