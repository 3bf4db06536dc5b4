// Gathers what a running agent has to obey: preferences, pauses and the state
// of the machine, read anew every few seconds; the command line has the last
// word.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "client/folder/data_folder.h"
#include "client/machine/machine.h"
#include "client/machine/settings.h"
#include "client/permission/permission.h"
#include "client/permission/prefs.h"
#include "protocol/transfer/transfer.h"

namespace quorate::client {

// What holds for the agent now.
struct Orders {
  Permission permission;
  std::uint32_t threads = 1;  // of each task of a CPU
  std::uint32_t cpu_percent = 100;
  std::uint32_t gpu_percent = 100;
  std::uint32_t memory_mb = 0;  // of each task
  std::uint64_t cache_bytes = kShardCacheBytes;
  std::uint64_t disk_bytes = 0;   // of the data folder; 0: no limit
  Seconds longest_unit{0};        // that it may compute; 0: any
  bool requires_sandbox = false;  // of its workers
  std::string trouble;  // why the preferences cannot be followed; else empty
};

// What preferences and command line mean together. Pure but for the number of
// cores and the memory of this machine.
Orders orders_of(const Prefs& prefs, const RunSettings& settings);

// Belongs to the agent's thread; what it is given outlives it.
class Governor {
 public:
  // Throws corrupt if the preferences cannot be read: better to say so at the
  // start than to compute when nobody wants it.
  Governor(const DataFolder& folder, const RunSettings& settings,
           Machine machine, const Clock& clock, Network& network);

  // workers: their process ids.
  // Cheap enough for every pass: files are read every few seconds only, but for
  // the pause, which holds at once.
  Orders orders(const std::vector<int>& workers);

 private:
  // Preferences that cannot be read any more leave the last ones in force;
  // trouble_ says so.
  void read_prefs();
  // Reads power, load and people; costs some files in /proc and /sys.
  void look(const std::vector<int>& workers);

  const DataFolder& folder_;
  RunSettings settings_;
  Machine machine_;
  const Clock& clock_;
  Network& network_;

  Prefs prefs_;
  std::string trouble_;
  Conditions conditions_;
  LoadMeter load_;
  Instant read_at_{};
  Instant look_at_{};
  Instant since_{};  // of conditions_.last
};

}  // namespace quorate::client
