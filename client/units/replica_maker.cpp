#include "client/units/replica_maker.h"

#include <algorithm>
#include <new>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "base/log.h"
#include "client/exchange/object_transfer.h"
#include "client/units/assigned_unit.h"
#include "workunits/objects/replica_exchange.h"
#include "workunits/objects/safetensors.h"
#include "workunits/objects/update.h"

namespace quorate::client {
namespace {

// What the next snapshot is made of.
struct Parts {
  ObjectRef from;
  ObjectRef update;
  ObjectRef met;
};

bool has_mates(const Mates& mates) {
  const std::vector<MateStatus> all = mates.status();
  return std::any_of(all.begin(), all.end(),
                     [](const MateStatus& mate) { return mate.state == "ok"; });
}

// The mate whose replica it is may just be making it.
bool fetch(Mates& mates, const ObjectRef& object, const fs::path& part,
           const Waiting& waiting) {
  Seconds pause{0.05};
  for (Seconds waited{0};; waited += pause, pause *= 2) {
    if (mates.fetch(object.hash, object.size, part, waiting.stop)) return true;
    if (waited >= waiting.patience || waiting.stop.stop_requested() ||
        !has_mates(mates)) {
      return false;
    }
    std::this_thread::sleep_for(pause);
  }
}

bool has_or_fetches(Mates& mates, const ObjectCache& cache,
                    const ObjectRef& object, const Waiting& waiting) {
  if (!cache.contains(object)) {
    expect_room(object, cache.part(object));
    if (!fetch(mates, object, cache.part(object), waiting)) return false;
    cache.adopt(object);
  }
  cache.touch(object);
  return true;
}

std::vector<float> parameters_of(const ObjectCache& cache,
                                 const ModelSpec& model,
                                 const ObjectRef& snapshot) {
  return read_parameters(model, MappedFile(cache.path(snapshot)).bytes(),
                         "snapshot " + snapshot.hash.hex());
}

void make(const ObjectCache& cache, const Parts& parts, const ObjectRef& wanted,
          const TrainingTask& work) {
  std::vector<float> replica = parameters_of(cache, work.model, parts.from);
  exchange_replica(
      replica,
      decode_update(work, MappedFile(cache.path(parts.update)).bytes(),
                    "update " + parts.update.hash.hex()),
      parameters_of(cache, work.model, parts.met));
  const ByteParts made = parameter_parts(work.model, replica);
  if (const Hash found = made.hash(); found != wanted.hash) {
    throw Error(
        ErrorKind::corrupt,
        fmt::format("snapshot {}: the replica made here has the hash {}",
                    wanted.hash.hex(), found.hex()));
  }
  cache.put(wanted, made);
}

}  // namespace

void make_replica(Mates& mates, const ObjectCache& cache,
                  const Assignment& assignment, const TrainingTask& work,
                  const Waiting& waiting) {
  const ObjectRef& wanted = object_of(assignment, ObjectKind::snapshot);
  const auto& exchange = assignment.exchange;
  if (!exchange || cache.contains(wanted)) return;
  const Parts parts{{ObjectKind::snapshot, exchange->from, wanted.size},
                    {ObjectKind::update, exchange->update, update_bytes(work)},
                    {ObjectKind::snapshot, exchange->met, wanted.size}};
  if (!cache.contains(parts.from) || !cache.contains(parts.update)) return;
  try {
    if (!has_or_fetches(mates, cache, parts.met, waiting)) return;
    expect_room(wanted, cache.part(wanted));
    make(cache, parts, wanted, work);
    log_debug("replica_made", {{"snapshot", wanted.hash.hex()}});
  } catch (const Error& error) {
    log_warning("replica_not_made", {{"why", error.what()}});
  } catch (const std::bad_alloc&) {
    log_warning("replica_not_made", {{"why", "too little memory"}});
  }
}

}  // namespace quorate::client
