#include "server/orders/named.h"

#include <array>
#include <cstdio>
#include <ctime>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "server/settings/duration.h"

namespace quorate {
namespace {

[[noreturn]] void refuse(const std::string& what, const std::string& wanted,
                         const std::string& why) {
  throw Error(ErrorKind::usage,
              fmt::format("{} \"{}\": {}", what, wanted, why));
}

// The row with this id, key or name. rows: by id. label(row): as a list shows
// it.
template <class Rows, class Label>
auto& named(Rows& rows, const std::string& what, const std::string& wanted,
            Label label) {
  auto* found = static_cast<decltype(&rows.begin()->second)>(nullptr);
  std::size_t count = 0;
  std::vector<std::string> labels;
  for (auto& [id, row] : rows) {
    if (std::to_string(id) == wanted || row.key.hex() == wanted) return row;
    labels.push_back(label(row));
    if (row.name != wanted) continue;
    found = &row;
    ++count;
  }
  if (count == 1) return *found;
  if (count > 1) {
    refuse(what, wanted,
           fmt::format("{} have this name: give the id (`quorate {}s`)", count,
                       what));
  }
  refuse(what, wanted,
         fmt::format("there is none: known are {}; see `quorate {}s`",
                     known(labels), what));
}

// "2026-11-24T10:30:05Z"; the time and the Z may be missing.
std::optional<Millis> moment_in(const std::string& text) {
  std::tm parts{};
  int length = 0;
  const char* at = text.c_str();
  if (std::sscanf(at, "%4d-%2d-%2d%n", &parts.tm_year, &parts.tm_mon,
                  &parts.tm_mday, &length) != 3) {
    return std::nullopt;
  }
  at += length;
  if (*at == 'T' || *at == ' ') {
    ++at;
    if (std::sscanf(at, "%2d:%2d%n", &parts.tm_hour, &parts.tm_min, &length) !=
        2) {
      return std::nullopt;
    }
    at += length;
    if (std::sscanf(at, ":%2d%n", &parts.tm_sec, &length) == 1) at += length;
  }
  const bool is_utc = *at == 'Z';
  if (is_utc) ++at;
  if (*at != '\0') return std::nullopt;
  parts.tm_year -= 1900;
  parts.tm_mon -= 1;
  parts.tm_isdst = -1;
  const std::tm typed = parts;
  const std::time_t seconds = is_utc ? ::timegm(&parts) : std::mktime(&parts);
  // The 31st of a month without one became another day.
  const bool is_date = parts.tm_mday == typed.tm_mday &&
                       parts.tm_mon == typed.tm_mon &&
                       parts.tm_min == typed.tm_min;
  if (!is_date || seconds < 0) return std::nullopt;
  return Millis{seconds} * 1000;
}

}  // namespace

std::string known(const std::vector<std::string>& names) {
  constexpr std::size_t kMostNamed = 8;
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < kMostNamed; ++i) {
    text += (i == 0 ? "" : ", ") + names[i];
  }
  if (names.size() > kMostNamed) {
    text += fmt::format(" and {} more", names.size() - kMostNamed);
  }
  return text.empty() ? "none" : text;
}

Host& host_named(ProjectState& state, const std::string& wanted) {
  // The table's rows, which it gives to read only.
  const Host& found =
      named(state.hosts.hosts(), "host", wanted, [&](const Host& row) {
        const User* user = state.hosts.user(row.user_id);
        return fmt::format("{} {}{}", row.id, row.name,
                           user == nullptr ? "" : " of " + user->name);
      });
  return *state.hosts.host(found.id);
}

const User& user_named(ProjectState& state, const std::string& wanted) {
  return named(state.hosts.users(), "user", wanted, [](const User& row) {
    return fmt::format("{} {}", row.id, row.name);
  });
}

Workunit workunit_named(ProjectState& state, WorkunitId id) {
  if (const auto unit = state.store.workunit(id)) return *unit;
  std::vector<std::string> open;
  for (const auto& [live, unit] : state.feeder.units()) {
    open.push_back(std::to_string(live));
  }
  throw Error(
      ErrorKind::usage,
      fmt::format("there is no workunit {}: known open ones are {}; see "
                  "`quorate workunits`",
                  id, known(open)));
}

void expect_good_account(const ProjectState& state, const Host& host) {
  const User& user = *state.hosts.user(host.user_id);
  if (user.deleted != 0) {
    throw Error(ErrorKind::usage,
                fmt::format("host {}: its account was deleted, which cannot be "
                            "undone",
                            host.name));
  }
  if (user.ban_reason.empty()) return;
  throw Error(ErrorKind::usage,
              fmt::format("host {}: its account is banned ({}): pardon that, "
                          "with all its hosts, by `quorate user pardon {}`",
                          host.name, user.ban_reason, user.id));
}

std::string reason_of(const nlohmann::json& arguments) {
  std::string reason = arguments.value("reason", "");
  return reason.empty() ? "by the operator" : reason;
}

Millis since_text(const std::string& text, Millis now) {
  std::optional<Millis> moment = moment_in(text);
  if (const auto ago = parse_duration(text)) {
    moment = now - static_cast<Millis>(ago->count() * 1000);
  }
  if (!moment) {
    refuse("--since", text,
           "expected how long ago (30m, 6h, 2d) or a date with or without a "
           "time (2026-11-24, 2026-11-24T10:30)");
  }
  if (*moment > now) refuse("--since", text, "is in the future");
  return *moment;
}

}  // namespace quorate
