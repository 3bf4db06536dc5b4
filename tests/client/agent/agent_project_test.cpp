// When an agent asks who the project is now.
#include <doctest/doctest.h>

#include "tests/client/agent/agent_fixture.h"

namespace quorate::client {
namespace {

struct Asking : test::AgentFixture {
  std::atomic<int> asked{0};

  Asking() {
    statement = [this] {
      ++asked;
      return server.project().sealed;
    };
  }
  bool is_away() const {
    return read_activity(folder / "activity.json").is_away;
  }
};

}  // namespace

TEST_CASE_FIXTURE(Asking, "a project that comes back may have other keys") {
  int at_start = 0;
  int while_away = 0;
  run("cpu", [&] {
    if (at_start == 0) {
      if (server.questions() == 0 || asked == 0) return false;
      at_start = asked;
      server.set_reachable(false);
      server.add_unit(1);  // whose files cannot be fetched
    } else if (while_away == 0) {
      if (!is_away() || asked == at_start) return false;
      while_away = asked;
      server.set_reachable(true);
    }
    clock.advance(Seconds(1));
    return while_away != 0 && !is_away() && asked > while_away;
  });
  CHECK(while_away == at_start + 1);
}

TEST_CASE_FIXTURE(Asking, "a statement that lags behind is asked for less") {
  server.set_keys(5);  // of which the statement knows nothing
  int looks = 0;
  run("cpu", [&] { return asked > 0 && ++looks > 60; });
  // Without a pause it would be asked for at every turn.
  CHECK(asked <= 4);
}

}  // namespace quorate::client
