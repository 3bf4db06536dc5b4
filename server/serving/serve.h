// Runs a project until it is told to stop.
#pragma once

#include "server/project/daemons.h"
#include "server/settings/settings.h"

namespace quorate {

struct ServeOptions {
  ServerSettings settings;
  Roles roles;
  bool force_tls = false;  // also on loopback
  bool as_json = false;    // what is printed
};

// Opens the project, listens, prints where, and serves until SIGTERM or SIGINT.
// Throws what keeps it from starting; io if the store or the disk is lost.
void serve(const fs::path& root, const ServeOptions& options);

}  // namespace quorate
