// Whom the BOINC door turns away, and what they hear.
#include <string>

#include <doctest/doctest.h>

#include "server/judging/consequences.h"
#include "tests/server/doors/boinc/boinc_scene.h"

namespace quorate::boinc {
namespace {

using test::Client;
using test::element;
using test::Scene;
using test::sent_results;

bool says(const std::string& text, const std::string& words) {
  return text.find(words) != std::string::npos;
}

}  // namespace

TEST_CASE("a banned host gets no work and hears why") {
  Scene scene;
  Client client(scene, scene.account("Eve"));
  client.ask(false);
  scene.job([&](ProjectState& state) {
    Host& host = *state.hosts.host(client.request.hostid);
    host.mark = HostMark::banned;
    host.mark_reason = "three false results";
  });
  std::string reply = client.ask();
  CHECK(says(reply, "banned from the project: three false results"));
  CHECK(element(reply, "request_delay") == "3600");
  CHECK(sent_results(reply).empty());
}

TEST_CASE("a banned account's new host is refused and hears why") {
  Scene scene;
  const std::string eve = scene.account("Eve");
  Client first(scene, eve);
  first.ask(false);
  const auto set_reason = [&](const std::string& reason) {
    scene.job([&](ProjectState& state) {
      const UserId user = state.hosts.host(first.request.hostid)->user_id;
      state.hosts.set_ban_reason(user, reason);
    });
  };
  set_reason("made-up results");
  Client second(scene, eve);
  second.request.host.cpid = "another machine";
  const std::string reply = second.ask();
  CHECK(
      says(reply, "this account is banned from the project: made-up results"));
  CHECK(element(reply, "request_delay") == "3600");
  CHECK(second.request.hostid == 0);
  set_reason("");
  CHECK_FALSE(sent_results(second.ask()).empty());
}

TEST_CASE("nobody comes in with the key of a deleted account") {
  Scene scene;
  const std::string eve = scene.account("Eve");
  Client client(scene, eve);
  client.ask(false);
  scene.job([&](ProjectState& state) {
    Consequences(state).delete_user(
        state.hosts.host(client.request.hostid)->user_id);
  });
  CHECK(says(client.ask(), "There is no account with this key"));
}

}  // namespace quorate::boinc
