#include "client/status/status_text.h"

#include <doctest/doctest.h>

#include "client/folder/local_time.h"
#include "tests/client/fake_server.h"
#include "tests/support/temporary_folder.h"

namespace quorate::client {
namespace {

ProjectStatus running() {
  ProjectStatus status;
  status.activity.pid = 7;
  status.activity.devices = {"cpu"};
  status.activity.threads = 1;
  return status;
}

bool has(const std::string& text, const std::string& part) {
  CAPTURE(text);
  return text.find(part) != std::string::npos;
}

TEST_CASE("the headline says what the agent is at") {
  CHECK(headline(ProjectStatus{}) == "no agent is running");
  ProjectStatus status = running();
  CHECK(headline(status) == "at work");
  status.activity.no_work = "no work";
  CHECK(headline(status) == "waiting for work");
  status.activity.is_away = true;
  CHECK(headline(status) == "project cannot be reached");
  status.activity.why = "on battery";
  CHECK(headline(status) == "resting");
  status = running();
  status.activity.is_refused = true;
  CHECK(headline(status) == "refused by the project");
  status = running();
  status.activity.devices.clear();
  CHECK(headline(status) == "starting");

  Status whole;
  CHECK(headline(whole) == "no agent is running");
  whole.is_waiting = true;
  CHECK(headline(whole) == "waiting for a project");
  CHECK(status_text(whole) ==
        "no project yet, and a client waits for one: quorate-client attach "
        "URL\n");
  whole.projects = {ProjectStatus{}, running()};
  CHECK(headline(whole) == "at work");
}

TEST_CASE("devices in words, and how much of them") {
  CHECK(devices_text({}) == "");
  CHECK(devices_text({"cuda:0", "cpu:avx2", "cpu:avx2"}) ==
        "cuda:0, 2 x cpu:avx2");
  Activity activity;
  CHECK(computing_text(activity) == "(starting)");
  activity.threads = 3;
  activity.cpu_percent = 70;
  activity.gpu_percent = 40;
  activity.devices = {"cpu:avx2"};
  CHECK(computing_text(activity) ==
        "cpu:avx2, 3 threads a task, 70 % of the time");
  activity.devices = {"opencl:0", "cuda:1"};
  CHECK(computing_text(activity) == "opencl:0, cuda:1; GPU 40 % of the time");
  activity.devices.push_back("cpu:avx2");
  CHECK(computing_text(activity) ==
        "opencl:0, cuda:1, cpu:avx2, 3 threads a task, 70 % of the time; GPU "
        "40 % of the time");
}

TEST_CASE("a task in words, with and without an agent") {
  TaskActivity task{1, "computing", 5, 20};
  CHECK(task_text(task, true) == "computing, step 5 of 20 (25 %)");
  task.device = "cuda:0";
  CHECK(task_text(task, true) == "computing on cuda:0, step 5 of 20 (25 %)");
  task = {1, "needs_files", 0, 0, true};
  CHECK(task_text(task, true) == "downloading");
  task = {1, "needs_files", 63, 100, false, true};
  CHECK(task_text(task, false) == "step 63 of 100, kept");
  task.steps = 0;
  CHECK(task_text(task, false) == "begun, kept");
  task.is_kept = false;
  CHECK(task_text(task, false) == "not begun");
  task.state = "uploading";
  CHECK(task_text(task, false) == "computed, not sent");
  task.state = "reported";
  CHECK(task_text(task, false) == "reported, not yet judged");
}

TEST_CASE("a status tells of waiting, of errors, and as of when") {
  Status status;
  status.projects = {running()};
  status.projects[0].activity.no_work = "no work at this project now";
  status.projects[0].standing.asked = 1'700'000'000'000;
  status.projects[0].standing.reply.errors = 4;
  std::string text = status_text(status);
  CHECK(has(text, "waits: no work at this project now\n"));
  CHECK(has(text, "cpu, 1 thread a task"));
  CHECK(has(text, "as of " + clock_text(1'700'000'000'000)));
  CHECK(has(text, "4 too late or failed"));
}

TEST_CASE("what is said at the end counts what was done and what is kept") {
  std::vector<Task> tasks(3);
  tasks[0].state = TaskState::uploading;
  tasks[1].state = TaskState::ready;
  tasks[2].state = TaskState::reported;
  CHECK(farewell_text(23, tasks) ==
        "stopped: 23 results reported, 2 kept here; quorate-client run goes "
        "on with them");
  CHECK(farewell_text(1, {}) == "stopped: 1 result reported, 0 kept here");
}

struct Attached {
  test::TemporaryFolder root;
  DataFolder folder{root.path()};
  Project project = test::FakeServer().project();
  fs::path place = folder.project_folder(project.id);

  Attached() { folder.add_project(project); }
};

TEST_CASE_FIXTURE(Attached, "steps of a stopped agent are remembered") {
  AgentState state;
  state.tasks.resize(1);
  state.tasks[0].assignment.result = 9;
  StateFile(place / "state.json").save(state);
  Activity last;
  last.tasks = {{9, "computing", 63, 100}};
  write_activity(place / "activity.json", last);
  CHECK(has(status_text(read_status(folder, 0)), "result 9: not begun"));
  fs::create_directories(place / "results/9");
  write_file_durably(place / "results/9/checkpoint", as_bytes("x"));
  CHECK(has(status_text(read_status(folder, 0)),
            "result 9: step 63 of 100, kept"));
  CHECK(unfinished_results(folder, project.id) == 1);
}

TEST_CASE_FIXTURE(Attached, "books that are damaged do not hide the rest") {
  write_file_durably(place / "state.json", as_bytes("{"));
  std::string text = status_text(read_status(folder, 0));
  CHECK(has(text, "trouble: " + (place / "state.json").string()));
  CHECK(has(text, "is damaged: the next run"));
  CHECK(has(text, "fingerprint " + fingerprint(project.id)));
  CHECK_FALSE(has(text, "json.exception"));
  CHECK(has(status_json(read_status(folder, 0)), "\"state_trouble\": \"/"));
  CHECK(unfinished_results(folder, project.id) == 0);
}

}  // namespace
}  // namespace quorate::client
