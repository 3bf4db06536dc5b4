#include "server/orders/runs/run_arguments.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/ranges.h>

#include "base/error.h"

namespace quorate {

using nlohmann::json;

void RunArguments::refuse(const std::string& why) const {
  throw Error(ErrorKind::usage, command_ + ": " + why);
}

std::string RunArguments::flag_of(std::string name) {
  std::replace(name.begin(), name.end(), '_', '-');
  return "--" + name;
}

bool RunArguments::has_only(std::initializer_list<const char*> names) const {
  const auto known =
      std::count_if(names.begin(), names.end(),
                    [this](const char* name) { return has(name); });
  const std::size_t why = has("why") ? 1 : 0;
  return arguments_.size() == static_cast<std::size_t>(known) + why;
}

std::string RunArguments::text(const char* name,
                               const std::string& otherwise) const {
  if (!has(name)) return otherwise;
  const json& value = arguments_[name];
  if (value.is_string()) return value.get<std::string>();
  refuse(fmt::format("{}: expected a text, found {}", flag_of(name),
                     value.dump()));
}

void RunArguments::expect_number(const char* name, bool is_whole, double least,
                                 double most) const {
  const json& value = arguments_[name];
  if (value.is_number() && (!is_whole || value.is_number_integer()) &&
      value.get<double>() >= least && value.get<double>() <= most) {
    return;
  }
  refuse(fmt::format("{}: expected a {}number from {} to {}, found {}",
                     flag_of(name), is_whole ? "whole " : "", least, most,
                     value.dump()));
}

json RunArguments::wished_settings() const {
  json settings = arguments_.value("rule_settings", json::object());
  for (const char* name : {"alpha", "beta", "gamma", kSnapshots}) {
    if (has(name)) settings[name] = arguments_[name];
  }
  return settings;
}

std::string RunArguments::rule_settings(const std::string& rule,
                                        Codec snapshots) const {
  json settings = wished_settings();
  const bool is_open =
      !settings.contains(kSnapshots) && snapshots != Codec::fp32;
  if (is_open && make_update_rule(rule, settings.dump())->in_rounds()) {
    settings[kSnapshots] = name_of(snapshots);
  }
  return settings.empty() ? "" : settings.dump();
}

std::string RunArguments::changed_settings(const Run& run,
                                           Codec snapshots) const {
  const json wished = wished_settings();
  if (wished.empty()) return run.rule_settings;
  if (wished.size() > 1 || !wished.contains(kSnapshots)) {
    return rule_settings(run.rule, snapshots);
  }
  json settings = run.rule_settings.empty() ? json::object()
                                            : json::parse(run.rule_settings);
  settings[kSnapshots] = wished[kSnapshots];
  return settings.dump();
}

std::uint32_t RunArguments::local_steps(const UpdateRule& rule,
                                        std::uint32_t otherwise) const {
  const bool is_auto = arguments_.value("local_steps", json()) == "auto";
  const std::uint32_t steps =
      is_auto ? 0 : number("local_steps", otherwise, 0, 1e6);
  const std::uint32_t wanted = rule.local_steps();
  if (wanted == 0) return steps;
  if (has("local_steps") && steps != wanted) {
    refuse(
        fmt::format("--local-steps {}: units of rule \"{}\" have {} step: "
                    "leave the option out, or choose another rule",
                    arguments_["local_steps"].dump(), rule.name(), wanted));
  }
  return wanted;
}

Codec RunArguments::codec(Codec otherwise) const {
  if (!has("codec")) return otherwise;
  const std::string name = text("codec", "");
  if (const auto codec = codec_called(name)) return *codec;
  refuse(fmt::format("--codec: unknown codec \"{}\": choose one of {}", name,
                     fmt::join(codec_names(), ", ")));
}

void RunArguments::set_rounds(Run& run) const {
  run.round_units = number("round_units", run.round_units, 0, 100000);
  run.round_share = number("round_share", run.round_share, 0.01, 1);
}

void RunArguments::set_assimilators(Run& run, const UpdateRule& rule) const {
  run.assimilators =
      number("assimilators", run.assimilators, 1, kMaxAssimilators);
  const std::string usual(name_of(run.consistency));
  const auto consistency = consistency_called(text("consistency", usual));
  if (!consistency) {
    refuse("--consistency: expected strong or eventual, found " +
           text("consistency", usual));
  }
  run.consistency = *consistency;
  expect_shareable(rule, run);
}

void RunArguments::expect_shareable(const UpdateRule& rule,
                                    const Run& run) const {
  if (run.assimilators > 1 && rule.in_rounds()) {
    refuse(
        fmt::format("--assimilators {}: rule \"{}\" takes a round as a whole, "
                    "which one assimilator does: leave the option out, or "
                    "choose a rule that takes results one by one, as vc-asgd",
                    run.assimilators, rule.name()));
  }
  if (run.consistency == Consistency::eventual && !rule.may_overwrite()) {
    refuse(
        fmt::format("--consistency eventual: rule \"{}\" {}, which "
                    "assimilators cannot overwrite: use strong, or a rule "
                    "that keeps nothing but the model, as vc-asgd",
                    rule.name(),
                    rule.in_rounds() ? "takes results in rounds"
                                     : "keeps more than the model"));
  }
}

json number_or_text(const std::string& text) {
  // JSON's numbers keep whether they are whole; people also write .5 and 1.
  json number = json::parse(text, nullptr, false);
  if (number.is_number()) return number;
  double value = 0;
  const char* last = text.data() + text.size();
  auto [end, error] = std::from_chars(text.data(), last, value);
  bool is_number = error == std::errc() && end == last && std::isfinite(value);
  return is_number ? json(value) : json(text);
}

}  // namespace quorate
