// What an audit found, for people and programs.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "server/cli/auditing/audit_state.h"
#include "server/cli/support/client.h"

namespace quorate {

// Id, name and key of the host with this id, name or key. Throws usage.
nlohmann::json find_host(AdminClient& client, const std::string& host);

// A row for each false result, with its host.
nlohmann::json rows_of(AdminClient& client,
                       const std::vector<FalseResult>& found);
// Such a row as a sentence.
std::string line_of(const nlohmann::json& row);

// What to do about these rows. The ledger of a run that is over has ended: what
// is in its model stays.
std::string advice_for(AdminClient& client, const std::string& run,
                       const nlohmann::json& rows);

}  // namespace quorate
