#include "client/folder/data_folder.h"

#include <algorithm>
#include <cerrno>
#include <charconv>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

#include <pwd.h>

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

std::string user_name(uid_t user) {
  const passwd* entry = ::getpwuid(user);
  return entry != nullptr ? entry->pw_name : std::to_string(user);
}

void expect_access(const fs::path& folder) {
  if (::access(folder.c_str(), R_OK | W_OK | X_OK) == 0) return;
  if (errno != EACCES) throw_errno("use folder " + folder.string());
  struct stat status {};
  std::string owner = "somebody else";
  if (::stat(folder.c_str(), &status) == 0) owner = user_name(status.st_uid);
  throw Error(ErrorKind::denied,
              fmt::format("folder {} belongs to {}, but you are {}: use --dir "
                          "or your own account",
                          folder.string(), owner, user_name(::getuid())));
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
  expect_access(root_);
  expect_own_folder(root_);
}

DataFolder DataFolder::open(const fs::path& root) {
  std::error_code unknown;
  if (!fs::exists(root, unknown) && !unknown) {
    throw Error(
        ErrorKind::usage,
        fmt::format(
            "data folder {} does not exist, so no project is attached: check "
            "--dir, or attach a project with quorate-client attach URL",
            root.string()));
  }
  if (unknown) expect_access(root);
  return DataFolder(root);
}

PrivateKey DataFolder::account_key() const {
  return load_or_make_key(root_ / "account.key");
}

PrivateKey DataFolder::host_key() const {
  return load_or_make_key(root_ / "host.key");
}

bool DataFolder::has_host_key() const {
  return fs::exists(root_ / "host.key");
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
  fs::path file = root_ / "lock";
  try {
    return FileLock(file);
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::denied) throw;
    std::string holder = read_text_file(file, 64);
    throw Error(ErrorKind::denied,
                fmt::format("an agent (process {0}) already works in {1}; stop "
                            "it with Ctrl-C there or kill {0}, or use --dir "
                            "OTHER",
                            holder, root_.string()));
  }
}

void DataFolder::set_waiting(int pid) const {
  const fs::path file = root_ / "waiting";
  if (pid != 0) {
    write_file_durably(file, as_bytes(std::to_string(pid)));
  } else {
    fs::remove(file);
  }
}

int DataFolder::waiting() const {
  constexpr std::size_t kMostDigits = 20;
  int pid = 0;
  try {
    const std::string text = read_text_file(root_ / "waiting", kMostDigits);
    std::from_chars(text.data(), text.data() + text.size(), pid);
  } catch (const Error&) {
    return 0;
  }
  return pid;
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
  make_private_folder(folder.parent_path());
  make_private_folder(folder);
  save_project(folder / "project.json", project);
}

void DataFolder::remove_project(const Project& project) const {
  fs::remove_all(project_folder(project.id));
}

bool DataFolder::detach(const Project& project) const {
  const fs::path folder = project_folder(project.id);
  if (!fs::exists(folder)) return true;
  write_file_durably(folder / "detaching", {});
  try {
    const FileLock lock(root_ / "lock");
    remove_project(project);
    return true;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::denied) throw;
    return false;
  }
}

bool DataFolder::is_to_detach(const ProjectId& project) const {
  std::error_code unknown;
  return fs::exists(project_folder(project) / "detaching", unknown);
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

void DataFolder::keep_receipt(const ProjectId& project, ByteView sealed) const {
  const fs::path folder = project_folder(project) / "receipts";
  make_private_folder(folder);
  // The hash as the name: whatever a project seals, no receipt replaces one.
  write_file_durably(folder / (sha256(sealed).hex() + ".receipt"), sealed);
}

std::vector<fs::path> DataFolder::receipts(const ProjectId& project) const {
  std::vector<fs::path> found;
  const fs::path folder = project_folder(project) / "receipts";
  if (!fs::exists(folder)) return found;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".receipt") found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace quorate::client
