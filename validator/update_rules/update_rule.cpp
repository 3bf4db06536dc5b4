#include "validator/update_rules/update_rule.h"

#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "validator/update_rules/diloco.h"
#include "validator/update_rules/vc_asgd.h"

namespace quorate {
namespace {

struct KnownRule {
  std::string_view name;
  std::unique_ptr<UpdateRule> (*make)(const std::string& settings);
};

constexpr std::array kRules = {
    KnownRule{"vc-asgd", make_vc_asgd},
    KnownRule{"diloco", make_diloco},
};

}  // namespace

Coefficients UpdateRule::coefficients(std::uint64_t staleness,
                                      std::uint32_t epoch) const {
  check(epoch >= 1, "epochs of update rules count from 1");
  Coefficients decided = own_coefficients(staleness, epoch);
  decided[kOneMinusC] = 1.0F - ema_keep();
  return decided;
}

std::unique_ptr<UpdateRule> make_update_rule(std::string_view name,
                                             const std::string& settings) {
  for (const KnownRule& rule : kRules) {
    if (rule.name == name) return rule.make(settings);
  }
  throw Error(ErrorKind::usage,
              fmt::format("update rule \"{}\": unknown; choose one of: {}",
                          name, fmt::join(update_rule_names(), ", ")));
}

std::vector<std::string> update_rule_names() {
  std::vector<std::string> names;
  for (const KnownRule& rule : kRules) names.emplace_back(rule.name);
  return names;
}

float coefficient(const Coefficients& coefficients, const char* name) {
  const auto found = coefficients.find(name);
  if (found != coefficients.end()) return found->second;
  throw Error(ErrorKind::corrupt,
              fmt::format("update rule: coefficient \"{}\" is missing", name));
}

}  // namespace quorate
