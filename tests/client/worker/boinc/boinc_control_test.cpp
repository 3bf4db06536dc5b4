#include "client/worker/boinc/boinc_control.h"

#include <doctest/doctest.h>

namespace quorate::worker {
namespace {

using boinc::parse_process_orders;
using enum BoincState;

const Instant kStart{Seconds(1000)};
Instant after(double seconds) {
  return kStart + Seconds(seconds);
}

}  // namespace

TEST_CASE("orders lead from state to state") {
  struct Row {
    std::vector<const char*> orders;
    BoincState state;
  };
  const Row rows[] = {
      {{}, running},
      {{"<suspend/>"}, suspended},
      {{"<suspend/>", "<suspend/>"}, suspended},
      {{"<suspend/>", "<resume/>"}, running},
      {{"<resume/>"}, running},
      {{"<suspend/><resume/>"}, running},
      {{"<resume/>", "<suspend/>"}, suspended},
      {{"<quit/>"}, quitting},
      {{"<suspend/>", "<quit/>"}, quitting},
      {{"<quit/>", "<resume/>"}, quitting},
      {{"<abort/>"}, aborted},
      {{"<quit/>", "<abort/>"}, aborted},
      {{"<abort/>", "<resume/>", "<quit/>"}, aborted},
      {{"<network_available/>"}, running},
  };
  for (const Row& row : rows) {
    BoincControl control(kStart);
    std::string all;
    for (const char* text : row.orders) {
      control.take(parse_process_orders(text), kStart);
      all += text;
    }
    CAPTURE(all);
    CHECK(control.state(kStart) == row.state);
  }
}

TEST_CASE("a client that is not heard of is taken for dead") {
  BoincControl control(kStart);
  CHECK(control.state(after(30)) == running);
  CHECK(control.state(after(30.1)) == quitting);

  control.take_heartbeat(after(20));
  CHECK(control.state(after(50)) == running);
  control.take(parse_process_orders("<suspend/>"), after(40));
  CHECK(control.state(after(70)) == suspended);
  CHECK(control.state(after(70.1)) == quitting);
}

TEST_CASE("a client that is gone ends the task") {
  BoincControl control(kStart);
  control.client_is_gone();
  CHECK(control.state(kStart) == quitting);
}

}  // namespace quorate::worker
