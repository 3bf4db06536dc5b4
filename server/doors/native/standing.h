// What a volunteer may know of a host of theirs. Used by the writer's thread
// only.
#pragma once

#include "protocol/native/messages.h"
#include "server/state/project_state.h"

namespace quorate {

// The host is known. A result that is not judged yet is only counted.
protocol::StandingReply standing_of(ProjectState& state, HostId host);

}  // namespace quorate
