// What the volunteer allows, kept in prefs.json of the data folder and changed
// with `quorate-client prefs`. A running agent follows it within seconds.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "base/file.h"

namespace quorate::client {

struct Prefs {
  std::uint32_t cores = 0;  // 0: all
  std::uint32_t cpu_percent = 100;
  std::uint32_t gpu_percent = 100;
  std::string hours;  // client/permission/schedule.h; empty: always
  bool on_battery = false;
  std::uint32_t max_load = 0;       // percent of the cores; 0: any
  std::uint32_t idle_minutes = 0;   // 0: do not look
  std::uint32_t max_celsius = 0;    // 0: any
  std::uint32_t memory_stall = 10;  // percent of the time; 0: any
  std::uint32_t down_kbps = 0;      // kilobytes (1000) a second; 0: no limit
  std::uint32_t up_kbps = 0;
  std::uint32_t cache_mb = 1024;  // of shards that are kept
  std::uint32_t disk_mb = 20480;  // of the data folder; 0: no limit
  std::uint32_t memory_mb = 0;    // of all tasks; 0: half of the machine's
  std::uint32_t unit_hours = 24;  // of one unit; 0: any
  bool require_sandbox = false;   // compute only in a whole one

  bool operator==(const Prefs&) const = default;
};

// One preference as people see it.
struct PrefInfo {
  using Member =
      std::variant<std::uint32_t Prefs::*, bool Prefs::*, std::string Prefs::*>;
  const char* key;
  Member member;
  bool may_be_zero;  // for numbers: 0, or from least to most
  std::uint32_t least;
  std::uint32_t most;
  const char* meaning;

  // Such a number may be written with a percent sign.
  bool is_percent() const { return most == 100; }
};
std::span<const PrefInfo> pref_table();
// "-" stands for "_" as well. Throws usage, naming the keys that there are.
const PrefInfo& pref_info(std::string_view key);

// "yes", "50", "22:00-07:00" or "always", as set() takes it.
std::string value_text(const Prefs& prefs, const PrefInfo& info);
// Throws usage, naming key, expectation and what was found.
void set(Prefs& prefs, const PrefInfo& info, const std::string& value);

// The text of prefs.json: only what differs from the defaults, so that better
// defaults reach those who chose nothing.
std::string write_prefs(const Prefs& prefs);
// Throws corrupt, naming `place` and the key, for anything but an object of
// known keys and good values; keys left out have their defaults.
Prefs parse_prefs(const std::string& text, const std::string& place);

// The defaults when there is no file. Throws io, corrupt.
Prefs load_prefs(const fs::path& file);
// Throws io.
void save_prefs(const fs::path& file, const Prefs& prefs);

// For `prefs`: a table with meanings; and every value, for programs.
std::string prefs_text(const Prefs& prefs);
std::string prefs_json(const Prefs& prefs);

}  // namespace quorate::client
