#include "client/machine/machine.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

#include <sys/stat.h>

namespace quorate::client {
namespace {

// Of the newest sample in the average.
constexpr double kWeight = 0.2;

// The first line of a file of the system; empty if there is none.
std::string first_line(const fs::path& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

bool is_terminal_name(const std::string& name, const std::string& prefix) {
  return name.size() > prefix.size() && name.rfind(prefix, 0) == 0 &&
         std::all_of(name.begin() + static_cast<std::ptrdiff_t>(prefix.size()),
                     name.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// When one of the terminals in `folder` was last read from, in seconds since
// 1970; 0 if there is none.
double last_typed(const fs::path& folder, const std::string& prefix) {
  double latest = 0;
  std::error_code missing;
  for (const auto& entry : fs::directory_iterator(folder, missing)) {
    if (!is_terminal_name(entry.path().filename().string(), prefix)) continue;
    struct stat status {};
    if (::stat(entry.path().c_str(), &status) != 0) continue;
    latest = std::max(latest, static_cast<double>(status.st_atim.tv_sec));
  }
  return latest;
}

// Of a disk or a power supply we say nothing: it is not what we heat.
bool is_of_computing(const std::string& chip) {
  static constexpr std::array kChips = {
      "coretemp", "k10temp", "zenpower",    "cpu_thermal", "amdgpu",
      "radeon",   "nouveau", "soc_thermal", "i915",        "xe"};
  return std::find(kChips.begin(), kChips.end(), chip) != kChips.end();
}

// "temp1_input": thousandths of a degree.
bool is_temperature(const std::string& file) {
  return file.rfind("temp", 0) == 0 && file.size() > 6 &&
         file.compare(file.size() - 6, 6, "_input") == 0;
}

// Sensors that are not connected show anything.
constexpr double kColdest = 1;
constexpr double kHottest = 130;

std::uint64_t difference(std::uint64_t now, std::uint64_t before) {
  return now > before ? now - before : 0;
}

}  // namespace

bool Machine::is_on_battery() const {
  bool is_discharging = false;
  std::error_code missing;
  for (const auto& entry :
       fs::directory_iterator(root_ / "sys/class/power_supply", missing)) {
    const fs::path& supply = entry.path();
    bool is_battery = first_line(supply / "type") == "Battery";
    if (!is_battery && first_line(supply / "online") == "1") return false;
    if (is_battery && first_line(supply / "scope") != "Device" &&
        first_line(supply / "status") == "Discharging") {
      is_discharging = true;
    }
  }
  return is_discharging;
}

std::optional<Seconds> Machine::since_typed(std::int64_t unix_ms) const {
  double latest = std::max(last_typed(root_ / "dev", "tty"),
                           last_typed(root_ / "dev/pts", ""));
  if (latest == 0) return std::nullopt;
  return Seconds(std::max(0.0, static_cast<double>(unix_ms) / 1000 - latest));
}

std::optional<double> Machine::celsius() const {
  std::optional<double> hottest;
  std::error_code missing;
  for (const auto& chip :
       fs::directory_iterator(root_ / "sys/class/hwmon", missing)) {
    if (!is_of_computing(first_line(chip.path() / "name"))) continue;
    for (const auto& file : fs::directory_iterator(chip.path(), missing)) {
      if (!is_temperature(file.path().filename().string())) continue;
      std::istringstream line(first_line(file.path()));
      double thousandths = 0;
      if (!(line >> thousandths)) continue;
      const double degrees = thousandths / 1000;
      if (degrees < kColdest || degrees > kHottest) continue;
      hottest = std::max(hottest.value_or(degrees), degrees);
    }
  }
  return hottest;
}

// "some avg10=0.00 avg60=0.00 avg300=0.00 total=0": PSI, Linux 4.20.
std::optional<double> Machine::memory_stall() const {
  std::istringstream line(first_line(root_ / "proc/pressure/memory"));
  std::string kind;
  std::string average;
  constexpr std::string_view kName = "avg10=";
  if (!(line >> kind >> average) || kind != "some") return std::nullopt;
  if (average.rfind(kName, 0) != 0) return std::nullopt;
  std::istringstream number(average.substr(kName.size()));
  double percent = 0;
  if (!(number >> percent) || percent < 0) return std::nullopt;
  return percent;
}

// The first line of /proc/stat, proc(5): "cpu user nice system idle iowait irq
// softirq steal ...".
std::optional<CpuTicks> Machine::cpu() const {
  std::istringstream line(first_line(root_ / "proc/stat"));
  std::string name;
  std::array<std::uint64_t, 8> ticks{};
  line >> name;
  for (std::uint64_t& value : ticks) line >> value;
  if (!line || name != "cpu") return std::nullopt;
  CpuTicks cpu;
  for (std::uint64_t value : ticks) cpu.all += value;
  cpu.busy = cpu.all - ticks[3] - ticks[4];
  return cpu;
}

// Fields 14 and 15 of /proc/PID/stat, proc(5); field 2, a name in parentheses,
// may hold anything.
std::optional<std::uint64_t> Machine::cpu_of(int pid) const {
  std::string text = first_line(root_ / "proc" / std::to_string(pid) / "stat");
  std::size_t end_of_name = text.rfind(')');
  if (end_of_name == std::string::npos) return std::nullopt;
  std::istringstream fields(text.substr(end_of_name + 1));
  std::string skipped;
  for (int field = 3; field < 14; ++field) fields >> skipped;
  std::uint64_t user = 0;
  std::uint64_t system = 0;
  fields >> user >> system;
  if (!fields) return std::nullopt;
  return user + system;
}

void LoadMeter::add(const CpuTicks& all,
                    const std::map<int, std::uint64_t>& own) {
  if (last_ && all.all > last_->all) {
    std::uint64_t ours = 0;
    for (const auto& [pid, ticks] : own) {
      auto before = last_own_.find(pid);
      if (before != last_own_.end()) ours += difference(ticks, before->second);
    }
    std::uint64_t busy = difference(all.busy, last_->busy);
    double others = 100.0 * static_cast<double>(difference(busy, ours)) /
                    static_cast<double>(all.all - last_->all);
    others_percent_ =
        others_percent_
            ? *others_percent_ + kWeight * (others - *others_percent_)
            : others;
  }
  last_ = all;
  last_own_ = own;
}

}  // namespace quorate::client
