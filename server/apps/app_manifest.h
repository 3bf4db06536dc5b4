// What a project has published for BOINC clients to compute with:
// boinc/app_versions.json in its folder. One file for all versions, so that
// each change is one rename. docs/formats.md, "Published app versions".
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/weak_crypto.h"

namespace quorate::boinc {

// Bounds of what is read and published.
inline constexpr std::uint64_t kMaxAppFileBytes = 1ULL << 30;
inline constexpr std::size_t kMaxLibraries = 64;
inline constexpr std::uint32_t kMaxVersion = 100'000;

// What a version can compute on: the values of the worker's --device.
enum class DeviceKind { cpu, cuda, opencl };
inline constexpr DeviceKind kDeviceKinds[] = {DeviceKind::cpu, DeviceKind::cuda,
                                              DeviceKind::opencl};
std::string_view name_of(DeviceKind kind);
// nullopt: no such kind.
std::optional<DeviceKind> device_kind(std::string_view name);

// A file of app versions. Several may share it: its name has a piece of its
// SHA-256 and stands for its content for ever.
struct AppFile {
  std::string name;
  Md5Hash md5;
  std::uint64_t nbytes = 0;
  RsaSignature signature;  // of md5, by the code-sign key

  bool operator==(const AppFile&) const = default;
};

struct AppLibrary {
  std::string file;    // an AppFile
  std::string soname;  // under which the loader looks for it

  bool operator==(const AppLibrary&) const = default;
};

struct PublishedVersion {
  std::uint32_t version = 0;  // counted over all platforms
  std::string platform;       // as BOINC calls it: "x86_64-pc-linux-gnu"
  std::vector<DeviceKind> devices;
  bool is_retired = false;  // no new work with it
  std::string program;      // an AppFile
  std::vector<AppLibrary> libraries;

  // Whether `devices` has it; says nothing of is_retired.
  bool serves(DeviceKind device) const;
  bool operator==(const PublishedVersion&) const = default;
};

// A key that was in use, and its signature over the one that followed.
struct FormerKey {
  RsaPublicKey key;
  RsaSignature successor;

  bool operator==(const FormerKey&) const = default;
};

// Immutable once read: a change makes another (server/apps/app_changes), which
// takes the old one's place by a rename.
struct AppManifest {
  std::optional<RsaPublicKey> code_sign_key;  // with the first file at latest
  std::vector<FormerKey> former_keys;         // oldest first
  std::map<std::string, AppFile, std::less<>> files;  // by name
  std::vector<PublishedVersion> versions;             // ascending

  bool operator==(const AppManifest&) const = default;
};

// 1 to 128 letters, digits, "_", "." and "-".
bool is_platform(std::string_view text);

// Canonical JSON; what parse_app_manifest() gives back is equal.
std::string write(const AppManifest& manifest);
// Throws corrupt, beginning with `what` and naming the member, unless every
// name leads somewhere and all is within bounds. Signatures are not checked.
AppManifest parse_app_manifest(std::string_view text, const std::string& what);

}  // namespace quorate::boinc
