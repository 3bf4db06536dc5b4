// Reads what the operating system says about power, load and people. Thin: what
// follows from it is decided in client/permission/permission.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "base/file.h"

namespace quorate::client {

// Clock ticks since the start of the machine, of all its processors.
struct CpuTicks {
  std::uint64_t busy = 0;
  std::uint64_t all = 0;
};

// Files that are missing or unreadable count as "nothing seen".
class Machine {
 public:
  // root: "/", or a folder that looks like it, for tests.
  explicit Machine(fs::path root = "/") : root_(std::move(root)) {}

  // A battery is being discharged and no mains supply is on. Batteries of mice
  // and headsets do not count.
  bool is_on_battery() const;
  // Since somebody last typed at a terminal: the console, an ssh session or a
  // terminal window, by the times that w(1) shows. Keyboard and mouse of
  // graphical programs are not seen.
  std::optional<Seconds> since_typed(std::int64_t unix_ms) const;
  // Of the hottest part of processors and GPUs that the kernel has a sensor
  // for.
  std::optional<double> celsius() const;
  // Percentage of the last ten seconds in which some program had to wait for
  // memory.
  std::optional<double> memory_stall() const;
  // Both grow; only differences mean something. nullopt where /proc has none.
  std::optional<CpuTicks> cpu() const;
  // Of one process without its children.
  std::optional<std::uint64_t> cpu_of(int pid) const;

 private:
  fs::path root_;
};

// What other programs use of the processors, smoothed over about ten seconds.
class LoadMeter {
 public:
  // own: the ticks of each of our processes. Samples come about every kSample.
  void add(const CpuTicks& all, const std::map<int, std::uint64_t>& own);
  // nullopt until there were two samples.
  std::optional<double> others_percent() const { return others_percent_; }

  static constexpr Seconds kSample{2};

 private:
  std::optional<CpuTicks> last_;
  std::map<int, std::uint64_t> last_own_;
  std::optional<double> others_percent_;
};

}  // namespace quorate::client
