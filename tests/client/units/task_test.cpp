#include "client/units/task.h"

#include <doctest/doctest.h>

namespace quorate::client {
namespace {

// Where nothing keeps a task from going on.
Situation free_way() {
  Situation situation;
  situation.is_worker_free = true;
  situation.now = Instant(Seconds(100));
  situation.unix_ms = 1000;
  return situation;
}

Task in_state(TaskState state) {
  Task task;
  task.state = state;
  task.reported = 1000;
  return task;
}

TEST_CASE("what comes next in every state") {
  struct Row {
    TaskState state;
    Step free;       // nothing in the way
    Step no_worker;  // all workers are busy
    Step paused;
    Step cancelled;
  };
  const Row table[] = {
      {TaskState::needs_files, Step::fetch, Step::fetch, Step::wait,
       Step::remove},
      {TaskState::ready, Step::start, Step::wait, Step::wait, Step::remove},
      {TaskState::computing, Step::wait, Step::wait, Step::stop, Step::stop},
      {TaskState::computed, Step::sign, Step::sign, Step::sign, Step::remove},
      {TaskState::uploading, Step::upload, Step::upload, Step::upload,
       Step::remove},
      {TaskState::reporting, Step::report, Step::report, Step::report,
       Step::remove},
      {TaskState::reported, Step::wait, Step::wait, Step::wait, Step::remove},
      {TaskState::failed, Step::wait, Step::wait, Step::wait, Step::remove},
      {TaskState::closed, Step::remove, Step::remove, Step::remove,
       Step::remove},
  };
  for (const Row& row : table) {
    CAPTURE(name_of(row.state));
    Task task = in_state(row.state);
    Situation situation = free_way();
    CHECK(next(task, situation) == row.free);
    situation.is_worker_free = false;
    CHECK(next(task, situation) == row.no_worker);
    situation = free_way();
    situation.is_paused = true;
    CHECK(next(task, situation) == row.paused);
    task.is_cancelled = true;
    CHECK(next(task, free_way()) == row.cancelled);
  }
}

TEST_CASE("a busy task waits, whatever happens to it") {
  Task task = in_state(TaskState::uploading);
  task.is_busy = true;
  task.is_cancelled = true;
  CHECK(next(task, free_way()) == Step::wait);
}

TEST_CASE("a worker is told to stop when the unit's time is over") {
  Task task = in_state(TaskState::computing);
  Situation situation = free_way();
  task.started = situation.now - Seconds(50);
  CHECK(next(task, situation) == Step::wait);  // any time
  task.most_time = Seconds(60);
  CHECK(next(task, situation) == Step::wait);
  task.computed = Seconds(11);  // before a pause
  CHECK(next(task, situation) == Step::stop);
}

TEST_CASE("a worker is told to stop once") {
  Task task = in_state(TaskState::computing);
  task.is_cancelled = true;
  task.is_stopping = true;
  CHECK(next(task, free_way()) == Step::wait);
}

TEST_CASE("a failed step is tried again when its time has come") {
  Task task = in_state(TaskState::uploading);
  Situation situation = free_way();
  task.retry_at = situation.now + Seconds(1);
  CHECK(next(task, situation) == Step::wait);
  situation.now += Seconds(1);
  CHECK(next(task, situation) == Step::upload);
}

TEST_CASE("a reported result that nobody closes is forgotten after a day") {
  Task task = in_state(TaskState::reported);
  Situation situation = free_way();
  situation.unix_ms = task.reported + 86400 * 1000;
  CHECK(next(task, situation) == Step::wait);
  situation.unix_ms += 1;
  CHECK(next(task, situation) == Step::remove);
}

}  // namespace
}  // namespace quorate::client
