// Runs a project until it is told to stop.
//
// The room server/serving is the program's life as a server: limits of the
// process, TLS, listeners, signals, the order of starting and stopping. It owns
// the HTTP server and the project, and may include everything but the simulator
// and the commands.
#pragma once

#include "base/crypto.h"
#include "server/project/daemons.h"
#include "server/settings/settings.h"

namespace quorate {

struct ServeOptions {
  ServerSettings settings;
  Roles roles;
  bool force_tls = false;  // also on loopback
  bool as_json = false;    // what is printed
  Hash worker;             // SHA-256 of the quorate-worker built with this
};

// Opens the project, listens, prints where, and serves until SIGTERM or SIGINT.
// Throws what keeps it from starting; io if the store or the disk is lost.
void serve(const fs::path& root, const ServeOptions& options);

}  // namespace quorate
