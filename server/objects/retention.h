// What is kept for how long: decided here, without store, clock or disk.
// server/objects/file_deleter carries it out; docs/operator.md has the table.
//
// The room server/objects deals with the files of objects: uploads on their way
// in, caches of what was read, what is needed, what is removed. It owns
// uploads/ and the removing of objects/, a sweeping thread, and no model or
// unit. It may include server/state and all before it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "server/settings/settings.h"
#include "server/store/names.h"

namespace quorate {

// What an object is to the project.
enum class ObjectClass {
  unnamed,   // nothing names it: a base that the last server left, a data set
             // that was not added to its end
  payload,   // of a result that is in no ledger: rejected, late, not needed
  update,    // recorded in a ledger
  task,      // sealed, made by an earlier version
  shard,     // of a data set
  snapshot,  // in a ledger, or base of a unit that may need it
};
std::string_view name_of(ObjectClass what);  // in the plural, for tables

struct ObjectUse {
  ObjectClass what = ObjectClass::unnamed;
  RunKey run = 0;
  bool is_needed = false;
  HostId host = 0;  // of a payload: who sent it
};

// run: of the name.
ObjectUse use_of(const ObjectName& name, const Run& run);
// Of an object that has both uses: the same bytes may be a rejected result's
// payload and another's recorded update.
ObjectUse stronger(const ObjectUse& one, const ObjectUse& other);

// Whether the recorded updates of a run are to be given up now. Not of one that
// goes on: whoever proves false there, its model is rebuilt from all of them.
bool gives_up_updates(const Run& run, const ServerSettings& settings,
                      Millis now);

// How long an object stays after it was last put, adopted or renewed; nullopt:
// at least until somebody asks again.
std::optional<Seconds> time_kept(const ObjectUse& use,
                                 const ServerSettings& settings);
// The least of that: longer than anything takes from the use of an object to
// the commit that names it.
inline constexpr Seconds kInUse{3600};

// A payload that nothing needs and that is kept as evidence.
struct Evidence {
  std::uint64_t bytes = 0;
  fs::file_time_type used;
  UserId user = 0;    // whose host sent it
  std::string block;  // of addresses that it asks from; empty: unknown
};
// How many bytes of evidence may stay on a disk that has `free` bytes left: it
// gives way before uploads are refused.
std::uint64_t evidence_quota(const ServerSettings& settings,
                             std::uint64_t evidence, std::uint64_t free);
// Which of them have to go (as indices) so that at most `quota` bytes stay: of
// the account or block of addresses that has most, the oldest first. So nobody
// pushes out the evidence of what others did.
std::vector<std::size_t> beyond_quota(const std::vector<Evidence>& all,
                                      std::uint64_t quota);

}  // namespace quorate
