#include "client/data_folder.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"

namespace quorate::client {
namespace {

constexpr std::uint64_t kMostPauseBytes = 1000;

void make_private_folder(const fs::path& folder) {
  std::error_code failed;
  bool is_new = fs::create_directories(folder, failed);
  if (!failed && is_new) {
    fs::permissions(folder, fs::perms::owner_all, failed);
  }
  if (failed) {
    throw Error(ErrorKind::io, fmt::format("make folder {}: {}: choose another "
                                           "with --dir",
                                           folder.string(), failed.message()));
  }
}

PrivateKey load_or_make_key(const fs::path& file) {
  if (fs::exists(file)) return PrivateKey::load(file.string());
  PrivateKey key = PrivateKey::generate();
  key.save(file.string());
  return key;
}

}  // namespace

DataFolder::DataFolder(fs::path root) : root_(std::move(root)) {
  make_private_folder(root_);
}

PrivateKey DataFolder::account_key() const {
  return load_or_make_key(root_ / "account.key");
}

PrivateKey DataFolder::host_key() const {
  return load_or_make_key(root_ / "host.key");
}

void DataFolder::adopt_account(const fs::path& file) const {
  PrivateKey given = PrivateKey::load(file.string());
  fs::path own = root_ / "account.key";
  if (!fs::exists(own)) {
    given.save(own.string());
    return;
  }
  if (PrivateKey::load(own.string()).public_key() != given.public_key()) {
    throw Error(ErrorKind::denied,
                fmt::format("use the account in {}: this folder already "
                            "belongs to another account, {}: use another "
                            "folder with --dir, or remove that file",
                            file.string(), own.string()));
  }
}

FileLock DataFolder::lock() const {
  return FileLock(root_ / "lock");
}

std::optional<Pause> DataFolder::pause(std::int64_t unix_ms) const {
  Pause pause;
  try {
    if (!fs::exists(root_ / "paused")) return std::nullopt;
    pause = parse_pause(read_text_file(root_ / "paused", kMostPauseBytes));
  } catch (const Error&) {
    // It is there, but says nothing: until `resume`.
  }
  if (!holds(pause, unix_ms)) return std::nullopt;
  return pause;
}

void DataFolder::set_pause(const std::optional<Pause>& pause) const {
  if (pause) {
    write_file_durably(root_ / "paused", as_bytes(write_pause(*pause)));
  } else {
    fs::remove(root_ / "paused");
    sync_folder(root_);
  }
}

fs::path DataFolder::project_folder(const ProjectId& project) const {
  return root_ / "projects" / fingerprint(project);
}

void DataFolder::add_project(const Project& project) const {
  fs::path folder = project_folder(project.id);
  make_private_folder(folder);
  save_project(folder / "project.json", project);
}

void DataFolder::remove_project(const Project& project) const {
  fs::remove_all(project_folder(project.id));
}

std::vector<Project> DataFolder::projects() const {
  std::vector<Project> found;
  if (!fs::exists(root_ / "projects")) return found;
  for (const auto& entry : fs::directory_iterator(root_ / "projects")) {
    fs::path file = entry.path() / "project.json";
    if (fs::exists(file)) found.push_back(load_project(file));
  }
  std::sort(found.begin(), found.end(),
            [](const Project& a, const Project& b) { return a.url < b.url; });
  return found;
}

}  // namespace quorate::client
