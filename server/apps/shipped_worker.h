// The worker that comes with this server, published for BOINC clients.
#pragma once

#include "base/crypto.h"
#include "server/settings/project_folder.h"

namespace quorate::boinc {

// Publishes the quorate-worker that lies beside this program, with its
// libraries, for this machine's platform and all that it can compute on; unless
// that was done before, and also if it was retired since. built: the SHA-256 of
// the one that was built with this program: another, and one on PATH, is for
// `quorate boinc app add`, where the operator names it. (A version or build id
// would be what the file says of itself.) What it did, or why it could not and
// what to type then, goes to the log; throws nothing. The project has a
// code-sign key; a warning says if its private half is on this machine.
// Takes the time to read and hash some 30 MB.
void publish_shipped_worker(const ProjectFolder& folder, const Hash& built);

}  // namespace quorate::boinc
