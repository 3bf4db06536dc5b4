// Changes what is published for BOINC clients, on disk. A process that is
// killed on the way leaves the old or the new state, whole; a server that runs
// notices the new one by itself (server/apps/app_versions).
#pragma once

#include <string>
#include <vector>

#include "server/apps/app_changes.h"
#include "server/settings/project_folder.h"

namespace quorate::boinc {

// Holds the lock on what is published while it lives.
class AppPublisher {
 public:
  // Throws unavailable if another command or a starting server holds it, and
  // as load_app_manifest.
  AppPublisher(const ProjectFolder& folder, const std::string& command);

  // As it is on disk after the last change.
  const AppManifest& manifest() const { return manifest_; }

  // The number of the new version. Throws as with_version; io.
  std::uint32_t add(const RsaPrivateKey& key, const NewVersion& version);
  // Throws as with_retired; io. Tasks that were sent with it go on.
  void retire(std::uint32_t version);

  // The private half of the code-sign key at `path`; a rotation that was cut
  // short is finished. Throws usage if the project has no key yet or there is
  // no such file; io, corrupt, denied.
  RsaPrivateKey load_key(const fs::path& path) const;
  // Makes a key, if there is none at `path`, the project's first one. Throws
  // usage if it has one.
  RsaPrivateKey make_first_key(const fs::path& path);
  // load_key, or make_first_key if the project has none yet.
  RsaPrivateKey load_or_make_key(const fs::path& path);
  // Changes the code-sign key at `path` for another: one at `next_path`, which
  // is made if it is not there, or, if that is empty, a new one in its place.
  // With `next_path` the project's own copy of the old key is removed.
  void rotate(const fs::path& path, const fs::path& next_path);

 private:
  // Writes the manifest, durably. What it names is on the disk before.
  void save(AppManifest next);

  const ProjectFolder& folder_;
  FileLock lock_;
  AppManifest manifest_;
};

}  // namespace quorate::boinc
