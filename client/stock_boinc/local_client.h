// Where the BOINC client of this computer is, and what opens it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "client/stock_boinc/gui_rpc/stock_client.h"

namespace quorate::client {

// Reads HOST[:PORT]. Throws usage.
GuiAddress parse_gui_address(std::string_view text);

// Where packages put a client's data; the first that there is counts.
std::vector<fs::path> stock_data_folders();

// gui_rpc_auth.cfg of the first of these folders that exists, also if we may
// not look inside. Throws unavailable when there is none: no client is
// installed.
fs::path find_password_file(const std::vector<fs::path>& folders);

// The first line, without blanks around it: that is what the client takes; may
// be empty. Throws denied when we may not read the file, unavailable when it is
// not there (the client makes it at its first start), corrupt when that cannot
// be a password.
std::string read_gui_password(const fs::path& file);

struct StockOptions {
  std::string host = "127.0.0.1:31416";
  std::string password_file;  // empty: the one in the client's data folder
};
// Throws as the three above and StockClient do.
StockClient open_stock_client(const StockOptions& options);

}  // namespace quorate::client
