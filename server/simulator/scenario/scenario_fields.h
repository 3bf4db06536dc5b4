// Reads an object of a file that a person wrote: every fault is told with its
// place in the file and with what was expected, and nothing is skipped: a
// misspelt name is a fault, too.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include <nlohmann/json.hpp>

#include "base/clock.h"

namespace quorate {

class ScenarioFields {
 public:
  // place: of the object, "scenario.json: hosts[0]". Throws usage unless it is
  // an object.
  ScenarioFields(const nlohmann::json& object, std::string place);

  bool has(const char* name) const { return object_.contains(name); }
  // The field as it is; null if it is not there.
  const nlohmann::json& value(const char* name);
  std::string place_of(const char* name) const;

  // These give `otherwise` for a field that is not there, and throw usage for
  // one of another kind or out of range.
  double number(const char* name, double otherwise, double least, double most);
  std::uint64_t count(const char* name, std::uint64_t otherwise,
                      std::uint64_t least, std::uint64_t most);
  bool flag(const char* name, bool otherwise);
  std::string text(const char* name, const std::string& otherwise);
  // A number of seconds, or a text as "90 s", "15 min", "8 h", "1 d".
  Seconds duration(const char* name, Seconds otherwise);

  // Throws usage if there is a field that nobody asked for.
  void expect_no_others() const;
  [[noreturn]] void refuse(const char* name, const std::string& expected) const;

 private:
  const nlohmann::json& object_;
  std::string place_;
  std::set<std::string> known_;
};

}  // namespace quorate
