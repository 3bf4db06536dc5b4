// A project as a stock BOINC client knows it: its master URL, and an account
// there without e-mail address and password.
#pragma once

#include <string>
#include <string_view>

#include "client/stock_boinc/gui_rpc/stock_client.h"
#include "protocol/transfer/project_address.h"
#include "protocol/transfer/transfer.h"

namespace quorate::client {

// As parse_project_address; the master URL, as BOINC's manager shows it, is the
// project's address as well.
ProjectAddress parse_boinc_address(std::string_view text);

// The master URL of the project at this address, as clients write it: the host
// in lower case, "/boinc/" at the end. Throws usage for one that BOINC clients
// cannot take: longer than 255 characters, or a host without a dot.
std::string boinc_master_url(const ProjectAddress& address);

// A project of Quorate's among all that a client has: its master URL ends as
// ours do, and no application of another name came from there. Pure.
bool is_quorate(const StockProject& project);

// An account key is letters and digits, up to 64. Throws usage.
void expect_account_key(const std::string& key);

// The two below ask the project itself, through `transfer`, which trusts whom
// BOINC clients trust. They throw unavailable; unsupported for a project
// without a door for such clients; denied for a server that BOINC clients would
// not trust, or in the project's words.

// Throws unless BOINC clients are let in.
void expect_boinc_door(Transfer& transfer);

// Makes an account of this name and returns its key, which is all that there is
// to know of it. Throws corrupt when something else than a project answers.
std::string create_account(Transfer& transfer, const std::string& user_name);

}  // namespace quorate::client
