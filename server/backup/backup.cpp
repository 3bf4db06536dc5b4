#include "server/backup/backup.h"

#include <chrono>
#include <optional>
#include <thread>

#include <fmt/format.h>

#include "base/error.h"
#include "protocol/boinc/names.h"
#include "server/backup/file_copy.h"
#include "server/backup/list.h"
#include "server/datasets/manifest.h"
#include "server/store/store.h"

namespace quorate {
namespace {

constexpr int kPrivate = 0600;
constexpr int kPublic = 0644;

// A server holds the lock for the moment in which it removes objects.
FileLock hold_objects(const ProjectFolder& project) {
  constexpr int kTries = 200;
  constexpr std::chrono::milliseconds kPause{20};
  for (int tries = 1;; ++tries) {
    try {
      return FileLock(project.backup_lock());
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::denied || tries == kTries) throw;
    }
    std::this_thread::sleep_for(kPause);
  }
}

std::optional<Hash> hash_named(const std::string& text) {
  try {
    return parse_hex<Hash>(text, "object");
  } catch (const Error&) {
    return std::nullopt;
  }
}

class BackupMaker {
 public:
  BackupMaker(const ProjectFolder& project, const fs::path& folder,
              const BackupOptions& options, const BackupProgress& progress)
      : project_(project),
        folder_(folder),
        options_(options),
        progress_(progress) {}

  BackupReport make() {
    for (const char* name : {"db", "keys", "datasets", "objects"}) {
      fs::create_directory(folder_ / name);
    }
    copy_store();
    copy(project_.settings(), kBackupSettings, kPublic);
    copy_keys();
    copy_datasets();
    copy_boinc();
    copy_objects();  // last: store and data sets name them
    sync_all(folder_);
    std::string list = write_backup_list(files_);
    write_file_durably(folder_ / kBackupList, as_bytes(list));
    return std::move(report_);
  }

 private:
  void add(const std::string& path, const CopiedFile& copied) {
    files_.push_back({path, copied.hash});
    ++report_.files;
    report_.bytes += copied.bytes;
  }

  // Operators may keep settings and keys elsewhere and link to them.
  void copy(const fs::path& from, const std::string& path, int mode) {
    add(path, copy_plain_file(fs::canonical(from), folder_ / path, mode));
  }

  void copy_store() {
    // A project that was never served has none yet.
    if (!fs::exists(project_.database())) {
      open_sqlite_store(project_.database());
    }
    const char* path = "db/quorate.sqlite";
    copy_sqlite_store(project_.database(), folder_ / path,
                      [this](std::uint64_t done, std::uint64_t all) {
                        progress_("copying the store", done, all);
                      });
    add(path, hash_plain_file(folder_ / path));
  }

  void copy_keys() {
    copy(project_.project_key(), "keys/project.key", kPrivate);
    copy(project_.house_key(), "keys/house.key", kPrivate);
    if (fs::exists(project_.keyring())) {
      copy(project_.keyring(), "keys/keyring", kPublic);
    }
    if (fs::exists(project_.boinc_upload_key())) {
      copy(project_.boinc_upload_key(), "keys/boinc_upload.key", kPrivate);
    }
    if (fs::exists(project_.boinc_key())) {
      copy(project_.boinc_key(), "keys/boinc_code_sign.key", kPrivate);
    }
    if (fs::exists(project_.web_operators())) {
      copy(project_.web_operators(), "keys/web_operators.json", kPrivate);
    }
    if (!fs::exists(project_.tls_key())) return;
    copy(project_.tls_key(), "keys/tls.key", kPrivate);
    copy(project_.tls_certificate(), "keys/tls.crt", kPublic);
  }

  void copy_datasets() {
    for (const auto& entry : fs::directory_iterator(project_.datasets())) {
      fs::path extension = entry.path().extension();
      if (extension != ".json" && extension != ".png") continue;
      if (!is_dataset_name(entry.path().stem().string())) continue;
      copy(entry.path(), "datasets/" + entry.path().filename().string(),
           kPublic);
    }
  }

  // First what names the files: none of them ever goes.
  void copy_boinc() {
    if (!fs::exists(project_.boinc_apps())) return;
    fs::create_directories(folder_ / "boinc" / "files");
    copy(project_.boinc_apps(), "boinc/app_versions.json", kPublic);
    if (!fs::exists(project_.boinc_files())) return;
    for (const auto& entry : fs::directory_iterator(project_.boinc_files())) {
      std::string name = entry.path().filename().string();
      bool is_whole = entry.path().extension() != ".tmp";
      if (!is_whole || !boinc::is_file_name(name)) continue;
      copy(entry.path(), "boinc/files/" + name, kPublic);
    }
  }

