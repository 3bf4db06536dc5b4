// Answers to requests that only the writer's thread can give.
#pragma once

#include <functional>

#include "server/http/responder.h"
#include "server/project/project.h"

namespace quorate {

// Runs `job` on the writer's thread and sends what it returns, after the
// commit; an Error becomes the error response.
void answer_from_writer(Project& project, Responder responder,
                        std::function<Response()> job);

}  // namespace quorate
