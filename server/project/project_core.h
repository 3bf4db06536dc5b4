// A project's store, objects, memory and daemons, wired: the same for serving,
// for one command, for simulations and for tests. Who owns it brings what
// differs: the clock, the store, and who may open the folder.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "server/objects/upload.h"
#include "server/project/daemons.h"
#include "server/state/project_state.h"
#include "server/writer/writer.h"

namespace quorate {

// All of them outlive the core.
struct ProjectParts {
  const ProjectFolder& folder;
  const ServerSettings& settings;
  const ProjectKeys& keys;
  const Clock& clock;
};

class ProjectCore {
 public:
  // Loads everything that the store has. is_durable: objects reach the disk
  // before a commit that names them (not worth its time for a store in memory).
  // on_fatal: see Writer, which is not started here: until it is, every job
  // runs on the caller's thread.
  ProjectCore(const ProjectParts& parts, std::unique_ptr<Store> store,
              const Roles& roles, bool is_durable,
              std::function<void(const std::string&)> on_fatal);

  // A job of the writer, settled and committed on return.
  void job(const std::function<void()>& what);
  // The daemons look at the clock, as they do ten times a second once started.
  void tick();

  Store& store() const { return *store_; }
  ObjectStore& objects() { return objects_; }
  ProjectState& state() { return *state_; }
  Writer& writer() { return *writer_; }
  Uploads& uploads() { return *uploads_; }
  Daemons& daemons() { return *daemons_; }

 private:
  std::unique_ptr<Store> store_;
  ObjectStore objects_;
  std::unique_ptr<ProjectState> state_;
  std::unique_ptr<Writer> writer_;
  std::unique_ptr<Uploads> uploads_;
  std::unique_ptr<Daemons> daemons_;
};

}  // namespace quorate
