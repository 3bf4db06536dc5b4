#include "client/permission/governor.h"

#include <algorithm>

#include <unistd.h>

#include "base/error.h"
#include "base/log.h"
#include "client/machine/host_info.h"

namespace quorate::client {
namespace {

constexpr Seconds kReadEvery{1};

}  // namespace

Orders orders_of(const Prefs& prefs, const RunSettings& settings) {
  RunSettings merged = settings;
  if (merged.cpu_percent == 0) merged.cpu_percent = prefs.cpu_percent;
  if (merged.gpu_percent == 0) merged.gpu_percent = prefs.gpu_percent;
  Orders orders;
  orders.threads = threads_of_a_task(merged, prefs.cores);
  orders.cpu_percent = merged.cpu_percent;
  orders.gpu_percent = merged.gpu_percent;
  std::uint32_t memory_mb =
      prefs.memory_mb != 0 ? prefs.memory_mb : machine_memory_mb() / 2;
  auto workers = static_cast<std::uint32_t>(workers_of(settings).size());
  orders.memory_mb = memory_mb / std::max(1U, workers);
  orders.requires_sandbox = prefs.require_sandbox;
  orders.cache_bytes = std::uint64_t{prefs.cache_mb} << 20;
  orders.disk_bytes = std::uint64_t{prefs.disk_mb} << 20;
  orders.longest_unit = Seconds(3600.0 * prefs.unit_hours);
  return orders;
}

Governor::Governor(const DataFolder& folder, const RunSettings& settings,
                   Machine machine, const Clock& clock, Network& network)
    : folder_(folder),
      settings_(settings),
      machine_(std::move(machine)),
      clock_(clock),
      network_(network) {
  load_prefs(folder_.prefs_file());  // for what it throws
}

Orders Governor::orders(const std::vector<int>& workers) {
  Instant now = clock_.now();
  if (now >= read_at_) {
    read_at_ = now + kReadEvery;
    read_prefs();
  }
  if (now >= look_at_) {
    look_at_ = now + LoadMeter::kSample;
    look(workers);
  }
  std::int64_t wall = clock_.unix_ms();
  conditions_.pause = folder_.pause(wall);
  conditions_.since_last = now - since_;
  Orders orders = orders_of(prefs_, settings_);
  orders.permission = may_compute(prefs_, conditions_, wall);
  orders.trouble = trouble_;
  if (orders.permission.rest != conditions_.last) since_ = now;
  conditions_.last = orders.permission.rest;
  return orders;
}

// A file that somebody is about to correct changes nothing meanwhile.
void Governor::read_prefs() {
  try {
    prefs_ = load_prefs(folder_.prefs_file());
    trouble_.clear();
  } catch (const Error& e) {
    if (trouble_.empty()) log_warning("prefs_unreadable", {{"why", e.what()}});
    trouble_ = e.what();
  }
  network_.down_limit = std::uint64_t{prefs_.down_kbps} * 1000;
  network_.up_limit = std::uint64_t{prefs_.up_kbps} * 1000;
}

void Governor::look(const std::vector<int>& workers) {
  conditions_.is_on_battery = machine_.is_on_battery();
  conditions_.since_typed = machine_.since_typed(clock_.unix_ms());
  conditions_.celsius = machine_.celsius();
  conditions_.memory_stall = machine_.memory_stall();
  std::map<int, std::uint64_t> own;
  std::vector<int> pids = workers;
  pids.push_back(::getpid());
  for (int pid : pids) {
    if (auto ticks = machine_.cpu_of(pid)) own[pid] = *ticks;
  }
  if (auto cpu = machine_.cpu()) load_.add(*cpu, own);
  conditions_.others_percent = load_.others_percent();
}

}  // namespace quorate::client
