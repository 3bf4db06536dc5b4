#include "server/apps/app_publisher.h"

#include <fmt/format.h>

#include "base/error.h"
#include "server/apps/app_versions.h"
#include "server/settings/operation_lock.h"

namespace quorate::boinc {
namespace {

// Where the next key waits until the manifest names it.
fs::path next_of(const fs::path& key) {
  return key.string() + ".next";
}

void take_place(const fs::path& next, const fs::path& path) {
  fs::rename(next, path);
  sync_folder(path.has_parent_path() ? path.parent_path() : ".");
}

// A file that is there is whole.
RsaPrivateKey make_key(const fs::path& path) {
  fs::path unfinished = path.string() + ".tmp";
  fs::remove(unfinished);
  RsaPrivateKey key = RsaPrivateKey::generate();
  key.save(unfinished.string());
  take_place(unfinished, path);
  return key;
}

RsaPrivateKey read_or_make_key(const fs::path& path) {
  return fs::exists(path) ? RsaPrivateKey::load(path.string()) : make_key(path);
}

// What a process that was killed while it wrote has left.
void remove_unfinished(const fs::path& folder) {
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".tmp") fs::remove(entry.path());
  }
}

}  // namespace

AppPublisher::AppPublisher(const ProjectFolder& folder,
                           const std::string& command)
    : folder_(folder),
      lock_(lock_for(command, folder.boinc_lock(),
                     "app versions are being changed")),
      manifest_(load_app_manifest(folder)) {}

void AppPublisher::save(AppManifest next) {
  make_private_folder(folder_.boinc_apps().parent_path());
  write_file_durably(folder_.boinc_apps(), as_bytes(write(next)));
  manifest_ = std::move(next);
}

std::uint32_t AppPublisher::add(const RsaPrivateKey& key,
                                const NewVersion& version) {
  AppManifest next = with_version(manifest_, key, version);
  make_private_folder(folder_.boinc_apps().parent_path());
  make_private_folder(folder_.boinc_files());
  remove_unfinished(folder_.boinc_files());
  auto put = [this](const AppContent& content) {
    if (manifest_.files.contains(content.file.name)) return;
    write_file_durably(folder_.boinc_files() / content.file.name,
                       content.bytes);
  };
  put(version.program);
  for (const AppContent& library : version.libraries) put(library);
  save(std::move(next));
  return manifest_.versions.back().version;
}

void AppPublisher::retire(std::uint32_t version) {
  save(with_retired(manifest_, version));
}

RsaPrivateKey AppPublisher::load_key(const fs::path& path) const {
  if (!manifest_.code_sign_key) {
    throw Error(ErrorKind::usage,
                "the project has no code-sign key yet: make one with `quorate "
                "boinc key new`");
  }
  fs::path next = next_of(path);
  if (fs::exists(next) && RsaPrivateKey::load(next.string()).public_key() ==
                              manifest_.code_sign_key) {
    take_place(next, path);
  }
  if (!fs::exists(path)) {
    throw Error(ErrorKind::usage,
                fmt::format("sign with {}: no such file: name the private half "
                            "of the code-sign key with --key",
                            path.string()));
  }
  return RsaPrivateKey::load(path.string());
}

RsaPrivateKey AppPublisher::make_first_key(const fs::path& path) {
  if (manifest_.code_sign_key) {
    throw Error(
        ErrorKind::usage,
        "key new: the project has a code-sign key already, and volunteers' "
        "clients know it: change it with `quorate boinc key rotate`");
  }
  RsaPrivateKey key = read_or_make_key(path);
  AppManifest next = manifest_;
  next.code_sign_key = key.public_key();
  save(std::move(next));
  return key;
}

RsaPrivateKey AppPublisher::load_or_make_key(const fs::path& path) {
  return manifest_.code_sign_key ? load_key(path) : make_first_key(path);
}

void AppPublisher::rotate(const fs::path& path, const fs::path& next_path) {
  RsaPrivateKey key = load_key(path);
  bool stays = next_path.empty();
  RsaPrivateKey next =
      stays ? make_key(next_of(path)) : read_or_make_key(next_path);
  save(with_next_key(manifest_, key, next));
  if (stays) {
    take_place(next_of(path), path);
  } else if (fs::exists(folder_.boinc_key()) &&
             fs::equivalent(path, folder_.boinc_key())) {
    fs::remove(folder_.boinc_key());
  }
}

}  // namespace quorate::boinc
