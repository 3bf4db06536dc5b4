#include "client/stock_boinc/text.h"

#include <set>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "client/folder/local_time.h"

namespace quorate::client {
namespace {

constexpr std::int64_t kTime = 1'700'000'000;

StockProject sample_project() {
  StockProject project;
  project.url = "https://example.org/boinc/";
  project.name = "Sample";
  project.user_name = "ada";
  project.host = 7;
  project.host_credit = 1.5;
  project.user_credit = 4.25;
  project.apps = {"quorate"};
  project.tasks = {{"r1", StockTaskState::running, 0.452, 73, ""},
                   {"r2", StockTaskState::ready, 0, 0, ""}};
  project.transfers = {{"r0_update", true, false, 3.4e6, 1.2e6, 3, kTime}};
  for (int i = 1; i <= 7; ++i) {
    project.messages.push_back(
        {10 + i, kTime, false, "message " + std::to_string(i)});
  }
  return project;
}

StockState sample_state() {
  StockState state;
  state.version = "7.20.5";
  state.projects = {sample_project(), StockProject{}};
  state.projects[1].url = "https://other.org/other/";
  state.projects[1].name = "Other";
  return state;
}

bool has(const std::string& text, const std::string& part) {
  CAPTURE(text);
  CAPTURE(part);
  return text.find(part) != std::string::npos;
}

TEST_CASE("why a client is suspended") {
  CHECK(suspension_text(0) == "");
  CHECK(suspension_text(1) == "the computer runs on battery");
  CHECK(suspension_text(2 | 1024) ==
        "the computer is in use, other programs keep the CPU busy");
  CHECK(suspension_text(4097) == "there is no WLAN");
  CHECK(suspension_text(1 << 20) == "the client's reason 1048576");
}

TEST_CASE("a task in words") {
  StockTask task;
  CHECK(task_text(task) == "waits for its turn");
  task.why = "waiting for memory";
  CHECK(task_text(task) == "waits for its turn (waiting for memory)");
  task = {"r1", StockTaskState::running, 0.452, 73, ""};
  CHECK(task_text(task) == "computing, 45.2 % after 1:13");
  task.state = StockTaskState::uploaded;
  task.fraction_done = 1;
  task.elapsed_seconds = 7273;
  CHECK(task_text(task) == "computed, waits to be reported, after 2:01:13");
  task.elapsed_seconds = 1e300;
  CHECK(has(task_text(task), "277777:46:40"));
}

TEST_CASE("a transfer in words") {
  StockTransfer transfer{"r0_update", true, true, 3.4e6, 1.2e6, 3, kTime};
  CHECK(transfer_text(transfer) == "upload r0_update: 1.2 of 3.4 MB");
  transfer.is_moving = false;
  CHECK(transfer_text(transfer) ==
        "upload r0_update: 1.2 of 3.4 MB, waits until " +
            clock_text(kTime * 1000) + ", failed 3 times");
  transfer.bytes = 3400;
  transfer.moved = 0;
  CHECK(has(transfer_text(transfer), ": 0.0 of 3.4 kB"));
  transfer.bytes = 3.4e6;
  transfer.moved = 1.2e6;
  transfer.is_upload = false;
  transfer.next_try = 0;
  transfer.failures = 0;
  CHECK(transfer_text(transfer) == "download r0_update: 1.2 of 3.4 MB, waits");
}

TEST_CASE("the status of a client, without projects of others") {
  StockState state = sample_state();
  const std::string time = clock_text(kTime * 1000);
  CHECK(stock_status_text(state, "127.0.0.1:31416") ==
        "BOINC client 7.20.5 at 127.0.0.1:31416\n"
        "Sample (https://example.org/boinc/)\n"
        "  ada, computer 7: credit 1.500 (all computers of this account: "
        "4.250)\n"
        "  task r1: computing, 45.2 % after 1:13\n"
        "  task r2: waits for its turn\n"
        "  upload r0_update: 1.2 of 3.4 MB, waits until " +
            time + ", failed 3 times\n  " + time +
            " the client says: message 3\n  " + time +
            " the client says: message 4\n  " + time +
            " the client says: message 5\n  " + time +
            " the client says: message 6\n  " + time +
            " the client says: message 7\n");
}

TEST_CASE("what keeps a client from working") {
  StockState state = sample_state();
  state.cpu_suspended = 4;
  state.gpu_suspended = 4;
  state.network_suspended = 4;
  state.projects[0].is_suspended = true;
  state.projects[0].takes_no_more_work = true;
  state.projects[0].failures = 1;
  state.projects[0].next_contact = kTime;
  const std::string text = stock_status_text(state, "x");
  CHECK(has(text, "  computing is suspended: somebody suspended it\n"));
  CHECK(has(text, "  the network is suspended: somebody suspended it\n"));
  CHECK_FALSE(has(text, "GPUs"));  // as the rest
  CHECK(has(text, "  suspended by hand in the client\n"));
  CHECK(has(text, "  takes no more tasks: somebody told the client so\n"));
  CHECK(
      has(text, "  after 1 failure in a row it contacts the project again at " +
                    clock_text(kTime * 1000) + "\n"));
  state.gpu_suspended = 2;
  CHECK(has(stock_status_text(state, "x"),
            "  GPUs are suspended: the computer is in use\n"));
  CHECK(has(next_text(state), "computing is suspended"));
}

TEST_CASE("a client without a project, and one that was not answered yet") {
  StockState state = sample_state();
  state.projects.erase(state.projects.begin());
  CHECK(has(stock_status_text(state, "x"), "quorate-client boinc attach URL"));
  state.projects[0].url = "http://127.0.0.1:1/boinc/";
  const std::string text = stock_status_text(state, "x");
  CHECK(has(text, "  the project has not answered yet\n"));
  CHECK(has(text, "  no task now\n"));
}

TEST_CASE("the status for programs") {
  StockState state = sample_state();
  state.cpu_suspended = 1;
  const auto json = nlohmann::json::parse(stock_status_json(state, "h:1"));
  CHECK(json["client"] == "7.20.5");
  CHECK(json["where"] == "h:1");
  CHECK(json["cpu_suspended"] == "the computer runs on battery");
  CHECK(json["network_suspended"] == "");
  REQUIRE(json["projects"].size() == 1);
  const auto& project = json["projects"][0];
  CHECK(project["name"] == "Sample");
  CHECK(project["host"] == 7);
  CHECK(project["credit"] == 1.5);
  CHECK(project["tasks"][0]["state"] == "running");
  CHECK(project["tasks"][0]["fraction_done"] == 0.452);
  CHECK(project["transfers"][0]["next_try"] == kTime);
  CHECK(project["messages"].size() == 7);
}

TEST_CASE("the first contact with a project") {
  using Step = FirstContact::Step;
  StockProject project = sample_project();
  CHECK(first_contact(&project, 0).step == Step::joined);
  CHECK(first_contact(nullptr, 0).step == Step::failed);
  project.host = 0;
  CHECK(first_contact(&project, 0).step == Step::waiting);
  // Of an earlier time at this project.
  project.messages.back().is_alert = true;
  CHECK(first_contact(&project, project.messages.back().number).step ==
        Step::waiting);
  const FirstContact refused = first_contact(&project, 0);
  CHECK(refused.step == Step::failed);
  CHECK(refused.why == "message 7");
  project.messages.back().is_alert = false;
  project.failures = 1;
  CHECK(first_contact(&project, 0).step == Step::failed);
  CHECK(first_contact(&project, 0).why ==
        "it cannot be reached; the client's last message: message 7");
}

TEST_CASE("every state has a name and words of its own") {
  std::set<std::string> names;
  std::set<std::string> words;
  for (int i = 0; i <= static_cast<int>(StockTaskState::aborted); ++i) {
    const auto state = static_cast<StockTaskState>(i);
    names.insert(std::string(name_of(state)));
    words.insert(task_text({"r", state, 0, 0, ""}));
  }
  CHECK(names.size() == 8);
  CHECK(words.size() == 8);
}

}  // namespace
}  // namespace quorate::client
