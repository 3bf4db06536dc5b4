#include "validator/update_rules/rule_settings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/error.h"

namespace quorate {
namespace {

[[noreturn]] void refuse(const std::string& rule, const std::string& found) {
  throw Error(ErrorKind::usage,
              fmt::format("update rule \"{}\": {}", rule, found));
}

std::string text_of(const std::variant<double, std::string>& value) {
  if (const auto* number = std::get_if<double>(&value)) {
    return fmt::format("{}", *number);
  }
  return fmt::format("\"{}\"", std::get<std::string>(value));
}

}  // namespace

RuleSettings::RuleSettings(std::string_view rule, const std::string& json)
    : rule_(rule) {
  if (json.empty()) return;
  const auto parsed = nlohmann::json::parse(json, nullptr, false);
  if (!parsed.is_object()) {
    refuse(rule_, "its settings are no JSON object, for example {\"key\": 1}");
  }
  for (const auto& [key, value] : parsed.items()) {
    if (value.is_number()) {
      values_[key] = value.get<double>();
    } else if (value.is_string()) {
      values_[key] = value.get<std::string>();
    } else {
      refuse(rule_, fmt::format("setting \"{}\" is {}: expected a number or a "
                                "text",
                                key, value.type_name()));
    }
  }
}

bool RuleSettings::is_text(const std::string& key, std::string_view text) {
  known_.insert(key);
  const auto found = values_.find(key);
  if (found == values_.end()) return false;
  const auto* value = std::get_if<std::string>(&found->second);
  return value != nullptr && *value == text;
}

float RuleSettings::number(const std::string& key, float otherwise,
                           bool (*fits)(float), std::string_view expected) {
  known_.insert(key);
  const auto found = values_.find(key);
  if (found == values_.end()) return otherwise;
  if (const auto* value = std::get_if<double>(&found->second)) {
    const auto rounded = static_cast<float>(*value);
    if (fits(rounded)) return rounded;
  }
  refuse(rule_, fmt::format("setting \"{}\" is {}: expected {}", key,
                            text_of(found->second), expected));
}

void RuleSettings::expect_no_others() const {
  for (const auto& [key, value] : values_) {
    if (known_.count(key) != 0) continue;
    refuse(rule_, fmt::format("setting \"{}\" is unknown; it has: {}", key,
                              fmt::join(known_, ", ")));
  }
}

}  // namespace quorate
