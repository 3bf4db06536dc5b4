// The volunteer's folder: keys, attached projects, preferences, the pause.
// Layout:
//   account.key host.key lock paused waiting prefs.json client.log
//   client.1.log
//   projects/FINGERPRINT/{project.json,state.json,activity.json,detaching,
//                         objects/,results/ID/,receipts/SHA256.receipt}
//
// The room client/folder owns these files and nothing in memory: commands and
// the agent are processes that meet in them, so each is replaced as a whole. It
// may include client/machine.
#pragma once

#include <optional>
#include <vector>

#include "base/crypto.h"
#include "base/file.h"
#include "client/folder/pause.h"
#include "client/folder/project.h"

namespace quorate::client {

// Looks at the disk at every call, so any number of objects and processes may
// use one folder. Only its owner may enter it.
class DataFolder {
 public:
  // Makes the folder if it is not there. Throws io, or denied for another
  // user's.
  explicit DataFolder(fs::path root);
  // The same of one that is there. Throws usage for a name mistyped.
  static DataFolder open(const fs::path& root);

  // The keys, made when they are not there yet. Throw io, corrupt, denied.
  PrivateKey account_key() const;
  PrivateKey host_key() const;
  bool has_host_key() const;
  // Makes the key in `file` the account of this folder. Throws denied if it
  // already has another one.
  void adopt_account(const fs::path& file) const;

  // Held by whoever works with the projects. Throws denied, naming the process
  // that holds it and how to stop it.
  FileLock lock() const;

  // A client that waits for a project to be attached says so, by its process;
  // 0: none does.
  void set_waiting(int pid) const;
  int waiting() const;

  // The pause that holds at `unix_ms`, if any.
  std::optional<Pause> pause(std::int64_t unix_ms) const;
  // nullopt: resume. Durable on return.
  void set_pause(const std::optional<Pause>& pause) const;

  const fs::path& root() const { return root_; }
  fs::path prefs_file() const { return root_ / "prefs.json"; }
  // What the devices of this computer were measured at.
  fs::path speeds_file() const { return root_ / "devices.json"; }

  fs::path project_folder(const ProjectId& project) const;
  // Durable on return; in the place of what was known of that project.
  void add_project(const Project& project) const;
  // Removes its folder with all objects and unfinished results. For whoever
  // holds the lock.
  void remove_project(const Project& project) const;
  // Removes it, or asks the agent to that holds the lock. Returns whether it is
  // gone: if not, call it again a little later.
  bool detach(const Project& project) const;
  // Somebody asked the agent.
  bool is_to_detach(const ProjectId& project) const;
  std::vector<Project> projects() const;

  // Keeps the bytes of a receipt of that project beside all that were kept
  // before. Durable on return.
  void keep_receipt(const ProjectId& project, ByteView sealed) const;
  std::vector<fs::path> receipts(const ProjectId& project) const;

 private:
  fs::path root_;
};

}  // namespace quorate::client
