#include "server/orders/host_orders.h"

#include <string>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "server/judging/consequences.h"
#include "server/orders/named.h"
#include "server/page/status.h"
#include "server/project/project.h"

namespace quorate {
namespace {

using nlohmann::json;

Host& host_of(Project& project, const json& arguments) {
  return host_named(project.state(), arguments.value("host", ""));
}

// The house vouches for everybody else: it cannot be judged.
Host& volunteer_of(Project& project, const json& arguments) {
  Host& host = host_of(project, arguments);
  if (host.user_id != kHouseUser) return host;
  throw Error(ErrorKind::usage,
              "host " + host.name +
                  ": it is one of this server's own workers: stop them with "
                  "house_workers = 0 in quorate.toml");
}

template <class Order>
json carry_out(Project& project, const json& arguments, Order order) {
  Host& host = volunteer_of(project, arguments);
  Consequences consequences(project.state());
  order(consequences, host, reason_of(arguments));
  project.daemons().transitioner.look_at_all();
  project.daemons().transitioner.settle();
  project.daemons().scheduler.wake();
  return status::host(project.state(), host);
}

}  // namespace

json show_host(Project& project, const json& arguments) {
  return status::host(project.state(), host_of(project, arguments));
}

json trust_host(Project& project, const json& arguments) {
  expect_good_account(project.state(), volunteer_of(project, arguments));
  return carry_out(
      project, arguments,
      [](Consequences& consequences, Host& host, const std::string& why) {
        consequences.trust(host, why);
      });
}

json ban_host(Project& project, const json& arguments) {
  return carry_out(project, arguments,
                   [](Consequences& consequences, Host& host,
                      const std::string& why) { consequences.ban(host, why); });
}

json pardon_host(Project& project, const json& arguments) {
  expect_good_account(project.state(), volunteer_of(project, arguments));
  return carry_out(
      project, arguments,
      [](Consequences& consequences, Host& host, const std::string& why) {
        consequences.pardon(host, why);
      });
}

json purge_host(Project& project, const json& arguments) {
  std::size_t count = 0;
  json row = carry_out(
      project, arguments,
      [&](Consequences& consequences, Host& host, const std::string& why) {
        count = consequences.purge(host, why);
        project.daemons().transitioner.reject_undecided(
            host.id, std::string(kPurged) + why);
      });
  row["revoking"] = count;
  return row;
}

}  // namespace quorate
