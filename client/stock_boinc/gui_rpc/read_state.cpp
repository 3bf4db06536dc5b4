#include "client/stock_boinc/gui_rpc/read_state.h"

#include <algorithm>
#include <cmath>

#include "protocol/text.h"

namespace quorate::client {
namespace {

// Names of files and projects; a message of the client is a line or two.
constexpr std::size_t kMaxName = 255;
constexpr std::size_t kMaxMessage = 500;

std::string name_text(std::string_view text) {
  return protocol::plain_text(text, kMaxName);
}

// A message ends in a newline, and may have some within.
std::string message_text(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  std::replace(text.begin(), text.end(), '\n', ' ');
  return protocol::plain_text(text, kMaxMessage);
}

// 0 for what is no number, or none that a clock shows.
std::int64_t whole(double seconds) {
  constexpr double kMost = 1e12;
  bool is_time = std::isfinite(seconds) && seconds > 0 && seconds < kMost;
  return is_time ? static_cast<std::int64_t>(seconds) : 0;
}

double amount(double value) {
  return std::isfinite(value) && value > 0 ? value : 0;
}

StockTaskState state_of(const RESULT& result) {
  switch (result.state) {
    case RESULT_COMPUTE_ERROR:
      return StockTaskState::failed;
    case RESULT_FILES_UPLOADING:
      return StockTaskState::uploading;
    case RESULT_FILES_UPLOADED:
      return StockTaskState::uploaded;
    case RESULT_ABORTED:
      return StockTaskState::aborted;
    case RESULT_UPLOAD_FAILED:
      return StockTaskState::failed;
    case RESULT_FILES_DOWNLOADED:
      break;
    default:
      return StockTaskState::downloading;
  }
  if (result.active_task && result.active_task_state == PROCESS_EXECUTING) {
    return StockTaskState::running;
  }
  bool stands_still = result.suspended_via_gui ||
                      result.project_suspended_via_gui ||
                      (result.active_task && result.elapsed_time > 0);
  return stands_still ? StockTaskState::suspended : StockTaskState::ready;
}

StockTask read_task(const RESULT& result) {
  StockTask task;
  task.name = name_text(result.name);
  task.state = state_of(result);
  bool is_over = result.state > RESULT_FILES_DOWNLOADED;
  task.fraction_done = std::min(amount(result.fraction_done), 1.0);
  task.elapsed_seconds =
      amount(is_over ? result.final_elapsed_time : result.elapsed_time);
  if (result.scheduler_wait) task.why = name_text(result.scheduler_wait_reason);
  if (result.coproc_missing) task.why = "its GPU is missing";
  return task;
}

StockProject read_project(const PROJECT& from) {
  StockProject project;
  project.url = name_text(from.master_url);
  project.name = name_text(from.project_name);
  if (project.name.empty()) project.name = project.url;
  project.user_name = name_text(from.user_name);
  project.host = std::max(from.hostid, 0);
  project.host_credit = amount(from.host_total_credit);
  project.user_credit = amount(from.user_total_credit);
  project.is_suspended = from.suspended_via_gui;
  project.takes_no_more_work = from.dont_request_more_work;
  project.failures = std::max(from.nrpc_failures, from.master_fetch_failures);
  project.next_contact = whole(from.min_rpc_time);
  return project;
}

StockTransfer read_transfer(const FILE_TRANSFER& from) {
  StockTransfer transfer;
  transfer.file = name_text(from.name);
  transfer.is_upload = from.is_upload;
  transfer.is_moving = from.xfer_active;
  transfer.bytes = amount(from.nbytes);
  transfer.moved = amount(from.bytes_xferred);
  transfer.failures = std::max(from.num_retries, 0);
  transfer.next_try = whole(from.next_request_time);
  return transfer;
}

}  // namespace

std::vector<StockProject> read_projects(const CC_STATE& state) {
  std::vector<StockProject> projects;
  for (const PROJECT* from : state.projects) {
    StockProject project = read_project(*from);
    for (const APP* app : state.apps) {
      if (app->project == from) project.apps.push_back(name_text(app->name));
    }
    for (const RESULT* result : state.results) {
      if (result->project == from) project.tasks.push_back(read_task(*result));
    }
    projects.push_back(std::move(project));
  }
  return projects;
}

void add_transfers(std::vector<StockProject>& projects,
                   const FILE_TRANSFERS& transfers) {
  for (const FILE_TRANSFER* from : transfers.file_transfers) {
    for (StockProject& project : projects) {
      if (name_text(from->project_url) != project.url) continue;
      project.transfers.push_back(read_transfer(*from));
    }
  }
}

void add_messages(std::vector<StockProject>& projects,
                  const MESSAGES& messages) {
  for (const MESSAGE* from : messages.messages) {
    const std::string about = name_text(from->project);
    for (StockProject& project : projects) {
      if (about != project.name && about != project.url) continue;
      project.messages.push_back({from->seqno, from->timestamp,
                                  from->priority == MSG_USER_ALERT ||
                                      from->priority == MSG_SCHEDULER_ALERT,
                                  message_text(from->body)});
    }
  }
}

}  // namespace quorate::client
