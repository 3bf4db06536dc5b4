#include "client/stock_boinc/text.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "client/folder/local_time.h"
#include "client/status/contact.h"
#include "client/stock_boinc/account.h"

namespace quorate::client {
namespace {

// How many of a project's last messages are shown.
constexpr std::size_t kShownMessages = 5;

struct Reason {
  int number;
  const char* text;
};

// BOINC's numbers (SUSPEND_REASON in lib/common_defs.h): bits, and those of
// telephones, which stand alone.
constexpr Reason kBits[] = {
    {1, "the computer runs on battery"},
    {2, "the computer is in use"},
    {4, "somebody suspended it"},
    {8, "it is outside the allowed hours"},
    {16, "the client measures the CPU's speed"},
    {32, "its share of the disk is full"},
    {64, "the CPU limit makes it rest"},
    {128, "nobody has used the computer for long"},
    {256, "it has just started"},
    {512, "a program runs that excludes it"},
    {1024, "other programs keep the CPU busy"},
    {2048, "its share of the network is used up"},
};
constexpr Reason kAlone[] = {
    {4096, "the system demands it"},  {4097, "there is no WLAN"},
    {4098, "the battery is too low"}, {4099, "the battery is too hot"},
    {4100, "its window is closed"},
};

std::string time_text(std::int64_t unix_seconds) {
  return clock_text(unix_seconds * 1000);
}

// "1:13", "2:01:13".
std::string duration_text(double seconds) {
  constexpr double kMost = 1e9;
  auto whole = static_cast<std::uint64_t>(seconds < kMost ? seconds : kMost);
  return whole < 3600 ? fmt::format("{}:{:02}", whole / 60, whole % 60)
                      : fmt::format("{}:{:02}:{:02}", whole / 3600,
                                    whole / 60 % 60, whole % 60);
}

struct StateWords {
  StockTaskState state;
  std::string_view name;  // for programs
  std::string_view text;
};

constexpr StateWords kStates[] = {
    {StockTaskState::downloading, "downloading", "waits for its files"},
    {StockTaskState::ready, "ready", "waits for its turn"},
    {StockTaskState::running, "running", "computing"},
    {StockTaskState::suspended, "suspended", "started, suspended"},
    {StockTaskState::uploading, "uploading", "uploading"},
    {StockTaskState::uploaded, "uploaded", "computed, waits to be reported"},
    {StockTaskState::failed, "failed", "failed"},
    {StockTaskState::aborted, "aborted", "aborted"},
};

const StateWords& words_of(StockTaskState state) {
  for (const StateWords& words : kStates) {
    if (words.state == state) return words;
  }
  check(false, "every state of a task has its words");
  return kStates[0];
}

// Nothing more is computed for it.
bool is_over(StockTaskState state) {
  return state >= StockTaskState::uploading;
}

std::string suspensions_text(const StockState& state) {
  std::string text;
  auto add = [&](const char* what, int reasons) {
    if (reasons == 0) return;
    text += fmt::format("  {}: {}\n", what, suspension_text(reasons));
  };
  add("computing is suspended", state.cpu_suspended);
  // The client tells why the GPU rests also when everything does.
  if (state.gpu_suspended != state.cpu_suspended) {
    add("GPUs are suspended", state.gpu_suspended);
  }
  add("the network is suspended", state.network_suspended);
  return text;
}

std::string standing_text(const StockProject& project) {
  if (project.host == 0) {
    return "  the project has not answered yet\n";
  }
  return fmt::format(
      "  {}computer {}: credit {:.3f} (all computers of this account: "
      "{:.3f})\n",
      project.user_name.empty() ? "" : project.user_name + ", ", project.host,
      project.host_credit, project.user_credit);
}

std::string trouble_text(const StockProject& project) {
  std::string text;
  if (project.is_suspended) text += "  suspended by hand in the client\n";
  if (project.takes_no_more_work) {
    text += "  takes no more tasks: somebody told the client so\n";
  }
  if (project.failures > 0) {
    text += fmt::format(
        "  after {} in a row it contacts the project again at {}\n",
        count_text(static_cast<std::uint64_t>(project.failures), "failure"),
        time_text(project.next_contact));
  }
  return text;
}

std::string project_text(const StockProject& project) {
  std::string text = fmt::format("{} ({})\n", project.name, project.url);
  text += standing_text(project) + trouble_text(project);
  for (const StockTask& task : project.tasks) {
    text += fmt::format("  task {}: {}\n", task.name, task_text(task));
  }
  if (project.tasks.empty()) text += "  no task now\n";
  for (const StockTransfer& transfer : project.transfers) {
    text += fmt::format("  {}\n", transfer_text(transfer));
  }
  const auto& messages = project.messages;
  std::size_t first =
      messages.size() - std::min(messages.size(), kShownMessages);
  for (std::size_t i = first; i < messages.size(); ++i) {
    text += fmt::format("  {} the client says: {}\n",
                        time_text(messages[i].time), messages[i].text);
  }
  return text;
}

}  // namespace

std::string suspension_text(int reasons) {
  for (const Reason& reason : kAlone) {
    if (reasons == reason.number) return reason.text;
  }
  std::string text;
  for (const Reason& reason : kBits) {
    if ((reasons & reason.number) == 0) continue;
    text += (text.empty() ? "" : ", ") + std::string(reason.text);
  }
  if (text.empty() && reasons != 0) {
    return fmt::format("the client's reason {}", reasons);
  }
  return text;
}

std::string_view name_of(StockTaskState state) {
  return words_of(state).name;
}

std::string task_text(const StockTask& task) {
  std::string text(words_of(task.state).text);
  if (!task.why.empty()) text += fmt::format(" ({})", task.why);
  if (task.elapsed_seconds <= 0) return text;
  text += is_over(task.state)
              ? ","
              : fmt::format(", {:.1f} %", 100 * task.fraction_done);
  return text + " after " + duration_text(task.elapsed_seconds);
}

std::string transfer_text(const StockTransfer& transfer) {
  const bool is_large = transfer.bytes >= 1e6;
  const double unit = is_large ? 1e6 : 1e3;
  std::string text = fmt::format("{} {}: {:.1f} of {:.1f} {}",
                                 transfer.is_upload ? "upload" : "download",
                                 transfer.file, transfer.moved / unit,
                                 transfer.bytes / unit, is_large ? "MB" : "kB");
  if (transfer.is_moving) return text;
  text += transfer.next_try == 0
              ? ", waits"
              : ", waits until " + time_text(transfer.next_try);
  if (transfer.failures == 0) return text;
  return text + ", failed " +
         count_text(static_cast<std::uint64_t>(transfer.failures), "time");
}

std::string stock_status_text(const StockState& state,
                              const std::string& where) {
  std::string text =
      fmt::format("BOINC client {} at {}\n", state.version, where);
  text += suspensions_text(state);
  bool has_any = false;
  for (const StockProject& project : state.projects) {
    if (!is_quorate(project)) continue;
    text += project_text(project);
    has_any = true;
  }
  if (!has_any) {
    text += "no Quorate project yet: quorate-client boinc attach URL\n";
  }
  return text;
}

const StockProject* find_project(const StockState& state,
                                 const std::string& master_url) {
  for (const StockProject& project : state.projects) {
    if (project.url == master_url) return &project;
  }
  return nullptr;
}

FirstContact first_contact(const StockProject* project, int since) {
  using Step = FirstContact::Step;
  if (project == nullptr) return {Step::failed, "the client has left it again"};
  if (project->host != 0) return {Step::joined, ""};
  for (const StockMessage& message : project->messages) {
    if (message.is_alert && message.number > since) {
      return {Step::failed, message.text};
    }
  }
  if (project->failures == 0) return {Step::waiting, ""};
  const auto& messages = project->messages;
  return {Step::failed, "it cannot be reached; the client's last message: " +
                            (messages.empty() ? "" : messages.back().text)};
}

std::string next_text(const StockState& state) {
  std::string text =
      "  next, the client downloads the program and a task by itself, computes "
      "when its preferences allow, and asks for more; quorate-client boinc "
      "status and BOINC's manager show it\n";
  return text + suspensions_text(state);
}

}  // namespace quorate::client
