// What hosts may download, through either door: the objects that a result in
// progress needs, and nothing else: never another host's update.
//
// This is the one rule of downloads; the room server/doors has what both doors
// share (sessions, refusals, this). It owns the sessions only, and may include
// server/project and all before it.
#pragma once

#include <functional>

#include "base/crypto.h"
#include "server/http/responder.h"
#include "server/project/project.h"

namespace quorate {

enum class NoObject {
  unneeded,  // no result in progress names it, or not yet
  lost,      // one does, and it is not here: its operator must bring it back
};

// Answers with the object, or with what `refuse` makes of why not. A sealed
// task that is in the store is fetched by the writer's thread.
void send_needed_object(Project& project, const Hash& hash, Responder responder,
                        std::function<Response(NoObject)> refuse);

}  // namespace quorate
