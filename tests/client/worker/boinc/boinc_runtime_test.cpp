#include "client/worker/boinc/boinc_runtime.h"

#include <future>

#include <doctest/doctest.h>

#include "client/worker/boinc/boinc_slot.h"
#include "client/worker/units/unit_runner.h"
#include "kernels/devices/backends.h"
#include "tests/client/worker/boinc/boinc_files.h"
#include "tests/client/worker/unit_files.h"

namespace quorate::worker {
namespace {

// A task in its slot, and the client.
struct Fixture {
  BoincFiles files;
  BoincSlot slot{files.folder()};
  BoincChannels channels{slot.channels()};
  BoincChannels client{slot.channels()};
  SystemClock clock;

  void order(std::string_view text) {
    until([&] { return client.send(BoincChannel::orders, text); });
  }
  // Waits for what another thread does.
  template <class Condition>
  void until(Condition is_so) {
    Instant end = clock.now() + Seconds(20);
    while (!is_so()) {
      REQUIRE(clock.now() < end);
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }
  std::string next_status() {
    std::optional<std::string> status;
    until([&] { return (status = client.receive(BoincChannel::status)); });
    return *status;
  }
};

double value_in(const std::string& status, const std::string& element) {
  std::size_t at = status.find("<" + element + ">");
  REQUIRE(at != std::string::npos);
  return std::stod(status.substr(at + element.size() + 2));
}

}  // namespace

TEST_CASE("the client is told how far the task is") {
  Fixture task;
  BoincRuntime runtime(task.slot.init_data(), task.channels, task.clock);
  std::string first = task.next_status();
  CHECK(value_in(first, "fraction_done") == 0);
  // What earlier starts spent counts.
  CHECK(value_in(first, "current_cpu_time") >= 100);
  CHECK(value_in(first, "checkpoint_cpu_time") == 100);

  runtime.step_done(3, 12);
  CHECK_FALSE(runtime.should_stop());
  task.until(
      [&] { return value_in(task.next_status(), "fraction_done") == 0.25; });
  CHECK(runtime.is_checkpoint_due());
  runtime.step_done(6, 12);
  task.until([&] {
    std::string status = task.next_status();
    return value_in(status, "checkpoint_cpu_time") > 100 &&
           value_in(status, "fraction_done") == 0.5;
  });
}

TEST_CASE("a suspended task waits, and goes on when told to") {
  Fixture task;
  BoincRuntime runtime(task.slot.init_data(), task.channels, task.clock);
  task.order("<suspend/>");
  task.until([&] { return runtime.state() == BoincState::suspended; });
  auto step = std::async(std::launch::async, [&] {
    runtime.step_done(1, 2);
    return runtime.should_stop();
  });
  CHECK(step.wait_for(std::chrono::milliseconds(300)) ==
        std::future_status::timeout);
  // It is still heard and seen meanwhile.
  task.until(
      [&] { return value_in(task.next_status(), "fraction_done") == 0.5; });
  task.order("<resume/>");
  CHECK_FALSE(step.get());
}

TEST_CASE("a suspended task can be told to end") {
  for (auto [order, state] : {std::pair{"<quit/>", BoincState::quitting},
                              std::pair{"<abort/>", BoincState::aborted}}) {
    Fixture task;
    BoincRuntime runtime(task.slot.init_data(), task.channels, task.clock);
    task.order("<suspend/>");
    task.until([&] { return runtime.state() == BoincState::suspended; });
    auto stops =
        std::async(std::launch::async, [&] { return runtime.should_stop(); });
    task.order(order);
    CHECK(stops.get());
    CHECK(runtime.state() == state);
  }
}

TEST_CASE("checkpoints come as often as the owner wishes") {
  Fixture task;
  boinc::InitData data = task.slot.init_data();
  data.checkpoint_period = Seconds(60);
  ManualClock clock;
  BoincRuntime runtime(data, task.channels, clock);
  CHECK_FALSE(runtime.is_checkpoint_due());
}

TEST_CASE("a unit that is quit goes on in the next start, to the same claim") {
  // Long enough that an order comes before its end on a busy machine, too.
  UnitFiles unit({64, 25600, 1600, 16, 0.01F});
  auto backend = make_backend("reference");
  SystemClock clock;
  ScriptedJob alone;
  Claim expected =
      std::get<protocol::ComputeDone>(
          UnitRunner(*backend, clock).compute(unit.request(1, "alone"), alone))
          .claim;

  Fixture task;
  auto request = unit.request(2, "resumed");
  // One start of the task; `watch` is called again and again meanwhile.
  auto reply_of_start = [&](auto watch) {
    BoincRuntime runtime(task.slot.init_data(), task.channels, task.clock);
    auto reply = std::async(std::launch::async, [&] {
      return UnitRunner(*backend, clock).compute(request, runtime);
    });
    while (reply.wait_for(std::chrono::milliseconds(5)) !=
           std::future_status::ready) {
      task.client.send(BoincChannel::heartbeat, "<heartbeat/>");
      watch();
    }
    return reply.get();
  };
  auto stopped = reply_of_start([&] {
    if (fs::exists(request.checkpoint)) {
      task.client.send(BoincChannel::orders, "<quit/>");
    }
  });
  CHECK(std::holds_alternative<protocol::WorkerStopped>(stopped));
  REQUIRE(fs::exists(request.checkpoint));
  // The last order may have come after the end.
  (void)task.channels.receive(BoincChannel::orders);
  auto done = std::get<protocol::ComputeDone>(reply_of_start([] {}));
  CHECK(done.claim == expected);
  CHECK(done.steps < 1600);
}

}  // namespace quorate::worker
