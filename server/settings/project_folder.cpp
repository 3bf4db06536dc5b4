#include "server/settings/project_folder.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "base/error.h"
#include "server/http/tls/tls.h"
#include "server/settings/address.h"
#include "server/settings/settings.h"

namespace quorate {
namespace {

void expect_new(const ProjectFolder& folder) {
  if (fs::exists(folder.settings())) {
    throw Error(ErrorKind::usage,
                fmt::format("init {}: it holds a project already: start it "
                            "with `quorate -C {} serve`",
                            folder.root.string(), folder.root.string()));
  }
  std::error_code ignored;
  if (fs::exists(folder.root, ignored) &&
      !fs::is_directory(folder.root, ignored)) {
    throw Error(ErrorKind::usage,
                fmt::format("init {}: it is a file: name a new folder",
                            folder.root.string()));
  }
  fs::path around = fs::absolute(folder.root).lexically_normal();
  while (around.has_relative_path()) {
    around = around.parent_path();
    if (!fs::exists(ProjectFolder{around}.settings(), ignored)) continue;
    throw Error(
        ErrorKind::usage,
        fmt::format("init {}: {} is a project: name a folder outside it",
                    folder.root.string(), around.string()));
  }
  if (fs::exists(folder.root, ignored) && !fs::is_empty(folder.root)) {
    throw Error(ErrorKind::usage,
                fmt::format("init {}: the folder is not empty: name a new one",
                            folder.root.string()));
  }
}

// The list, or that of one key if there is none.
Keyring load_keyring(const ProjectFolder& folder, const PublicKey& key) {
  if (!fs::exists(folder.keyring())) return keyring_of(key);
  const std::string what = folder.keyring().string();
  Keyring ring = open_keyring(
      read_file(folder.keyring(), kMaxKeyringBytes + kSealBytes), what);
  if (ring.current().key == key) return ring;
  throw Error(ErrorKind::corrupt,
              fmt::format("{}: {} is not the key that it names last, {}: "
                          "restore both from one backup, or type `quorate keys "
                          "renew` with the root key",
                          what, folder.project_key().string(),
                          ring.current().key.hex()));
}

}  // namespace

std::vector<std::string> dataset_names(const ProjectFolder& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder.datasets())) {
    if (entry.path().extension() == ".json") {
      names.push_back(entry.path().stem().string());
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

void make_project_folders(const ProjectFolder& folder) {
  for (const fs::path& path :
       {folder.root, folder.database().parent_path(), folder.objects(),
        folder.temporary(), folder.uploads(), folder.datasets(),
        folder.log().parent_path(), folder.lock().parent_path(),
        folder.keys()}) {
    try {
      make_private_folder(path);
    } catch (const Error& error) {
      throw Error(error.kind(),
                  fmt::format("{}: name a place where you may make folders",
                              error.what()));
    }
  }
}

void create_project(const ProjectFolder& folder, const std::string& name,
                    const std::string& url) {
  expect_new(folder);
  make_project_folders(folder);
  PrivateKey::generate().save(folder.project_key().string());
  PrivateKey::generate().save(folder.house_key().string());
  make_self_signed_certificate({folder.tls_certificate(), folder.tls_key()},
                               url.empty() ? "localhost" : host_of(url));
  ServerSettings settings;
  settings.trust_proven_time = kProvenTime;
  if (!name.empty()) settings.name = name;
  settings.url = url;
  // Last: its presence is what makes the folder a project.
  write_file_durably(folder.settings(), as_bytes(settings_template(settings)));
}

namespace {

// nullopt: it is not there, or was cut off while it was written, which was
// before any list named it.
std::optional<PublicKey> next_key(const ProjectFolder& folder) {
  const fs::path& file = folder.next_project_key();
  if (!fs::exists(file)) return std::nullopt;
  try {
    return PrivateKey::load(file.string()).public_key();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::corrupt) throw;
    return std::nullopt;
  }
}

// A renewal that was cut off between the list and the key.
void finish_renewal(const ProjectFolder& folder) {
  const std::optional<PublicKey> next = next_key(folder);
  if (!next) return;
  const Keyring ring =
      open_keyring(read_file(folder.keyring(), kMaxKeyringBytes + kSealBytes),
                   folder.keyring().string());
  if (ring.current().key != *next) return;  // cut off before the list
  fs::rename(folder.next_project_key(), folder.project_key());
  sync_folder(folder.keys());
}

}  // namespace

ProjectKeys keys_of(PrivateKey project, PrivateKey house) {
  Keyring ring = keyring_of(project.public_key());
  const ProjectId id = ring.project;
  return {std::move(project), std::move(house), id, std::move(ring)};
}

ProjectKeys load_keys(const ProjectFolder& folder) {
  if (!fs::exists(folder.settings())) {
    throw Error(ErrorKind::usage,
                fmt::format("open {}: there is no project here: make one with "
                            "`quorate init {}`, or name its folder with -C",
                            folder.root.string(), folder.root.string()));
  }
  expect_own_folder(folder.root);
  for (const fs::path& key : {folder.project_key(), folder.house_key()}) {
    if (fs::exists(key)) continue;
    throw Error(ErrorKind::io,
                fmt::format("open {}: {} is missing: restore it from a backup; "
                            "nobody can continue a project without its keys",
                            folder.root.string(), key.string()));
  }
  if (fs::exists(folder.keyring())) finish_renewal(folder);
  PrivateKey project = PrivateKey::load(folder.project_key().string());
  Keyring ring = load_keyring(folder, project.public_key());
  const ProjectId id = ring.project;
  return {std::move(project), PrivateKey::load(folder.house_key().string()), id,
          std::move(ring)};
}

}  // namespace quorate
