// The settings of an update rule, as JSON: each rule asks for what it knows,
// anything else is refused.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <variant>

namespace quorate {

class RuleSettings {
 public:
  // json: an object of numbers and texts; empty text means no settings. Throws
  // usage, naming `rule`, for anything else.
  RuleSettings(std::string_view rule, const std::string& json);

  // Whether the setting is the text `text`.
  bool is_text(const std::string& key, std::string_view text);
  // The setting rounded to binary32, or `otherwise` if it is not there. Throws
  // usage unless it is a number that `fits`; the message says `expected`.
  float number(const std::string& key, float otherwise, bool (*fits)(float),
               std::string_view expected);
  // Throws usage if there is a setting that nobody asked for.
  void expect_no_others() const;

 private:
  std::string rule_;
  std::map<std::string, std::variant<double, std::string>> values_;
  std::set<std::string> known_;
};

}  // namespace quorate
