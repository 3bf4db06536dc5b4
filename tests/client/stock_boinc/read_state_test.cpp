#include "client/stock_boinc/gui_rpc/read_state.h"

#include <cmath>
#include <cstring>

#include <doctest/doctest.h>

namespace quorate::client {
namespace {

// A client with one project and one task, as libboinc gives it.
struct Client {
  Owned<CC_STATE> state;

  Client() {
    state.projects.push_back(new PROJECT);
    state.apps.push_back(new APP);
    state.results.push_back(new RESULT);
    std::strcpy(project().master_url, "https://example.org/boinc/");
    project().project_name = "Sample";
    app().project = &project();
    std::strcpy(app().name, "quorate");
    task().project = &project();
    std::strcpy(task().name, "r1");
  }
  PROJECT& project() { return *state.projects[0]; }
  APP& app() { return *state.apps[0]; }
  RESULT& task() { return *state.results[0]; }

  StockProject read() { return read_projects(state).at(0); }
};

TEST_CASE("a project with its app and its task") {
  Client client;
  client.project().hostid = 7;
  client.project().host_total_credit = 1.5;
  client.project().user_total_credit = 4.25;
  client.project().user_name = "ada";
  client.project().master_fetch_failures = 2;
  client.project().min_rpc_time = 1.7e9;
  const StockProject project = client.read();
  CHECK(project.url == "https://example.org/boinc/");
  CHECK(project.name == "Sample");
  CHECK(project.user_name == "ada");
  CHECK(project.host == 7);
  CHECK(project.host_credit == 1.5);
  CHECK(project.user_credit == 4.25);
  CHECK(project.failures == 2);
  CHECK(project.next_contact == 1'700'000'000);
  CHECK(project.apps == std::vector<std::string>{"quorate"});
  REQUIRE(project.tasks.size() == 1);
  CHECK(project.tasks[0].name == "r1");
  // Without an answer of the project, as the client's own messages have it.
  client.project().project_name = "";
  CHECK(client.read().name == "https://example.org/boinc/");
}

TEST_CASE("the state of a task") {
  struct Case {
    int state;
    bool is_active;
    int process;
    double elapsed;
    bool is_suspended;
    StockTaskState expected;
  };
  constexpr int kGone = PROCESS_UNINITIALIZED;
  for (const Case& c : {
           Case{RESULT_NEW, false, kGone, 0, false,
                StockTaskState::downloading},
           Case{RESULT_FILES_DOWNLOADING, false, kGone, 0, false,
                StockTaskState::downloading},
           Case{RESULT_FILES_DOWNLOADED, false, kGone, 0, false,
                StockTaskState::ready},
           Case{RESULT_FILES_DOWNLOADED, false, kGone, 0, true,
                StockTaskState::suspended},
           Case{RESULT_FILES_DOWNLOADED, true, PROCESS_EXECUTING, 9, false,
                StockTaskState::running},
           Case{RESULT_FILES_DOWNLOADED, true, PROCESS_SUSPENDED, 9, false,
                StockTaskState::suspended},
           Case{RESULT_FILES_DOWNLOADED, true, kGone, 0, false,
                StockTaskState::ready},
           Case{RESULT_COMPUTE_ERROR, false, kGone, 0, false,
                StockTaskState::failed},
           Case{RESULT_FILES_UPLOADING, false, kGone, 0, false,
                StockTaskState::uploading},
           Case{RESULT_FILES_UPLOADED, false, kGone, 0, false,
                StockTaskState::uploaded},
           Case{RESULT_ABORTED, false, kGone, 0, false,
                StockTaskState::aborted},
           Case{RESULT_UPLOAD_FAILED, false, kGone, 0, false,
                StockTaskState::failed},
       }) {
    CAPTURE(c.state);
    CAPTURE(c.process);
    Client client;
    client.task().state = c.state;
    client.task().active_task = c.is_active;
    client.task().active_task_state = c.process;
    client.task().elapsed_time = c.elapsed;
    client.task().suspended_via_gui = c.is_suspended;
    CHECK(client.read().tasks[0].state == c.expected);
  }
}

TEST_CASE("how far a task is, and what it waits for") {
  Client client;
  RESULT& task = client.task();
  task.state = RESULT_FILES_DOWNLOADED;
  task.fraction_done = 1.5;
  task.elapsed_time = 9;
  task.final_elapsed_time = 12;
  task.scheduler_wait = true;
  std::strcpy(task.scheduler_wait_reason, "waiting for memory");
  CHECK(client.read().tasks[0].fraction_done == 1);
  CHECK(client.read().tasks[0].elapsed_seconds == 9);
  CHECK(client.read().tasks[0].why == "waiting for memory");
  task.state = RESULT_FILES_UPLOADED;
  task.fraction_done = std::nan("");
  CHECK(client.read().tasks[0].fraction_done == 0);
  CHECK(client.read().tasks[0].elapsed_seconds == 12);
}

TEST_CASE("transfers and messages come to their projects, plain") {
  Client client;
  std::vector<StockProject> projects = read_projects(client.state);
  Owned<FILE_TRANSFERS> transfers;
  for (const char* url : {"https://example.org/boinc/", "https://x.org/"}) {
    transfers.file_transfers.push_back(new FILE_TRANSFER);
    FILE_TRANSFER& transfer = *transfers.file_transfers.back();
    transfer.project_url = url;
    transfer.name = "r1\x1b[2J_update";
    transfer.is_upload = true;
    transfer.nbytes = 100;
    transfer.bytes_xferred = 40;
    transfer.num_retries = 2;
    transfer.next_request_time = 1e300;
  }
  add_transfers(projects, transfers);
  REQUIRE(projects[0].transfers.size() == 1);
  const StockTransfer& transfer = projects[0].transfers[0];
  CHECK(transfer.file == "r1?[2J_update");
  CHECK(transfer.is_upload);
  CHECK(transfer.bytes == 100);
  CHECK(transfer.moved == 40);
  CHECK(transfer.failures == 2);
  CHECK(transfer.next_try == 0);

  Owned<MESSAGES> messages;
  for (const char* about : {"Sample", "", "https://example.org/boinc/"}) {
    messages.messages.push_back(new MESSAGE);
    MESSAGE& message = *messages.messages.back();
    message.project = about;
    message.seqno = 5;
    message.timestamp = 1'700'000'000;
    message.priority = *about == 'S' ? MSG_USER_ALERT : MSG_INFO;
    message.body = "two\nlines\x07\n";
  }
  messages.messages.back()->body = std::string(600, 'x');
  add_messages(projects, messages);
  REQUIRE(projects[0].messages.size() == 2);
  CHECK(projects[0].messages[0].text == "two lines?");
  CHECK(projects[0].messages[0].is_alert);
  CHECK(projects[0].messages[0].number == 5);
  CHECK(projects[0].messages[0].time == 1'700'000'000);
  CHECK_FALSE(projects[0].messages[1].is_alert);
  CHECK(projects[0].messages[1].text.size() == 500);
}

}  // namespace
}  // namespace quorate::client
