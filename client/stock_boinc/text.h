// What a stock BOINC client does for projects of Quorate's, in words and as
// JSON. Pure.
//
// The room client/stock_boinc lets a volunteer use an installed BOINC client in
// our own's place: its commands, where that client is, its account at a
// project. It owns nothing on disk, and may include client/stock_boinc/gui_rpc,
// the only place that includes libboinc.
#pragma once

#include <string>
#include <string_view>

#include "client/stock_boinc/gui_rpc/stock_client.h"

namespace quorate::client {

// Why nothing is computed or sent: "the computer runs on battery, it is in
// use"; empty for 0. reasons: as StockState has them.
std::string suspension_text(int reasons);

// For programs: "running".
std::string_view name_of(StockTaskState state);

// "computing, 45.2 % after 1:13".
std::string task_text(const StockTask& task);

// "upload r7_update: 1.2 of 3.4 MB, waits until 17:28:10, failed 3 times".
std::string transfer_text(const StockTransfer& transfer);

// The projects of `state` that are Quorate's, for people. where: the client
// listens, "127.0.0.1:31416".
std::string stock_status_text(const StockState& state,
                              const std::string& where);
// The same for programs; times are seconds since 1970.
std::string stock_status_json(const StockState& state,
                              const std::string& where);

// The project with this master URL; null if the client has none.
const StockProject* find_project(const StockState& state,
                                 const std::string& master_url);

// How far the client's first contact with a new project has come.
struct FirstContact {
  enum class Step { waiting, joined, failed };
  Step step = Step::waiting;
  std::string why;  // it failed
};
// project: as the client has it, null for not at all. since: number of the last
// message before it was attached. Once it is joined it is not asked again.
FirstContact first_contact(const StockProject* project, int since);

// What happens after the project has taken the client, as sentences.
std::string next_text(const StockState& state);

}  // namespace quorate::client
