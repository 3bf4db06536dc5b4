#include "validator/update_rules/rule_settings.h"

#include <cmath>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "validator/update_rules/one_by_one.h"

namespace quorate {
namespace {

constexpr const char* kAverage = "average";
constexpr const char* kSnapshotCodec = "snapshots";

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
    : rule_(rule), known_{kAverage, kSnapshotCodec} {
  if (json.empty()) return;
  const auto parsed = nlohmann::json::parse(json, nullptr, false);
  if (!parsed.is_object()) {
    refuse(rule_,
           "its settings are not a JSON object, for example {\"key\": 1}");
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

void RuleSettings::expect_text(const std::string& key, std::string_view text,
                               std::string_view expected) {
  if (is_text(key, text) || !values_.contains(key)) return;
  refuse(rule_, fmt::format("setting \"{}\" is {}: expected {}", key,
                            text_of(values_.at(key)), expected));
}

std::string_view RuleSettings::choice(
    const std::string& key, std::string_view otherwise,
    std::span<const std::string_view> choices) {
  known_.insert(key);
  const auto found = values_.find(key);
  if (found == values_.end()) return otherwise;
  for (std::string_view choice : choices) {
    if (is_text(key, choice)) return choice;
  }
  refuse(rule_, fmt::format("setting \"{}\" is {}: expected one of: {}", key,
                            text_of(found->second), fmt::join(choices, ", ")));
}

float RuleSettings::number(const std::string& key, float otherwise,
                           const std::function<bool(float)>& fits,
                           std::string_view expected) {
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

std::uint32_t RuleSettings::count(const std::string& key,
                                  std::uint32_t otherwise, std::uint32_t most,
                                  std::uint32_t least) {
  const float found = number(
      key, static_cast<float>(otherwise),
      [=](float x) {
        return x >= static_cast<float>(least) &&
               x <= static_cast<float>(most) && x == std::floor(x);
      },
      fmt::format("a whole number from {} to {}", least, most));
  return static_cast<std::uint32_t>(found);
}

void RuleSettings::expect_no_others() const {
  for (const auto& [key, value] : values_) {
    if (known_.count(key) != 0) continue;
    refuse(rule_, fmt::format("setting \"{}\" is unknown; it has: {}", key,
                              fmt::join(known_, ", ")));
  }
}

float published_average(std::string_view rule, const std::string& json,
                        float otherwise) {
  return RuleSettings(rule, json)
      .number(
          kAverage, otherwise, [](float c) { return c >= 0.0F && c < 1.0F; },
          "a number from 0 (versions are published as they are) to below 1");
}

Codec snapshot_codec(std::string_view rule, const std::string& json,
                     bool in_rounds) {
  const std::vector<std::string_view> choices = codec_names();
  const Codec codec =
      codec_called(RuleSettings(rule, json)
                       .choice(kSnapshotCodec, name_of(Codec::fp32), choices))
          .value();
  if (codec == Codec::fp32 || in_rounds) return codec;
  refuse(std::string(rule),
         fmt::format("setting \"{}\" is \"{}\": only rules in rounds can have "
                     "that: with the others a host is always several versions "
                     "behind, and the changes would be more than the snapshot",
                     kSnapshotCodec, name_of(codec)));
}

float step_rate(RuleSettings& values, float otherwise) {
  return values.number(
      "rate", otherwise,
      [](float rate) { return rate > 0.0F && rate <= kMostDrift; },
      fmt::format("a number above 0 and at most {}: two steps of the sharpest "
                  "directions' size would undo each other",
                  kMostDrift));
}

float outer_rate(RuleSettings& values, float otherwise) {
  return values.number(
      "gamma", otherwise, [](float g) { return g > 0.0F && g <= 1.0F; },
      "a number above 0 and at most 1: beyond 1 the outer step overshoots the "
      "mean of the volunteers");
}

float outer_momentum(RuleSettings& values) {
  return values.number(
      "beta", 0.9F, [](float b) { return b >= 0.0F && b < 1.0F; },
      "a number from 0 to below 1: at 1 the momentum never forgets and the "
      "model runs away");
}

}  // namespace quorate
