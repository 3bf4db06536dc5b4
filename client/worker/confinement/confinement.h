// What a worker may do: compute in the folders that it was given, and nothing
// else. The units that it computes come from a project, and a GPU's driver is a
// large program: if either makes it do something else, the system refuses.
//
// Two walls, for each stops what the other does not see: Landlock says which
// files it may open, seccomp which calls it may make. Both hold for the process
// and whatever it starts, and cannot be taken back.
//
// The room client/worker/confinement owns nothing; it may include base and
// protocol/worker.
#pragma once

#include <string>
#include <vector>

#include "base/file.h"

namespace quorate::worker {

struct ConfinementOptions {
  // Whose files it reads and writes: absolute, there already. Elsewhere it
  // reads what the system's programs and drivers are made of.
  std::vector<fs::path> folders;
  bool is_gpu =
      false;  // its driver needs devices, and calls that we do not know
};

// How far this process is confined; each: why not, empty if it is.
struct Confinement {
  std::string files;
  std::string calls;

  bool is_whole() const { return files.empty() && calls.empty(); }
};

// For people: "confined", "partly confined: no Landlock: ...".
std::string text_of(const Confinement& confinement);

// Files, and what makes the other wall hold. While the process has one thread,
// before the device is opened: of the threads that there are, this one alone is
// confined. Returns why the system cannot; empty: it does.
std::string confine_files(const ConfinementOptions& options);
// Calls, of all threads. Once the device is open, before the first unit:
// opening it takes calls that computing does not. Likewise.
std::string confine_calls(const ConfinementOptions& options);

}  // namespace quorate::worker