  void copy_objects() {
    std::vector<fs::path> objects;
    for (const auto& first : fs::directory_iterator(project_.objects())) {
      if (!first.is_directory()) continue;
      for (const auto& entry : fs::directory_iterator(first.path())) {
        objects.push_back(entry.path());
      }
    }
    for (std::size_t i = 0; i < objects.size(); ++i) {
      progress_("copying objects", i, objects.size());
      copy_object(objects[i]);
    }
  }

  void copy_object(const fs::path& object) {
    std::string name = object.filename().string();
    std::optional<Hash> hash = hash_named(name);
    if (!hash) return;  // not ours
    std::string path = "objects/" + name.substr(0, 2) + "/" + name;
    fs::path target = folder_ / path;
    fs::create_directory(target.parent_path());
    CopiedFile copied{*hash, fs::file_size(object)};
    if (options_.link) {
      link(object, target);
    } else {
      copied = copy_plain_file(object, target, kPublic);
    }
    if (copied.hash != *hash) {
      fs::remove(target);
      report_.damaged.push_back(name);
      return;
    }
    add(path, copied);
  }

  void link(const fs::path& object, const fs::path& target) const {
    std::error_code error;
    fs::create_hard_link(object, target, error);
    if (!error) return;
    throw Error(ErrorKind::usage,
                fmt::format("link {} to {}: {}: name a folder on the project's "
                            "own file system, or leave out --link",
                            target.string(), object.string(), error.message()));
  }

  const ProjectFolder& project_;
  const fs::path& folder_;
  const BackupOptions& options_;
  const BackupProgress& progress_;
  std::vector<BackupFile> files_;
  BackupReport report_;
};

std::vector<BackupFile> read_list(const fs::path& backup) {
  constexpr std::uint64_t kMostBytes = 1ULL << 30;  // seven million files
  fs::path list = backup / kBackupList;
  if (!fs::is_regular_file(list)) {
    throw Error(ErrorKind::usage,
                fmt::format("restore {}: it has no {}: it is not a backup, or "
                            "the backup was interrupted: name another",
                            backup.string(), kBackupList));
  }
  return parse_backup_list(read_text_file(list, kMostBytes));
}

void restore_file(const fs::path& backup, const BackupFile& file,
                  const fs::path& target, BackupReport& report) {
  // The web's operators have their secrets there, too; certificates are public.
  const bool is_key =
      file.path.starts_with("keys/") && !file.path.ends_with(".crt");
  fs::create_directories(target.parent_path());
  CopiedFile copied =
      copy_plain_file(backup / file.path, target, is_key ? kPrivate : kPublic);
  if (copied.hash != file.hash) {
    throw Error(ErrorKind::corrupt,
                fmt::format("restore {}: its hash is not the one in {}: it was "
                            "damaged after the backup: use another backup",
                            (backup / file.path).string(), kBackupList));
  }
  ++report.files;
  report.bytes += copied.bytes;
}

}  // namespace

BackupReport back_up(const ProjectFolder& project, const fs::path& folder,
                     const BackupOptions& options,
                     const BackupProgress& progress) {
  load_keys(project);  // says so if there is no project
  FileLock hold = hold_objects(project);
  NewFolder target(folder, fs::perms::owner_all, "back up to");
  BackupReport report = BackupMaker(project, folder, options, progress).make();
  target.keep();
  return report;
}

BackupReport restore(const fs::path& backup, const ProjectFolder& project,
                     const BackupProgress& progress) {
  std::vector<BackupFile> files = read_list(backup);
  NewFolder target(project.root, fs::perms::owner_all, "restore to");
  make_project_folders(project);
  BackupReport report;
  fs::path settings = project.root / kBackupSettings;
  for (std::size_t i = 0; i < files.size(); ++i) {
    progress("restoring files", i, files.size());
    restore_file(backup, files[i], project.root / files[i].path, report);
  }
  sync_all(project.root);
  // Last: its presence is what makes the folder a project.
  fs::rename(settings, project.settings());
  sync_folder(project.root);
  target.keep();
  return report;
}

}  // namespace quorate
