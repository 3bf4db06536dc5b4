#include "server/objects/retention.h"

#include <algorithm>
#include <tuple>

namespace quorate {
namespace {

// Longer than anything takes from the use of an object to the commit that names
// it.
constexpr Seconds kInUse{3600};
constexpr double kDay = 86'400;

ObjectClass class_of(NameKind kind) {
  switch (kind) {
    case NameKind::payload:
      return ObjectClass::payload;
    case NameKind::update:
      return ObjectClass::update;
    case NameKind::task:
      return ObjectClass::task;
    case NameKind::shard:
      return ObjectClass::shard;
    case NameKind::snapshot:
      return ObjectClass::snapshot;
  }
  return ObjectClass::unnamed;
}

// What can be computed again may go; of a revoked update only the bytes are
// left, for its unit gives others.
bool is_needed(const ObjectName& name, const Run& run) {
  if (name.is_live) return true;
  if (name.kind == NameKind::payload) return false;
  if (name.kind != NameKind::update) return true;
  return name.is_revoked || run.updates_removed == 0;
}

}  // namespace

std::string_view name_of(ObjectClass what) {
  switch (what) {
    case ObjectClass::unnamed:
      return "unnamed";
    case ObjectClass::payload:
      return "payloads";
    case ObjectClass::update:
      return "updates";
    case ObjectClass::task:
      return "task files";
    case ObjectClass::shard:
      return "shards";
    case ObjectClass::snapshot:
      return "snapshots";
  }
  return "";
}

ObjectUse use_of(const ObjectName& name, const Run& run) {
  return {class_of(name.kind), name.run, is_needed(name, run)};
}

ObjectUse stronger(const ObjectUse& one, const ObjectUse& other) {
  auto rank = [](const ObjectUse& use) {
    return std::tuple(use.is_needed, use.what, -use.run);
  };
  return rank(one) < rank(other) ? other : one;
}

bool gives_up_updates(const Run& run, const ServerSettings& settings,
                      Millis now) {
  const bool has_ended =
      run.state == RunState::finished || run.state == RunState::stopped;
  if (!has_ended || run.updates_removed != 0) return false;
  const double days = settings.keep_updates_days;
  return days > 0 && static_cast<double>(now - run.ended) >= 1000 * kDay * days;
}

std::optional<Seconds> time_kept(const ObjectUse& use,
                                 const ServerSettings& settings) {
  if (use.is_needed) return std::nullopt;
  // Its time was over when its run gave it up.
  if (use.what == ObjectClass::update) return kInUse;
  if (settings.keep_payloads_days == 0) return std::nullopt;
  return std::max(kInUse, Seconds(kDay * settings.keep_payloads_days));
}

}  // namespace quorate
