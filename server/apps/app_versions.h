// The published app versions as a server uses them: what to send to which host,
// and the files to download.
//
// The room server/apps holds what BOINC clients compute with: the manifest, the
// changes that an operator makes to it, and the worker's own files. It owns
// boinc/ in the project's folder, no memory of the server, and may include
// server/settings. Its readers are the BOINC door (any thread) and the
// commands.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <sys/stat.h>

#include "base/clock.h"
#include "server/apps/app_manifest.h"
#include "server/settings/project_folder.h"

namespace quorate::boinc {

// What the folder's manifest says; nothing is published if there is none.
// Throws corrupt, naming the file and what was expected, also for signatures
// that are not the code-sign key's; io.
AppManifest load_app_manifest(const ProjectFolder& folder);

// What to send to a client with a former key: the key that followed it, and
// its signature over that. A client that is several behind learns one after
// the other, and can only be given work when it has the last.
struct Successor {
  RsaPublicKey key;
  RsaSignature signature;
};

// What was published at one moment. Never changes, so any thread may use it.
class AppVersions {
 public:
  AppVersions() = default;  // nothing
  // Throws corrupt, naming the file and what was expected of it, io.
  static AppVersions load(const ProjectFolder& folder);

  // The newest version that is not retired and serves the device, for the
  // first of the platforms that has one; null if there is none.
  const PublishedVersion* find(std::span<const std::string> platforms,
                               DeviceKind device) const;
  // Also a retired one: tasks of it may be sent again.
  const PublishedVersion* version(std::uint32_t number) const;
  // Null for unknown names. Files of retired versions are there, too.
  const AppFile* file(std::string_view name) const;
  // Where the bytes of such a file are.
  fs::path path_of(const AppFile& file) const { return folder_ / file.name; }

  // The platforms for which an unretired version exists.
  std::vector<std::string> platforms() const;

  const std::optional<RsaPublicKey>& code_sign_key() const {
    return manifest_.code_sign_key;
  }
  // nullopt: never was the project's key, or is it now.
  std::optional<Successor> successor_of(const RsaPublicKey& former) const;

 private:
  AppManifest manifest_;
  fs::path folder_;
};

// The newest state of it, read again when it changes on disk: the server looks
// at most once a second. Any thread.
class PublishedApps {
 public:
  // Both must outlive this.
  PublishedApps(const ProjectFolder& folder, const Clock& clock);

  // Never null. What cannot be read is logged, once, and the state before
  // stays.
  std::shared_ptr<const AppVersions> current();

 private:
  // Of a file that a rename replaces; equal only if it is the same.
  struct Stamp {
    ino_t inode = 0;
    off_t size = 0;
    std::int64_t seconds = 0;
    std::int64_t nanoseconds = 0;

    bool operator==(const Stamp&) const = default;
  };
  Stamp stamp() const;
  void read(const Stamp& found);

  const ProjectFolder& folder_;
  const Clock& clock_;
  std::mutex mutex_;
  Instant next_look_{};
  Stamp read_;
  Stamp unreadable_;  // the last one that was logged
  std::shared_ptr<const AppVersions> current_;
};

}  // namespace quorate::boinc
