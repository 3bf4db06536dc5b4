#include "server/simulator/machine.h"

#include <algorithm>

namespace quorate {
namespace {

constexpr double kBytesPerMegabit = 125'000;

}  // namespace

Machine::Machine(const HostClass& of_kind, std::uint64_t seed,
                 std::uint32_t number)
    : kind(&of_kind),
      draws(seed, number),
      speed_flops(draws.of(of_kind.speed_flops)),
      down_rate(kBytesPerMegabit * draws.of(of_kind.down_mbps)),
      up_rate(kBytesPerMegabit * draws.of(of_kind.up_mbps)) {}

MachineTask* Machine::find(ResultId result) {
  auto found = std::find_if(
      tasks.begin(), tasks.end(),
      [&](const MachineTask& task) { return task.result == result; });
  return found == tasks.end() ? nullptr : &*found;
}

std::size_t Machine::computing() const {
  return static_cast<std::size_t>(
      std::count_if(tasks.begin(), tasks.end(), [](const MachineTask& task) {
        return task.phase == MachineTask::Phase::computing;
      }));
}

std::uint32_t Machine::wanted() const {
  const std::size_t workers = kind->workers;
  const auto has = static_cast<std::size_t>(
      std::count_if(tasks.begin(), tasks.end(), [](const MachineTask& task) {
        return task.phase != MachineTask::Phase::uploading;
      }));
  const std::size_t most =
      has < workers ? workers : workers * (1 + kind->queue);
  return has >= most ? 0 : static_cast<std::uint32_t>(most - has);
}

bool Machine::has_shard(const Hash& shard) const {
  return std::find(shards.begin(), shards.end(), shard) != shards.end();
}

bool Machine::has_snapshot(const Hash& snapshot) const {
  return std::find(snapshots.begin(), snapshots.end(), snapshot) !=
         snapshots.end();
}

void Machine::is_heard(Seconds now) {
  for (MachineTask& task : tasks) {
    task.missed = std::min(now + task.lease, task.given + task.deadline);
  }
}

Seconds Machine::missed(Seconds now) const {
  Seconds last = now;
  for (const MachineTask& task : tasks) last = std::max(last, task.missed);
  return last;
}

}  // namespace quorate
