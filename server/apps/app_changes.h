// The changes that an operator makes to what is published, as functions of the
// manifest: server/apps/app_publisher writes what they give.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "server/apps/app_manifest.h"

namespace quorate::boinc {

// A file to publish, and how a task finds it.
struct AppContent {
  std::string open_name;  // of a library its soname
  Bytes bytes;
  AppFile file;  // without its signature
};

// The file's name is like "libstdc__.so.6-0123456789abcdef": `name` in
// the characters that names and URLs agree on, and the start of
// the SHA-256 of its bytes.
AppContent app_content(std::string_view name, Bytes bytes);

// platform: a name of program_files.h; devices: at least one; libraries: those
// that a volunteer's machine may lack.
struct NewVersion {
  std::string platform;
  std::vector<DeviceKind> devices;
  AppContent program;
  std::vector<AppContent> libraries;
};

// The version that has the same program and libraries for the same platform
// and serves these devices; null if there is none. Retired ones, too.
const PublishedVersion* find_same(const AppManifest& manifest,
                                  const NewVersion& version);

// With the version as the newest. The first one settles the code-sign key.
// Throws usage if `key` is another than the code-sign key, or if the same is
// published and not retired.
AppManifest with_version(AppManifest manifest, const RsaPrivateKey& key,
                         const NewVersion& version);

// Throws usage if there is no such version, or it is retired.
AppManifest with_retired(AppManifest manifest, std::uint32_t version);

// With `next` in the place of the code-sign key: signed by it, and all files
// signed anew. Throws usage if `key` is not the code-sign key, or `next` was in
// use before.
AppManifest with_next_key(AppManifest manifest, const RsaPrivateKey& key,
                          const RsaPrivateKey& next);

// Throws corrupt, beginning with `what`, unless every file is signed by the
// code-sign key, and every former key has signed the next.
void expect_signed(const AppManifest& manifest, const std::string& what);

}  // namespace quorate::boinc
