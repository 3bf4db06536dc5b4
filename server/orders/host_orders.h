// What the operator decides about a host. Each answers with the host's row.
// arguments: "host" (id, name or key), "reason".
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace quorate {

class Project;

nlohmann::json show_host(Project& project, const nlohmann::json& arguments);
nlohmann::json trust_host(Project& project, const nlohmann::json& arguments);
nlohmann::json ban_host(Project& project, const nlohmann::json& arguments);
nlohmann::json pardon_host(Project& project, const nlohmann::json& arguments);
// Also "revoking": how many updates of it are to be taken out of models.
nlohmann::json purge_host(Project& project, const nlohmann::json& arguments);

}  // namespace quorate
