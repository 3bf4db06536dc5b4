#include "server/simulator/scenario/scenario_fields.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "server/settings/duration.h"

namespace quorate {
namespace {

using nlohmann::json;

constexpr std::size_t kMostShown = 80;  // bytes of a faulty value

}  // namespace

ScenarioFields::ScenarioFields(const json& object, std::string place)
    : object_(object), place_(std::move(place)) {
  if (object.is_object()) return;
  throw Error(ErrorKind::usage,
              fmt::format("{}: expected an object {{...}}", place_));
}

std::string ScenarioFields::place_of(const char* name) const {
  return fmt::format("{}: {}", place_, name);
}

void ScenarioFields::refuse(const char* name,
                            const std::string& expected) const {
  std::string found =
      object_.at(name).dump(-1, ' ', false, json::error_handler_t::replace);
  if (found.size() > kMostShown) found = found.substr(0, kMostShown) + "...";
  throw Error(ErrorKind::usage, fmt::format("{}: expected {}, found {}",
                                            place_of(name), expected, found));
}

const json& ScenarioFields::value(const char* name) {
  static const json kNone;
  known_.insert(name);
  auto found = object_.find(name);
  return found == object_.end() ? kNone : *found;
}

double ScenarioFields::number(const char* name, double otherwise, double least,
                              double most) {
  const json& found = value(name);
  if (!has(name)) return otherwise;
  if (!found.is_number() || !(found.get<double>() >= least) ||
      !(found.get<double>() <= most)) {
    refuse(name, fmt::format("a number from {} to {}", least, most));
  }
  return found.get<double>();
}

std::uint64_t ScenarioFields::count(const char* name, std::uint64_t otherwise,
                                    std::uint64_t least, std::uint64_t most) {
  const json& found = value(name);
  if (!has(name)) return otherwise;
  if (!found.is_number_unsigned() || found.get<std::uint64_t>() < least ||
      found.get<std::uint64_t>() > most) {
    refuse(name, fmt::format("a whole number from {} to {}", least, most));
  }
  return found.get<std::uint64_t>();
}

bool ScenarioFields::flag(const char* name, bool otherwise) {
  const json& found = value(name);
  if (!has(name)) return otherwise;
  if (!found.is_boolean()) refuse(name, "true or false");
  return found.get<bool>();
}

std::string ScenarioFields::text(const char* name,
                                 const std::string& otherwise) {
  const json& found = value(name);
  if (!has(name)) return otherwise;
  if (!found.is_string()) refuse(name, "a text");
  return found.get<std::string>();
}

Seconds ScenarioFields::duration(const char* name, Seconds otherwise) {
  const json& found = value(name);
  if (!has(name)) return otherwise;
  if (found.is_string()) {
    if (const auto time = parse_duration(found.get<std::string>()))
      return *time;
  }
  const double seconds = found.is_number() ? found.get<double>() : -1;
  if (!(seconds >= 0) || !(seconds <= kMostSeconds)) {
    refuse(name, fmt::format("a number of seconds, or a text such as {}, up to "
                             "{} s",
                             kDurations, kMostSeconds));
  }
  return Seconds(seconds);
}

void ScenarioFields::expect_no_others() const {
  for (const auto& [name, value] : object_.items()) {
    if (known_.contains(name)) continue;
    throw Error(
        ErrorKind::usage,
        fmt::format("{}: unknown field \"{}\": the fields are {}", place_,
                    name.substr(0, kMostShown), fmt::join(known_, ", ")));
  }
}

}  // namespace quorate
