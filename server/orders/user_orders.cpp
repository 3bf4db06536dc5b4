#include "server/orders/user_orders.h"

#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "protocol/limits.h"
#include "protocol/text.h"
#include "server/judging/consequences.h"
#include "server/orders/named.h"
#include "server/page/status.h"

namespace quorate {
namespace {

using nlohmann::json;

const User& volunteer_of(ProjectState& state, const json& arguments) {
  const User& user = user_named(state, arguments.value("user", ""));
  if (user.id != kHouseUser) return user;
  throw Error(ErrorKind::usage,
              "user " + user.name +
                  ": this is the server's own account: stop its workers with "
                  "house_workers = 0 in quorate.toml");
}

// What hosts hold goes to others at once.
void settle_hosts(Daemons& daemons) {
  daemons.transitioner.look_at_all();
  daemons.transitioner.settle();
  daemons.scheduler.wake();
}

const User& member_of(ProjectState& state, const json& arguments) {
  const User& user = volunteer_of(state, arguments);
  if (user.deleted == 0) return user;
  throw Error(ErrorKind::usage, "user " + user.name + ": it was deleted");
}

}  // namespace

json list_users(ProjectState& state, const json&) {
  json rows = json::array();
  for (const auto& [id, user] : state.hosts.users()) {
    if (id != kHouseUser) rows.push_back(status::user(state, user));
  }
  return rows;
}

json show_user(ProjectState& state, const json& arguments) {
  return status::user(state, user_named(state, arguments.value("user", "")));
}

json ban_user(ProjectState& state, Daemons& daemons, const json& arguments) {
  const User& user = member_of(state, arguments);
  Consequences(state).ban_user(user.id, reason_of(arguments));
  settle_hosts(daemons);
  return status::user(state, user);
}

json pardon_user(ProjectState& state, Daemons& daemons, const json& arguments) {
  const User& user = member_of(state, arguments);
  if (user.ban_reason.empty()) {
    throw Error(ErrorKind::usage,
                fmt::format("user {} is not banned: a host that is, alone, is "
                            "pardoned with `quorate host pardon`",
                            user.name));
  }
  Consequences(state).pardon_user(user.id, reason_of(arguments));
  settle_hosts(daemons);
  return status::user(state, user);
}

json rename_user(ProjectState& state, const json& arguments) {
  const User& user = member_of(state, arguments);
  const std::string name = arguments.value("name", "");
  if (name.empty() || name.size() > protocol::kMaxName ||
      !protocol::is_plain_text(name)) {
    throw Error(ErrorKind::usage,
                fmt::format("user {}: its new name: expected 1 to {} bytes "
                            "without control or invisible characters",
                            user.name, protocol::kMaxName));
  }
  state.hosts.give_name(user.id, name);
  state.record("user_renamed", 0, 0, fmt::format("user {}", user.id));
  return status::user(state, user);
}

json delete_user(ProjectState& state, Daemons& daemons, const json& arguments) {
  const User& user = member_of(state, arguments);
  Consequences(state).delete_user(user.id);
  settle_hosts(daemons);
  return status::user(state, user);
}

}  // namespace quorate
