// A copy of a project from which it can be served on: store, objects, data
// sets, keys and settings, taken while a server runs or while none does.
//
// The room server/backup belongs to two commands, which run it on their own
// thread and without the project's lock. It owns a folder that it fills, and
// may include settings, store and objects; not the project's memory.
//
// The store is copied at one moment. Objects reach the disk before a commit
// that refers to them, and while a backup holds ProjectFolder::backup_lock()
// none is removed: so what is copied after the store holds everything that the
// copied store needs.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "server/settings/project_folder.h"

namespace quorate {

// What is being done, and how much of it is done.
using BackupProgress = std::function<void(
    const std::string& what, std::uint64_t done, std::uint64_t all)>;

struct BackupReport {
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
  // Objects that had changed on disk and were left out, by hash.
  std::vector<std::string> damaged;
};

struct BackupOptions {
  // Objects become hard links: takes no space, saves from mistakes but not
  // from a broken disk. Without, they are copied and hashed.
  bool link = false;
};

// Writes a backup into `folder`, which must be new or empty; mode 0700, for it
// holds the keys. Throws usage, denied when another backup is being made, io;
// then nothing is left in the folder. An interrupted process leaves a folder
// that restore() refuses.
BackupReport back_up(const ProjectFolder& project, const fs::path& folder,
                     const BackupOptions& options,
                     const BackupProgress& progress);

// Makes a project of a backup in a new or empty folder. Every file is hashed.
// Throws usage if there is no whole backup, or the folder is not empty;
// corrupt, naming the file, if one is not what it was; then nothing is left in
// the folder.
BackupReport restore(const fs::path& backup, const ProjectFolder& project,
                     const BackupProgress& progress);

}  // namespace quorate
