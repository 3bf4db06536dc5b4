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
  Bytes sealed;           // the statement as the server gave it
  // Read from it:
  ProjectId id;
  protocol::ProjectStatement statement;
};

// Reads a sealed project statement and checks that it is sealed by the key that
// it names. Throws corrupt otherwise.
Project open_statement(Bytes sealed);

// Throws io.
void save_project(const fs::path& file, const Project& project);
// Throws io, or corrupt with the file's name and what to do.
Project load_project(const fs::path& file);

}  // namespace quorate::client
