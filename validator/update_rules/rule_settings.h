// The settings of an update rule, as JSON: each rule asks for what it knows,
// anything else is refused.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "workunits/codec.h"

namespace quorate {

class RuleSettings {
 public:
  // json: an object of numbers and texts; empty text means no settings. Throws
  // usage, naming `rule`, for anything else.
  RuleSettings(std::string_view rule, const std::string& json);

  // Whether the setting is the text `text`.
  bool is_text(const std::string& key, std::string_view text);
  // Throws usage, saying `expected`, if the setting is there and another text.
  void expect_text(const std::string& key, std::string_view text,
                   std::string_view expected);
  // The setting, or `otherwise` if it is not there. Throws usage unless it is
  // one of `choices`.
  std::string_view choice(const std::string& key, std::string_view otherwise,
                          std::span<const std::string_view> choices);
  // The setting rounded to binary32, or `otherwise` if it is not there. Throws
  // usage unless it is a number that `fits`; the message says `expected`.
  float number(const std::string& key, float otherwise,
               const std::function<bool(float)>& fits,
               std::string_view expected);
  // A whole number from `least` to `most`, or `otherwise` if it is not there.
  // Throws usage for anything else.
  std::uint32_t count(const std::string& key, std::uint32_t otherwise,
                      std::uint32_t most, std::uint32_t least = 1);
  // Throws usage if there is a setting that nobody asked for.
  void expect_no_others() const;

 private:
  std::string rule_;
  std::map<std::string, std::variant<double, std::string>> values_;
  std::set<std::string> known_;
};

// "average" in [0, 1), of every rule: what the published average keeps with
// each version. Throws usage for anything else.
float published_average(std::string_view rule, const std::string& json,
                        float otherwise);

// "snapshots", the name of a codec, of every rule in rounds; fp32: versions are
// not rounded. Throws usage for anything else, and for another codec with a
// rule that is not in rounds.
Codec snapshot_codec(std::string_view rule, const std::string& json,
                     bool in_rounds);

// Settings that several rules have.
//
// "rate" in (0, 1.5], of a step along a result's delta.
float step_rate(RuleSettings& values, float otherwise);
// "gamma" in (0, 1], of an outer step.
float outer_rate(RuleSettings& values, float otherwise);
// "beta" in [0, 1), default 0.9.
float outer_momentum(RuleSettings& values);

}  // namespace quorate
