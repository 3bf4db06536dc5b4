// The volunteer's folder: keys, attached projects, the pause flag. Layout:
//   account.key host.key lock paused
//   projects/FINGERPRINT/{project.json,state.json,activity.json,
//                         objects/,results/ID/}
#pragma once

#include <vector>

#include "base/crypto.h"
#include "base/file.h"
#include "client/project.h"

namespace quorate::client {

class DataFolder {
 public:
  // Makes the folder if it is not there. Throws io.
  explicit DataFolder(fs::path root);

  // The keys, made when they are not there yet. Throw io, corrupt, denied.
  PrivateKey account_key() const;
  PrivateKey host_key() const;
  // Makes the key in `file` the account of this folder. Throws denied if it
  // already has another one.
  void adopt_account(const fs::path& file) const;

  // Held by whoever works with the projects. Throws denied, naming the process
  // that holds it.
  FileLock lock() const;

  bool is_paused() const;
  void set_paused(bool paused) const;

  fs::path project_folder(const ProjectId& project) const;
  void add_project(const Project& project) const;
  void remove_project(const Project& project) const;
  std::vector<Project> projects() const;

 private:
  fs::path root_;
};

}  // namespace quorate::client
