// What an operator wishes of a run: the flags of `train create` and `train
// change` by name, with `_` for `-`. Everything throws usage, naming command
// and flag, for what cannot be.
#pragma once

#include <initializer_list>
#include <string>
#include <type_traits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "validator/update_rules/update_rule.h"
#include "workunits/workunit.h"

namespace quorate {

// What a new run has unless its operator says otherwise; docs/study.md has the
// measurements. (Run's own defaults are those of runs of older versions.)
inline constexpr const char* kUsualRule = "diloco";
inline constexpr Codec kUsualCodec = Codec::int4;
// Of rules in rounds.
inline constexpr Codec kUsualSnapshots = Codec::int4;

class RunArguments {
 public:
  RunArguments(std::string command, nlohmann::json arguments)
      : command_(std::move(command)), arguments_(std::move(arguments)) {}

  [[noreturn]] void refuse(const std::string& why) const;
  // "local_steps" is --local-steps on the command line.
  static std::string flag_of(std::string name);

  bool has(const char* name) const { return arguments_.contains(name); }
  // Whether there is nothing but these, at the most, and why: that is noted,
  // and changes nothing.
  bool has_only(std::initializer_list<const char*> names) const;
  // As it is; it has to be there.
  const nlohmann::json& value(const char* name) const {
    return arguments_.at(name);
  }
  std::string text(const char* name, const std::string& otherwise) const;
  // A number in [least, most], or `otherwise` if it is not given.
  template <class T>
  T number(const char* name, T otherwise, double least, double most) const {
    if (!has(name)) return otherwise;
    constexpr bool kIsWhole = std::is_integral_v<T>;
    expect_number(name, kIsWhole, least, most);
    return arguments_[name].get<T>();
  }

  // The rule's own settings as JSON: KEY=VALUE of --set, flags for the best
  // known, and for rules in rounds `snapshots`, if no other are named; empty if
  // there are none. Throws what make_update_rule() throws.
  std::string rule_settings(const std::string& rule, Codec snapshots) const;
  // The settings of a run that keeps its rule: the same, but its own with
  // nothing or with --snapshots alone.
  std::string changed_settings(const Run& run, Codec snapshots) const;
  // Minibatches of a unit, of the length that the rule wants; 0: auto.
  std::uint32_t local_steps(const UpdateRule& rule,
                            std::uint32_t otherwise) const;
  Codec codec(Codec otherwise) const;
  // Units of a round, and the share that closes it.
  void set_rounds(Run& run) const;
  // How many work on its results at once, and how they share its model. Throws
  // usage if the rule cannot be shared like that.
  void set_assimilators(Run& run, const UpdateRule& rule) const;

 private:
  void expect_shareable(const UpdateRule& rule, const Run& run) const;
  nlohmann::json wished_settings() const;
  void expect_number(const char* name, bool is_whole, double least,
                     double most) const;

  std::string command_;
  nlohmann::json arguments_;
};

// What a person typed where a number belongs: that number, if it is finite, or
// the text as it is, to be refused by who reads it.
nlohmann::json number_or_text(const std::string& text);

}  // namespace quorate
