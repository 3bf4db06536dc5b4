// stock_status_json: see text.h.
#include <nlohmann/json.hpp>

#include "client/stock_boinc/account.h"
#include "client/stock_boinc/text.h"

namespace quorate::client {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const StockTask& task) {
  return {{"name", task.name},
          {"state", name_of(task.state)},
          {"fraction_done", task.fraction_done},
          {"elapsed", task.elapsed_seconds},
          {"text", task_text(task)}};
}

Json to_json(const StockTransfer& transfer) {
  return {{"file", transfer.file},        {"upload", transfer.is_upload},
          {"moving", transfer.is_moving}, {"bytes", transfer.bytes},
          {"moved", transfer.moved},      {"failures", transfer.failures},
          {"next_try", transfer.next_try}};
}

Json to_json(const StockMessage& message) {
  return {{"time", message.time},
          {"alert", message.is_alert},
          {"text", message.text}};
}

template <class T>
Json list_of(const std::vector<T>& items) {
  Json list = Json::array();
  for (const T& item : items) list.push_back(to_json(item));
  return list;
}

Json to_json(const StockProject& project) {
  return {{"name", project.name},
          {"url", project.url},
          {"user", project.user_name},
          {"host", project.host},
          {"credit", project.host_credit},
          {"user_credit", project.user_credit},
          {"suspended", project.is_suspended},
          {"no_more_work", project.takes_no_more_work},
          {"failures", project.failures},
          {"next_contact", project.next_contact},
          {"tasks", list_of(project.tasks)},
          {"transfers", list_of(project.transfers)},
          {"messages", list_of(project.messages)}};
}

}  // namespace

std::string stock_status_json(const StockState& state,
                              const std::string& where) {
  Json projects = Json::array();
  for (const StockProject& project : state.projects) {
    if (is_quorate(project)) projects.push_back(to_json(project));
  }
  return Json{{"client", state.version},
              {"where", where},
              {"cpu_suspended", suspension_text(state.cpu_suspended)},
              {"gpu_suspended", suspension_text(state.gpu_suspended)},
              {"network_suspended", suspension_text(state.network_suspended)},
              {"projects", std::move(projects)}}
      .dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace quorate::client
