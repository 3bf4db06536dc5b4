#include "client/permission/prefs.h"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json_fields.h"
#include "client/permission/schedule.h"

namespace quorate::client {

using Json = nlohmann::ordered_json;

namespace {

constexpr JsonLimits kLimits{64 << 10, 4};
constexpr std::size_t kMostText = 500;

// 8 KB/s is what a server still tells from an attack that trickles.
constexpr std::array kTable{
    PrefInfo{"cores", &Prefs::cores, true, 1, 1024,
             "number of cores that compute; 0: all"},
    PrefInfo{"cpu_percent", &Prefs::cpu_percent, false, 1, 100,
             "percentage of the time that the cores compute"},
    PrefInfo{"gpu_percent", &Prefs::gpu_percent, false, 1, 100,
             "percentage of the time that GPUs compute, if any do"},
    PrefInfo{"hours", &Prefs::hours, false, 0, 0,
             "when to compute: \"22:00-07:00\", \"mon-fri 22:00-07:00; "
             "sat,sun 00:00-24:00\", or always"},
    PrefInfo{"on_battery", &Prefs::on_battery, false, 0, 0,
             "whether to compute on battery, too: yes or no"},
    PrefInfo{"max_load", &Prefs::max_load, true, 1, 100,
             "rest while other programs keep more than this percentage of the "
             "cores busy; 0: never"},
    PrefInfo{"idle_minutes", &Prefs::idle_minutes, true, 1, 1440,
             "rest until nobody has typed at a terminal of this machine for so "
             "many minutes; 0: do not look"},
    PrefInfo{"max_celsius", &Prefs::max_celsius, true, 40, 110,
             "rest, for a minute or longer, when processor or GPU is as hot as "
             "this, until it is 7 degrees cooler; 0: any"},
    PrefInfo{"memory_stall", &Prefs::memory_stall, true, 1, 100,
             "rest while programs wait for memory for more than this "
             "percentage of the time; 0: never"},
    PrefInfo{"down_kbps", &Prefs::down_kbps, true, 8, 10'000'000,
             "limit of downloads, in kilobytes a second; 0: none"},
    PrefInfo{"up_kbps", &Prefs::up_kbps, true, 8, 10'000'000,
             "limit of uploads, in kilobytes a second; 0: none"},
    PrefInfo{"cache_mb", &Prefs::cache_mb, false, 16, 10'000'000,
             "megabytes of training data to keep between results"},
    PrefInfo{"disk_mb", &Prefs::disk_mb, true, 64, 100'000'000,
             "megabytes of disk that the data folder may take; 0: any"},
    PrefInfo{"memory_mb", &Prefs::memory_mb, true, 256, 100'000'000,
             "megabytes of memory that computing may use; 0: half of this "
             "machine's"},
    PrefInfo{"unit_hours", &Prefs::unit_hours, true, 1, 8760,
             "hours that one unit may compute before it is given back; 0: any"},
    PrefInfo{"require_sandbox", &Prefs::require_sandbox, false, 0, 0,
             "compute only where the system confines what computes: yes or "
             "no"},
};

[[noreturn]] void refuse(const PrefInfo& info, const std::string& expected,
                         const std::string& found) {
  throw Error(ErrorKind::usage,
              fmt::format("preference {}: expected {}, found {}", info.key,
                          expected, found));
}

void set_number(Prefs& prefs, const PrefInfo& info,
                std::uint32_t Prefs::*member, std::uint64_t value,
                const std::string& found) {
  bool is_fine = (value >= info.least && value <= info.most) ||
                 (value == 0 && info.may_be_zero);
  if (!is_fine) {
    refuse(info,
           fmt::format("a whole number from {} to {}{}", info.least, info.most,
                       info.may_be_zero ? ", or 0" : ""),
           found);
  }
  prefs.*member = static_cast<std::uint32_t>(value);
}

void set_text(Prefs& prefs, const PrefInfo& info, std::string Prefs::*member,
              const std::string& value) {
  if (value.size() > kMostText) {
    refuse(info, fmt::format("at most {} bytes", kMostText),
           fmt::format("{}", value.size()));
  }
  try {
    // The only text there is; no span at all is "always".
    bool is_always = parse_schedule(value).empty();
    prefs.*member = is_always ? "" : value;
  } catch (const Error& e) {
    throw Error(e.kind(), fmt::format("preference {}: {}", info.key, e.what()));
  }
}

void set_from_json(Prefs& prefs, const PrefInfo& info,
                   const nlohmann::json& value) {
  std::string found = dump_json(value).substr(0, 40);
  if (const auto* number = std::get_if<std::uint32_t Prefs::*>(&info.member)) {
    // What is no number from 0 fits no bounds.
    set_number(
        prefs, info, *number,
        value.is_number_unsigned() ? value.get<std::uint64_t>() : UINT64_MAX,
        found);
  } else if (const auto* flag = std::get_if<bool Prefs::*>(&info.member)) {
    if (!value.is_boolean()) refuse(info, "true or false", found);
    prefs.** flag = value.get<bool>();
  } else {
    if (!value.is_string()) refuse(info, "a text", found);
    set_text(prefs, info, std::get<std::string Prefs::*>(info.member),
             value.get<std::string>());
  }
}

Json json_value(const Prefs& prefs, const PrefInfo& info) {
  return std::visit([&](auto member) { return Json(prefs.*member); },
                    info.member);
}

}  // namespace

std::span<const PrefInfo> pref_table() {
  return kTable;
}

const PrefInfo& pref_info(std::string_view key) {
  // "cpu-percent", as the option of `run` is called.
  std::string name(key);
  std::replace(name.begin(), name.end(), '-', '_');
  const auto* found =
      std::find_if(kTable.begin(), kTable.end(),
                   [&](const auto& info) { return info.key == name; });
  if (found != kTable.end()) return *found;
  std::string known;
  for (const PrefInfo& info : kTable) known += fmt::format(" {}", info.key);
  throw Error(ErrorKind::usage,
              fmt::format("preference \"{}\" does not exist; there are{}",
                          key.substr(0, 40), known));
}

std::string value_text(const Prefs& prefs, const PrefInfo& info) {
  if (const auto* flag = std::get_if<bool Prefs::*>(&info.member)) {
    return prefs.**flag ? "yes" : "no";
  }
  if (const auto* text = std::get_if<std::string Prefs::*>(&info.member)) {
    return (prefs.**text).empty() ? "always" : prefs.**text;
  }
  return std::to_string(prefs.*std::get<std::uint32_t Prefs::*>(info.member));
}

void set(Prefs& prefs, const PrefInfo& info, const std::string& value) {
  std::string found = fmt::format("\"{}\"", value.substr(0, 40));
  if (const auto* flag = std::get_if<bool Prefs::*>(&info.member)) {
    bool is_yes = value == "yes" || value == "true" || value == "on";
    bool is_no = value == "no" || value == "false" || value == "off";
    if (!is_yes && !is_no) refuse(info, "yes or no", found);
    prefs.** flag = is_yes;
  } else if (const auto* text =
                 std::get_if<std::string Prefs::*>(&info.member)) {
    set_text(prefs, info, *text, value);
  } else {
    std::uint64_t number = UINT64_MAX;
    const char* end = value.data() + value.size();
    auto [stop, failed] = std::from_chars(value.data(), end, number);
    if (info.is_percent() && stop != end && *stop == '%') ++stop;
    if (failed != std::errc{} || stop != end) number = UINT64_MAX;
    set_number(prefs, info, std::get<std::uint32_t Prefs::*>(info.member),
               number, found);
  }
}

std::string write_prefs(const Prefs& prefs) {
  const Prefs defaults;
  Json json = Json::object();
  for (const PrefInfo& info : kTable) {
    Json value = json_value(prefs, info);
    if (value != json_value(defaults, info)) json[info.key] = std::move(value);
  }
  return json.dump(1) + "\n";
}

Prefs parse_prefs(const std::string& text, const std::string& place) {
  try {
    nlohmann::json json = parse_json(text, kLimits, "preferences");
    if (!json.is_object()) {
      throw Error(ErrorKind::corrupt, "expected one JSON object");
    }
    Prefs prefs;
    for (const auto& [key, value] : json.items()) {
      set_from_json(prefs, pref_info(key), value);
    }
    return prefs;
  } catch (const Error& e) {
    throw Error(ErrorKind::corrupt,
                fmt::format("read {}: {}: correct the file, or quorate-client "
                            "prefs reset",
                            place, e.what()));
  }
}

Prefs load_prefs(const fs::path& file) {
  if (!fs::exists(file)) return {};
  return parse_prefs(read_text_file(file, kLimits.bytes), file.string());
}

void save_prefs(const fs::path& file, const Prefs& prefs) {
  write_file_durably(file, as_bytes(write_prefs(prefs)), 0600);
}

std::string prefs_text(const Prefs& prefs) {
  const Prefs defaults;
  std::string text;
  for (const PrefInfo& info : kTable) {
    std::string value = value_text(prefs, info);
    bool is_chosen = value != value_text(defaults, info);
    text += fmt::format("{:<13} {}{}\n{:<14}{}\n", info.key, value,
                        is_chosen ? "" : "  (default)", "", info.meaning);
  }
  return text;
}

std::string prefs_json(const Prefs& prefs) {
  Json json = Json::object();
  for (const PrefInfo& info : kTable) {
    json[info.key] = json_value(prefs, info);
  }
  return json.dump(2);
}

}  // namespace quorate::client
