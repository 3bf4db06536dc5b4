// The command line of quorate-client boinc.
#pragma once

#include <functional>
#include <string>

#include "client/stock_boinc/commands.h"

namespace CLI {
class App;
}

namespace quorate::client {

// What its arguments can set.
struct StockArguments {
  StockOptions client;
  StockAttachOptions attach;
  std::string detach;
  bool is_agreed = false;
  bool as_json = false;
};

// Adds the group `boinc`; the command that is chosen becomes `action`. Both
// live as long as `app`.
// The callbacks only set `action`; run_program() calls it after parsing.
void add_boinc(CLI::App& app, StockArguments& arguments,
               std::function<void()>& action);

}  // namespace quorate::client
