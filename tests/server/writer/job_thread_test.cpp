#include "server/writer/job_thread.h"

#include <chrono>
#include <future>
#include <memory>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

namespace quorate {

TEST_CASE("jobs run in their order, on another thread") {
  std::vector<int> seen;
  std::promise<std::thread::id> where;
  JobThread thread;
  for (int i = 0; i < 3; ++i) thread.post([&seen, i] { seen.push_back(i); });
  thread.post([&] { where.set_value(std::this_thread::get_id()); });
  CHECK(where.get_future().get() != std::this_thread::get_id());
  CHECK(seen == std::vector<int>{0, 1, 2});
}

TEST_CASE("the end waits for the job under way, and drops the rest") {
  bool is_ended = false;
  bool has_run = false;
  auto owned = std::make_shared<int>(0);
  std::promise<void> begun;
  {
    JobThread thread;
    thread.post([&] {
      begun.set_value();
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      is_ended = true;
    });
    thread.post([&has_run, owned] { has_run = true; });
    begun.get_future().wait();
  }
  CHECK(is_ended);
  CHECK_FALSE(has_run);
  CHECK(owned.use_count() == 1);
}

TEST_CASE("what is posted after the end is dropped") {
  bool has_run = false;
  JobThread thread;
  thread.stop();
  thread.post([&] { has_run = true; });
  thread.stop();  // again: nothing is left to do
  CHECK_FALSE(has_run);
}

}  // namespace quorate
