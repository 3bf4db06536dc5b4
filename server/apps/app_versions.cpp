#include "server/apps/app_versions.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "base/log.h"
#include "server/apps/app_changes.h"

namespace quorate::boinc {
namespace {

constexpr Seconds kBetweenLooks{1};
constexpr std::uint64_t kMostManifestBytes = 64 << 20;

// The bytes themselves were hashed when they were published, and clients check
// the signature; here only that they can be sent.
void expect_file(const fs::path& path, std::uint64_t nbytes) {
  std::error_code failed;
  auto size = fs::is_regular_file(path, failed) ? fs::file_size(path, failed)
                                                : std::uintmax_t{0};
  if (!failed && size == nbytes) return;
  throw Error(
      ErrorKind::corrupt,
      fmt::format(
          "{}: expected a file of {} bytes, found {}: restore it from a backup",
          path.string(), nbytes,
          fs::exists(path) ? fmt::format("{}", size) : "none"));
}

}  // namespace

AppManifest load_app_manifest(const ProjectFolder& folder) {
  fs::path path = folder.boinc_apps();
  if (!fs::exists(path)) return {};
  AppManifest manifest = parse_app_manifest(
      read_text_file(path, kMostManifestBytes), path.string());
  expect_signed(manifest, path.string());
  return manifest;
}

AppVersions AppVersions::load(const ProjectFolder& folder) {
  AppVersions loaded;
  loaded.manifest_ = load_app_manifest(folder);
  loaded.folder_ = folder.boinc_files();
  for (const auto& [name, file] : loaded.manifest_.files) {
    expect_file(loaded.path_of(file), file.nbytes);
  }
  return loaded;
}

const PublishedVersion* AppVersions::find(
    std::span<const std::string> platforms, DeviceKind device) const {
  const auto& versions = manifest_.versions;
  for (const std::string& platform : platforms) {
    auto newest =
        std::find_if(versions.rbegin(), versions.rend(), [&](const auto& one) {
          return !one.is_retired && one.platform == platform &&
                 one.serves(device);
        });
    if (newest != versions.rend()) return &*newest;
  }
  return nullptr;
}

const PublishedVersion* AppVersions::version(std::uint32_t number) const {
  for (const PublishedVersion& version : manifest_.versions) {
    if (version.version == number) return &version;
  }
  return nullptr;
}

const AppFile* AppVersions::file(std::string_view name) const {
  auto found = manifest_.files.find(name);
  return found == manifest_.files.end() ? nullptr : &found->second;
}

std::vector<std::string> AppVersions::platforms() const {
  std::vector<std::string> platforms;
  for (const PublishedVersion& version : manifest_.versions) {
    if (!version.is_retired) platforms.push_back(version.platform);
  }
  std::sort(platforms.begin(), platforms.end());
  platforms.erase(std::unique(platforms.begin(), platforms.end()),
                  platforms.end());
  return platforms;
}

std::optional<Successor> AppVersions::successor_of(
    const RsaPublicKey& former) const {
  const std::vector<FormerKey>& keys = manifest_.former_keys;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (keys[i].key != former) continue;
    return Successor{
        i + 1 < keys.size() ? keys[i + 1].key : *manifest_.code_sign_key,
        keys[i].successor};
  }
  return std::nullopt;
}

PublishedApps::PublishedApps(const ProjectFolder& folder, const Clock& clock)
    : folder_(folder),
      clock_(clock),
      current_(std::make_shared<const AppVersions>()) {}

std::shared_ptr<const AppVersions> PublishedApps::current() {
  std::lock_guard lock(mutex_);
  Instant now = clock_.now();
  if (now < next_look_) return current_;
  next_look_ = now + kBetweenLooks;
  Stamp found = stamp();
  if (found != read_) read(found);
  return current_;
}

// Files may come after the manifest that names them, when both are copied from
// elsewhere: so it is tried again.
void PublishedApps::read(const Stamp& found) {
  try {
    current_ = std::make_shared<const AppVersions>(AppVersions::load(folder_));
    read_ = found;
    log_info("boinc_apps_loaded",
             {{"platforms", current_->platforms().size()}});
  } catch (const Error& error) {
    if (found == unreadable_) return;
    unreadable_ = found;
    log_error("boinc_apps_unreadable", {{"why", error.what()}});
  }
}

PublishedApps::Stamp PublishedApps::stamp() const {
  struct stat status {};
  if (::stat(folder_.boinc_apps().c_str(), &status) != 0) return {};
  return {status.st_ino, status.st_size, status.st_mtim.tv_sec,
          status.st_mtim.tv_nsec};
}

}  // namespace quorate::boinc
