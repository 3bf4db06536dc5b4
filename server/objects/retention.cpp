#include "server/objects/retention.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

namespace quorate {
namespace {

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
  return {class_of(name.kind), name.run, is_needed(name, run), name.host};
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
  // The time of an update was over when its run gave it up.
  if (use.what != ObjectClass::payload) return kInUse;
  if (settings.keep_payloads_days == 0) return std::nullopt;
  return std::max(kInUse, Seconds(kDay * settings.keep_payloads_days));
}

std::uint64_t evidence_quota(const ServerSettings& settings,
                             std::uint64_t evidence, std::uint64_t free) {
  constexpr std::uint64_t kMiB = 1 << 20;
  // Hosts that are not proven are refused at twice the reserve.
  const std::uint64_t wanted = 3 * kMiB * settings.disk_reserve_mb;
  const std::uint64_t missing = wanted - std::min(wanted, free);
  const std::uint64_t most = kMiB * settings.max_payloads_mb;
  const std::uint64_t fits = evidence - std::min(evidence, missing);
  return most == 0 ? fits : std::min(most, fits);
}

std::vector<std::size_t> beyond_quota(const std::vector<Evidence>& all,
                                      std::uint64_t quota) {
  std::vector<std::size_t> order(all.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return all[a].used > all[b].used;
  });
  // Of each: how much its account, or its block, has that is as new or newer.
  std::vector<std::uint64_t> newer(all.size());
  std::map<UserId, std::uint64_t> of_users;
  std::map<std::string_view, std::uint64_t> of_blocks;
  std::uint64_t total = 0;
  for (std::size_t i : order) {
    const Evidence& one = all[i];
    total += one.bytes;
    newer[i] = of_users[one.user] += one.bytes;
    if (one.block.empty()) continue;
    newer[i] = std::max(newer[i], of_blocks[one.block] += one.bytes);
  }
  std::stable_sort(
      order.begin(), order.end(),
      [&](std::size_t a, std::size_t b) { return newer[a] > newer[b]; });
  std::size_t count = 0;
  for (; count < order.size() && total > quota; ++count) {
    total -= all[order[count]].bytes;
  }
  order.resize(count);
  return order;
}

}  // namespace quorate
