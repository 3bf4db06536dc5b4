// A project that this data folder is attached to: project.json.
#pragma once

#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/file.h"
#include "protocol/native/messages.h"
#include "workunits/sealed.h"

namespace quorate::client {

struct Project {
  std::string url;
  std::string user_name;  // of the volunteer, as shown; may be empty
  std::string host_name;  // that the volunteer chose; empty: a neutral one
  // Whether it knows this volunteer and this computer by keys that no other
  // project sees; false of those attached before there were any.
  bool has_own_keys = false;
  Bytes sealed;  // the statement as the server gave it
  // Read from it:
  ProjectId id;
  protocol::ProjectStatement statement;
};

// Reads a sealed project statement and checks that it is sealed by the key that
// it names. Throws corrupt otherwise.
Project open_statement(Bytes sealed);

// Why this statement may not be gone by, empty if it may: against_clock(), or
// it is older than the one that is `known` of the project (nullptr: none), so
// that somebody who kept it shows it again, or contradicts its list of keys.
// Pure.
std::string against_statement(const Project& found, const Project* known,
                              Millis unix_ms);
// Whether an agent that goes by `known` has to begin anew with `found`.
bool changes_exchange(const Project& found, const Project& known);

// Throws io.
void save_project(const fs::path& file, const Project& project);
// Throws io, or corrupt with the file's name and what to do.
Project load_project(const fs::path& file);

}  // namespace quorate::client
