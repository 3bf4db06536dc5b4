// The log of what operators ordered (workunits/ledger/order_log), on the
// writer's thread: an order is noted in the transaction that carries it out, so
// that it is there exactly if its effect is.
#pragma once

#include <cstdint>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "server/orders/operators.h"
#include "server/state/project_state.h"

namespace quorate {

class Project;

// The id of the last event: what an order causes comes after it.
std::int64_t last_event(ProjectState& state);

// An order that was carried out. before: last_event() before it; what it caused
// is its outcome, in words, or else its reply.
void note_order(ProjectState& state, const Person& who,
                const std::string& command, const nlohmann::json& arguments,
                const nlohmann::json& reply, std::int64_t before);

// arguments: from, limit. {"project", "key": the project's, "made": how many
// there ever were, "rows": [{"seq", "line", "hash", "signature"}]}.
nlohmann::json list_orders(Project& project, const nlohmann::json& arguments);

}  // namespace quorate
