#include "server/orders/operators.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "base/error.h"

#include <pwd.h>

namespace quorate {
namespace {

constexpr std::uint32_t kRoot = 0;

bool is_named(const std::vector<std::string>& names, const Person& who) {
  return std::find(names.begin(), names.end(), who.name) != names.end();
}

}  // namespace

Person person_of(std::uint32_t user) {
  std::vector<char> space(16 << 10);
  passwd entry{};
  passwd* found = nullptr;
  const int failed =
      ::getpwuid_r(user, &entry, space.data(), space.size(), &found);
  if (failed != 0 || found == nullptr) return {user, fmt::format("{}", user)};
  return {user, entry.pw_name};
}

Person this_person() {
  return person_of(::geteuid());
}

bool only_asks(const std::string& command, const nlohmann::json& arguments) {
  static const std::set<std::string> kQuestions = {
      "train-list", "train-show",    "status",     "hosts",
      "host-show",  "host-find",     "workunits",  "results",
      "snapshots",  "ledger",        "exportable", "peers-list",
      "log",        "workunit-show", "users",      "user-show"};
  // Others may ignore an argument that they do not know, and do it.
  static const std::set<std::string> kMayBeDry = {"validate", "assimilate"};
  if (kQuestions.contains(command)) return true;
  if (!kMayBeDry.contains(command)) return false;
  const auto dry = arguments.find("dry_run");
  return dry != arguments.end() && *dry == true;
}

void expect_may_order(const Person& who, std::uint32_t owner,
                      const ServerSettings& settings, bool only_asks) {
  if (who.id == owner || who.id == kRoot) return;
  if (is_named(settings.operators, who)) return;
  if (!is_named(settings.guests, who)) {
    throw Error(
        ErrorKind::denied,
        fmt::format("user {} may not ask this project: its owner can name {} "
                    "in operators or guests in quorate.toml, and start the "
                    "server again",
                    who.name, who.name));
  }
  if (only_asks) return;
  throw Error(ErrorKind::denied,
              fmt::format("user {} is a guest of this project, who may ask but "
                          "change nothing: its owner can name {} in operators "
                          "in quorate.toml, and start the server again",
                          who.name, who.name));
}

void expect_may_order(const std::string& who, bool is_guest, bool only_asks) {
  if (!is_guest || only_asks) return;
  throw Error(ErrorKind::denied,
              fmt::format("{} is a guest of this project, who may ask but "
                          "change nothing: its owner can change that with "
                          "`quorate operators web --role operator`",
                          who));
}

}  // namespace quorate
