// The worker that comes with this server, published for BOINC clients.
#pragma once

#include "server/settings/project_folder.h"

namespace quorate::boinc {

// Publishes quorate-worker, as protocol::find_worker_program() finds it, with
// its libraries, for this machine's platform and all that it can compute on;
// unless that was done before, and also if it was retired since. The code-sign
// key is made in the project's folder if the project has none yet. What it did,
// or why it could not and what to type then, goes to the log; throws nothing.
// Takes the time to read and hash some 30 MB.
void publish_shipped_worker(const ProjectFolder& folder);

}  // namespace quorate::boinc
