// An agent with a fake server and a fake worker, run until something is true.
#pragma once

#include <atomic>
#include <functional>
#include <sstream>
#include <thread>

#include <doctest/doctest.h>

#include "client/agent/agent.h"
#include "tests/client/fake_server.h"
#include "tests/support/samples.h"
#include "tests/support/temporary_folder.h"

namespace quorate::test {

// The system's clock, as far as nobody sets it.
class SettableClock final : public Clock {
 public:
  Instant now() const override { return system_.now() + awake_.load(); }
  std::int64_t unix_ms() const override {
    return system_.unix_ms() + wall_ms_.load();
  }
  // The machine was suspended: only the time of day has gone on, as Linux has
  // it.
  void suspend(Seconds time) {
    wall_ms_ += static_cast<std::int64_t>(time.count() * 1000);
  }
  // Time has passed.
  void advance(Seconds time) {
    suspend(time);
    awake_ = awake_.load() + time;
  }

 private:
  SystemClock system_;
  std::atomic<std::int64_t> wall_ms_{0};
  std::atomic<Seconds> awake_{Seconds(0)};
};

class AgentFixture {
 public:
  FakeServer server;
  TemporaryFolder folder;
  std::atomic<bool> is_paused{false};
  std::atomic<bool> is_finishing{false};
  std::atomic<std::uint32_t> threads{1};
  std::atomic<std::uint64_t> disk_bytes{0};       // no limit
  std::atomic<Seconds> longest_unit{Seconds(0)};  // any
  SettableClock clock;
  Seconds worker_silence{600};
  Seconds stop_patience = client::kStopPatience;

  // What is found when the agent asks who the project is; empty: it does not.
  std::function<Bytes()> statement;

  PublicKey host() const { return identity_.host.public_key(); }

  // devices: what each fake worker does, "cpu" or several, "cpu,slow". Runs one
  // agent until `enough` (asked about every 5 ms on another thread), then tells
  // it to leave. Returns what it knew at its end. Fails the test after 20 s.
  client::AgentState run(const std::string& devices,
                         const std::function<bool()>& enough,
                         bool once = false) {
    client::AgentParts parts{
        project_,
        identity_,
        folder.path(),
        [this](const std::vector<int>&) { return orders(); },
        [this] { return server.connect(); },
        workers(devices),
        once,
        clock,
        nullptr,
        nullptr,
        {},
        {},
        stop_patience};
    if (statement) {
      parts.fetch_statement = [this](const std::stop_token&) {
        return statement();
      };
    }
    client::Agent agent(parts);
    std::atomic<bool> leave{false};
    std::jthread watcher([&](const std::stop_token& stop) {
      SystemClock real;
      Instant deadline = real.now() + Seconds(20);
      while (!stop.stop_requested() && !enough() && real.now() < deadline) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
      }
      CHECK(real.now() < deadline);
      leave = true;
    });
    agent.run([&leave] { return leave.load(); });
    return agent.state();
  }

  fs::path result_folder(ResultId result) const {
    return folder.path() / "results" / std::to_string(result);
  }

 private:
  std::vector<protocol::WorkerOptions> workers(
      const std::string& devices) const {
    std::vector<protocol::WorkerOptions> workers;
    std::istringstream names(devices);
    for (std::string name; std::getline(names, name, ',');) {
      workers.push_back({.program = QUORATE_FAKE_WORKER,
                         .device = name,
                         .silence = worker_silence});
    }
    return workers;
  }

  client::Orders orders() const {
    client::Orders orders;
    orders.threads = threads;
    orders.disk_bytes = disk_bytes;
    orders.longest_unit = longest_unit.load();
    orders.permission.takes_new_work = !is_finishing;
    if (is_paused) orders.permission = {client::Rest::paused, "paused"};
    return orders;
  }

  client::Project project_ = server.project();
  client::Identity identity_{project_.id, sample_key(2), sample_key(3),
                             "alice",     "attic",       "linux"};
};

}  // namespace quorate::test
