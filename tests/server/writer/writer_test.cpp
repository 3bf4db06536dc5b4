#include "server/writer/writer.h"

#include <cstdlib>
#include <future>
#include <iostream>

#include <doctest/doctest.h>

#include "base/error.h"

namespace quorate {
namespace {

class Log {
 public:
  void add(const std::string& what) {
    std::lock_guard lock(mutex_);
    lines_.push_back(what);
  }
  std::vector<std::string> lines() const {
    std::lock_guard lock(mutex_);
    return lines_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> lines_;
};

void ignore_fatal(const std::string&) {}

User user(std::uint8_t fill) {
  User one;
  one.key.bytes.fill(fill);
  one.name = "user";
  return one;
}

// A writer that runs, on a store in memory.
struct Running {
  Running() { writer.start(); }
  ~Running() { writer.stop(); }

  SystemClock clock;
  std::unique_ptr<Store> store = open_memory_store();
  Writer writer{*store, clock, ignore_fatal};
};

}  // namespace

TEST_CASE("jobs that wait together run in order, then all their effects") {
  Running running;
  Log log;
  std::promise<void> all_posted;
  std::shared_future<void> gate = all_posted.get_future().share();
  running.writer.post([gate] { gate.wait(); });
  for (const char* name : {"1", "2", "3"}) {
    running.writer.post([&, name] {
      log.add(std::string("job ") + name);
      running.writer.after_commit(
          [&log, name] { log.add(std::string("effect ") + name); });
    });
  }
  all_posted.set_value();
  running.writer.run([] {});
  CHECK(log.lines() == std::vector<std::string>{"job 1", "job 2", "job 3",
                                                "effect 1", "effect 2",
                                                "effect 3"});
}

TEST_CASE("what was posted while a job took long has not run") {
  ManualClock clock;
  std::unique_ptr<Store> store = open_memory_store();
  Writer writer(*store, clock, ignore_fatal);
  const Instant begin = clock.now();
  std::vector<Instant> heard;
  auto look = [&] {
    writer.run([&] { heard.push_back(writer.heard_until()); });
  };
  look();
  writer.start();
  writer.run([&] { clock.advance(Seconds(1)); });
  writer.run([&] { clock.advance(Seconds(60)); });
  look();  // what waited meanwhile comes with this
  look();
  writer.stop();
  look();
  const Instant taken = begin + Seconds(1);
  const Instant end = taken + Seconds(60);
  CHECK(heard == std::vector<Instant>{begin, taken, end, end});
}

TEST_CASE("what a transaction refers to is durable before it") {
  SystemClock clock;
  std::unique_ptr<Store> store = open_memory_store();
  Log log;
  Writer writer(*store, clock, ignore_fatal, [&] { log.add("synced"); });
  writer.run([&] {
    log.add("job");
    writer.after_commit([&] { log.add("effect"); });
  });
  CHECK(log.lines() == std::vector<std::string>{"job", "synced", "effect"});
}

TEST_CASE("a transaction whose objects cannot be made durable is undone") {
  SystemClock clock;
  std::unique_ptr<Store> store = open_memory_store();
  bool is_full = true;
  Writer writer(*store, clock, ignore_fatal, [&] {
    if (is_full) throw Error(ErrorKind::io, "disk full");
  });
  std::size_t before = store->users().size();
  bool is_told = false;
  CHECK_THROWS_AS(writer.run([&] {
    store->insert_user(user(3));
    writer.after_commit([&] { is_told = true; });
  }),
                  Error);
  CHECK(store->users().size() == before);
  is_full = false;
  writer.run([] {});
  CHECK_FALSE(is_told);
}

TEST_CASE("an effect sees its job's changes committed") {
  Running running;
  std::promise<bool> could_begin;
  running.writer.post([&] {
    running.store->insert_user(user(3));
    running.writer.after_commit([&] {
      // A store with an open transaction would refuse another.
      running.store->begin();
      bool is_there = running.store->user_by_key(user(3).key).has_value();
      running.store->commit();
      could_begin.set_value(is_there);
    });
  });
  CHECK(could_begin.get_future().get());
}

TEST_CASE("run() waits for its job when the writer runs, else does it itself") {
  SystemClock clock;
  auto store = open_memory_store();
  Writer writer(*store, clock, ignore_fatal);
  std::thread::id thread;
  auto where = [&] { thread = std::this_thread::get_id(); };
  writer.run(where);
  CHECK(thread == std::this_thread::get_id());
  writer.start();
  writer.run(where);
  CHECK(thread != std::this_thread::get_id());
  writer.stop();
  writer.run(where);
  CHECK(thread == std::this_thread::get_id());
}

TEST_CASE(
    "what a job of run() throws reaches the caller, and the writer lives") {
  SystemClock clock;
  auto store = open_memory_store();
  Writer writer(*store, clock, ignore_fatal);
  auto failing = [] { throw Error(ErrorKind::usage, "no such run"); };
  CHECK_THROWS_WITH_AS(writer.run(failing), "no such run", Error);
  writer.start();
  CHECK_THROWS_WITH_AS(writer.run(failing), "no such run", Error);
  bool ran = false;
  writer.run([&] { ran = true; });
  CHECK(ran);
}

TEST_CASE("stop() runs what was posted") {
  SystemClock clock;
  auto store = open_memory_store();
  int ran = 0;
  {
    Writer writer(*store, clock, ignore_fatal);
    writer.start();
    for (int i = 0; i < 100; ++i) writer.post([&] { ++ran; });
  }
  CHECK(ran == 100);
}

TEST_CASE("run() beside stop() is done, by one thread or the other") {
  SystemClock clock;
  auto store = open_memory_store();
  Writer writer(*store, clock, ignore_fatal);
  for (int round = 0; round < 300; ++round) {
    writer.start();
    bool ran = false;
    std::future<void> other = std::async(
        std::launch::async, [&] { writer.run([&] { ran = true; }); });
    writer.stop();
    if (other.wait_for(std::chrono::seconds(60)) != std::future_status::ready) {
      FAIL_CHECK("nobody ran the job");
      std::cout.flush();
      std::quick_exit(1);  // the future would wait for it for ever
    }
    CHECK(ran);
  }
}

TEST_CASE("a writer can be started again after it was stopped") {
  SystemClock clock;
  auto store = open_memory_store();
  Writer writer(*store, clock, ignore_fatal);
  for (int round = 0; round < 2; ++round) {
    writer.start();
    bool ran = false;
    writer.run([&] { ran = true; });
    CHECK(ran);
    writer.stop();
  }
}

TEST_CASE("timed jobs run when the clock has come to them, in order") {
  ManualClock clock;
  auto store = open_memory_store();
  Writer writer(*store, clock, ignore_fatal);
  Log log;
  Instant start = clock.now();
  writer.post_at(start + Seconds(3600), [&] { log.add("hour"); });
  writer.post_at(start + Seconds(60), [&] { log.add("minute, first"); });
  writer.post_at(start + Seconds(60), [&] { log.add("minute, second"); });
  writer.start();
  writer.run([] {});
  CHECK(log.lines().empty());
  // The clock is read when something else wakes the writer: it waits in real
  // time, and no time passes on this clock by itself.
  writer.stop();
  clock.advance(Seconds(60));
  writer.start();
  writer.run([] {});
  CHECK(log.lines() ==
        std::vector<std::string>{"minute, first", "minute, second"});
}

TEST_CASE("an exception that leaves a job is fatal and is told once") {
  SystemClock clock;
  auto store = open_memory_store();
  std::promise<std::string> why;
  Writer writer(*store, clock,
                [&](const std::string& text) { why.set_value(text); });
  writer.start();
  bool effect_ran = false;
  writer.post([&] {
    store->insert_user(user(4));
    writer.after_commit([&] { effect_ran = true; });
    throw Error(ErrorKind::io, "disk full");
  });
  CHECK(why.get_future().get() == "disk full");
  writer.stop();
  CHECK_FALSE(effect_ran);
}

TEST_CASE("after a fatal failure nobody waits for the writer for ever") {
  SystemClock clock;
  auto store = open_memory_store();
  Writer writer(*store, clock, ignore_fatal);
  writer.start();
  std::promise<void> gate;
  std::shared_future<void> open = gate.get_future().share();
  writer.post([open] {
    open.wait();
    throw Error(ErrorKind::io, "disk full");
  });
  // One that waits already and one that comes later.
  auto waiting = std::async(std::launch::async, [&] { writer.run([] {}); });
  gate.set_value();
  CHECK_THROWS_AS(waiting.get(), Error);
  CHECK_THROWS_AS(writer.run([] {}), Error);
  bool ran = false;
  writer.post([&] { ran = true; });
  writer.stop();
  CHECK_FALSE(ran);
}

}  // namespace quorate
