#include "client/units/state_file.h"

#include <doctest/doctest.h>

#include "base/error.h"
#include "tests/support/samples.h"
#include "tests/support/temporary_folder.h"

namespace quorate::client {
namespace {

using test::filled;

Task sample(ResultId id, TaskState state) {
  Task task;
  task.assignment.result = id;
  task.assignment.nonce = filled<Nonce>(5);
  task.assignment.objects = {{ObjectKind::workunit, filled<Hash>(1), 10},
                             {ObjectKind::shard, filled<Hash>(2), 20}};
  task.assignment.exchange = {filled<Hash>(6), filled<Hash>(7),
                              filled<Hash>(8)};
  task.assignment.lease = Seconds(120);
  task.state = state;
  task.failure = "why \xff not";  // not UTF-8
  task.reported = 77;
  return task;
}

AgentState sample_state() {
  AgentState state;
  state.tasks = {sample(1, TaskState::computing),
                 sample(2, TaskState::uploading),
                 sample(3, TaskState::reported)};
  state.counters = {9, 7, 2, 1, 3};
  return state;
}

TEST_CASE("what was saved is read again") {
  AgentState back = parse_state(write_state(sample_state()));
  REQUIRE(back.tasks.size() == 3);
  // Unsigned work begins with its files, which may be there.
  CHECK(back.tasks[0].state == TaskState::needs_files);
  CHECK(back.tasks[1].state == TaskState::uploading);
  CHECK(back.tasks[2].state == TaskState::reported);
  CHECK(back.tasks[1].assignment.objects ==
        sample_state().tasks[1].assignment.objects);
  CHECK(back.tasks[1].assignment.exchange ==
        sample_state().tasks[1].assignment.exchange);
  CHECK(back.tasks[1].assignment.nonce == filled<Nonce>(5));
  CHECK(back.tasks[2].reported == 77);
  CHECK(back.counters.accepted == 7);
  CHECK(back.counters.failed == 3);
}

TEST_CASE("a report that hung on its session is uploaded again") {
  AgentState state;
  state.tasks = {sample(1, TaskState::reporting),
                 sample(2, TaskState::reporting)};
  state.tasks[0].upload_session = "token";
  AgentState back = parse_state(write_state(state));
  CHECK(back.tasks[0].state == TaskState::uploading);
  CHECK(back.tasks[1].state == TaskState::reporting);
}

TEST_CASE("a file cut anywhere is damaged, and an agent starts without it") {
  std::string text = write_state(sample_state());
  for (std::size_t size = 0; size < text.size(); ++size) {
    CAPTURE(size);
    CHECK_THROWS_AS(parse_state(text.substr(0, size)), Error);
  }
  test::TemporaryFolder folder;
  write_file_durably(folder / "state.json",
                     as_bytes(text.substr(0, text.size() / 2)));
  CHECK(StateFile(folder / "state.json").load().tasks.empty());
  CHECK(fs::exists(folder / "state.json.damaged"));
}

TEST_CASE("states that are no states are refused") {
  for (const char* text :
       {"[]", "{}", "{\"version\":2,\"counters\":{},\"tasks\":[]}",
        "{\"version\":1,\"counters\":{},\"tasks\":[]}",
        // The fuzzer's: no whole number is that large.
        "{\"version\":1,\"counters\":{\"reported\":1e43},\"tasks\":[]}"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(parse_state(text), Error);
  }
}

TEST_CASE("one damaged task does not cost the others") {
  std::string text = write_state(sample_state());
  const std::string state = "\"uploading\"";
  text.replace(text.find(state), state.size(), "\"asleep\"");
  AgentState back = parse_state(text);
  REQUIRE(back.tasks.size() == 2);
  CHECK(back.tasks[0].id() == 1);
  CHECK(back.tasks[1].id() == 3);
  CHECK(back.counters.accepted == 7);
}

TEST_CASE("only what has changed is written") {
  test::TemporaryFolder folder;
  fs::path path = folder / "state.json";
  StateFile file(path);
  AgentState state = sample_state();
  file.save(state);
  fs::remove(path);

  state.tasks[0].step = 3;  // progress is not kept
  file.save(state);
  CHECK_FALSE(fs::exists(path));

  ++state.counters.reported;
  file.save(state);
  CHECK(StateFile(path).load().counters.reported == 10);
}

TEST_CASE("an activity is read as it was written, or not at all") {
  test::TemporaryFolder folder;
  fs::path path = folder / "activity.json";
  CHECK(read_activity(path).pid == 0);
  Activity activity;
  activity.pid = 4711;
  activity.rest = "battery";
  activity.why = "on battery";
  activity.sent = 12;
  activity.is_away = true;
  activity.is_refused = true;
  activity.no_work = "none";
  activity.site = SiteActivity{"aa", {"10.0.0.1"}, 8471, 1, 2, 3, {}};
  activity.site->mates.push_back({"attic", "10.0.0.2", 2, "ok", ""});
  activity.devices = {"cuda:0", "cpu:avx2"};
  activity.gpu_percent = 40;
  activity.tasks = {{7, "computing", 3, 20, false, false, "cuda:0"}};
  write_activity(path, activity);
  Activity back = read_activity(path);
  CHECK(back.pid == 4711);
  CHECK(back.rest == "battery");
  CHECK(back.why == "on battery");
  CHECK(back.sent == 12);
  CHECK(back.is_away);
  CHECK(back.is_refused);
  CHECK(back.no_work == "none");
  REQUIRE(back.tasks.size() == 1);
  CHECK(back.tasks[0].step == 3);
  CHECK(back.tasks[0].device == "cuda:0");
  CHECK(back.devices == activity.devices);
  CHECK(back.gpu_percent == 40);
  REQUIRE(back.site);
  CHECK(back.site->bytes_given == 1);
  REQUIRE(back.site->mates.size() == 1);
  CHECK(back.site->mates[0].name == "attic");
}

}  // namespace
}  // namespace quorate::client
