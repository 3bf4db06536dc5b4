// A project without sockets, threads and real time: the server's own daemons on
// a clock that is moved by hand. Everything that they decide, they decide as
// they do when they serve.
#pragma once

#include <functional>
#include <memory>

#include "base/clock.h"
#include "server/project/project_core.h"
#include "server/settings/project_folder.h"

namespace quorate {

// Folders of a new project, and keys that follow from the seed: whoever knows
// it can sign as the project.
ProjectKeys simulated_keys(std::uint64_t seed);

class SimulatedProject {
 public:
  // folder: with make_project_folders().
  SimulatedProject(ProjectFolder folder, const ServerSettings& settings,
                   ProjectKeys keys, std::unique_ptr<Store> store,
                   std::function<std::uint64_t()> draw);

  // A job of the writer, settled and committed; what it owes to the outside has
  // happened on return.
  void job(const std::function<void()>& what);
  // From now on what a host that proved false had a part in is rechecked, and
  // revoked; that takes none of the clock's time. Needs all of the ledger.
  void revise();
  // The daemons look at the clock.
  void tick();

  const ProjectFolder& folder() const { return folder_; }
  const ProjectKeys& keys() const { return keys_; }
  ProjectState& state() { return core_.state(); }
  Daemons& daemons() { return core_.daemons(); }
  ObjectStore& objects() { return core_.objects(); }
  Store& store() const { return core_.store(); }
  ManualClock& clock() { return clock_; }

 private:
  void do_what_is_aside();

  ProjectFolder folder_;
  ServerSettings settings_;
  ProjectKeys keys_;
  ManualClock clock_;
  ProjectCore core_;
  std::vector<Job> aside_;
};

}  // namespace quorate
