#include "server/doors/boinc/closed_door.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "server/http/server.h"
#include "tests/support/raw_http.h"

namespace quorate::boinc {

TEST_CASE("a closed door says to whoever comes how it is opened") {
  Router routes;
  add_closed_door(routes);
  HttpServer http{{}};
  const std::uint16_t port = http.listen({}, std::move(routes));
  http.start();
  for (const char* what : {"/boinc", "/boinc/", "/boinc/get_project_config.php",
                           "/boinc/create_account.php?user_name=x"}) {
    CAPTURE(what);
    const auto answer = quorate::test::RawHttp(port).exchange(
        fmt::format("GET {} HTTP/1.1\r\nHost: a\r\n\r\n", what));
    CHECK(answer.status == 503);
    CHECK(answer.body.find("quorate -C PROJECT boinc key new --key ") !=
          std::string::npos);
  }
  http.stop(Seconds(0));
}

}  // namespace quorate::boinc
