// What an auditor asks of a project: its ledger with what the entries name, and
// who a host is.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace quorate {

class Project;

// Records `from` on, at most `limit`, of the run; with `tasks` also, for an
// entry about a result, the sealed task that it names and the header that its
// host signed, in hexadecimal, or null if there is none. The auditor checks
// them.
nlohmann::json list_ledger(Project& project, const nlohmann::json& arguments);

// Id, name and key of the host with the id, name or key `host`. Throws usage.
nlohmann::json find_host(Project& project, const nlohmann::json& arguments);

}  // namespace quorate
