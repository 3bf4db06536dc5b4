#include "server/orders/runs/presets.h"

#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/error.h"

namespace quorate {
namespace {

using nlohmann::json;

// docs/update-rules.md, "As in the paper", says where each value is from.
const std::map<std::string, json>& presets() {
  static const std::map<std::string, json> kAll = {
      {"paper-vc-asgd",
       {{"rule", "vc-asgd"},
        {"rule_settings", {{"alpha", 0.95}, {"average", 0}}},
        {"assimilators", 5},
        {"optimizer", "adamw"},
        {"lr", 0.001},
        {"weight_decay", 0},
        {"lr_schedule", "constant"},
        {"batch", 50},
        {"local_steps", 20},
        {"epochs", 40},
        {"quorum", 1},
        {"codec", "fp32"}}}};
  return kAll;
}

}  // namespace

std::vector<std::string> preset_names() {
  std::vector<std::string> names;
  for (const auto& [name, values] : presets()) names.push_back(name);
  return names;
}

json with_preset(const json& wishes) {
  if (!wishes.contains("preset")) return wishes;
  const json& wish = wishes.at("preset");
  const auto found =
      presets().find(wish.is_string() ? wish.get<std::string>() : "");
  if (found == presets().end()) {
    throw Error(ErrorKind::usage,
                fmt::format("train create: --preset {}: unknown; choose one "
                            "of: {}",
                            wish.dump(), fmt::join(preset_names(), ", ")));
  }
  const json& preset = found->second;
  if (wishes.contains("rule") && wishes["rule"] != preset["rule"]) {
    throw Error(ErrorKind::usage,
                fmt::format("train create: --preset {} is for rule {}, not {}: "
                            "leave out one of the two options",
                            found->first, preset["rule"].dump(),
                            wishes["rule"].dump()));
  }
  json all = preset;
  all.merge_patch(wishes);
  // The same by flags of their own.
  for (const char* name : {"alpha", "beta", "gamma"}) {
    if (wishes.contains(name)) all["rule_settings"].erase(name);
  }
  all.erase("preset");
  return all;
}

}  // namespace quorate
