// What the operator decides about other projects: whose models a run mixes in,
// and who may take models from here.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace quorate {

class Project;

// arguments: "run", "address" (URL#FINGERPRINT), "peer_run" (else the same
// name), "every" (seconds), "weight". Answers with the peer's row.
nlohmann::json add_peer(Project& project, const nlohmann::json& arguments);
// {"project": our fingerprint, "peers": rows, "allowed": rows}.
nlohmann::json list_peers(Project& project, const nlohmann::json& arguments);
// arguments: "peer" (id). Answers with the row that was.
nlohmann::json remove_peer(Project& project, const nlohmann::json& arguments);

// arguments: "project" (fingerprint, or an address with one), "name". Answers
// with the row.
nlohmann::json allow_peer(Project& project, const nlohmann::json& arguments);
nlohmann::json disallow_peer(Project& project, const nlohmann::json& arguments);

// Texts about peers whose last look failed.
nlohmann::json peer_problems(Project& project);

}  // namespace quorate
