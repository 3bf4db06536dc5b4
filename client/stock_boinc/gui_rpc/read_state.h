// From libboinc's structures to ours: the numbers become names, the texts
// plain. For stock_client.cpp.
#pragma once

#include <boinc/lib/gui_rpc_client.h>

#include "client/stock_boinc/gui_rpc/stock_client.h"

namespace quorate::client {

// A structure of libboinc that owns what it points to, and that nobody frees.
template <class T>
struct Owned : T {
  Owned() = default;
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ~Owned() { this->clear(); }
};

// Projects with their apps and tasks.
std::vector<StockProject> read_projects(const CC_STATE& state);
// Into the projects that they belong to.
void add_transfers(std::vector<StockProject>& projects,
                   const FILE_TRANSFERS& transfers);
void add_messages(std::vector<StockProject>& projects,
                  const MESSAGES& messages);

}  // namespace quorate::client
