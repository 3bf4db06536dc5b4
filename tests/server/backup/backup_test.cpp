#include "server/backup/backup.h"

#include <algorithm>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/weak_crypto.h"
#include "server/backup/list.h"
#include "server/objects/file_deleter.h"
#include "server/settings/settings.h"
#include "server/store/store.h"
#include "tests/support/temporary_folder.h"
#include "workunits/objects/object_store.h"

namespace quorate {
namespace {

using test::TemporaryFolder;

void no_progress(const std::string&, std::uint64_t, std::uint64_t) {}

// A project with a user and some objects.
struct SmallProject {
  TemporaryFolder place;
  ProjectFolder folder{place / "project"};
  fs::path backup = place / "backup";
  ProjectFolder restored{place / "restored"};
  std::vector<Hash> objects;

  SmallProject() {
    create_project(folder, "small", "");
    auto store = open_sqlite_store(folder.database());
    store->begin();
    User user;
    user.key = PrivateKey::generate().public_key();
    user.name = "ada";
    store->insert_user(user);
    store->commit();
    ObjectStore files(folder.objects(), folder.temporary());
    for (int i = 0; i < 5; ++i) {
      objects.push_back(files.put(as_bytes(fmt::format("object {}", i))));
    }
    write_file_durably(folder.datasets() / "tiny.json", as_bytes("{}"));
    write_file_durably(folder.web_operators(), as_bytes("[]"));
    publish_app();
  }

  void publish_app() const {
    fs::create_directories(folder.boinc_files());
    write_file_durably(folder.boinc_files() / "worker-01", as_bytes("ELF"));
    write_file_durably(folder.boinc_files() / "worker-02.1.0.tmp",
                       as_bytes("being written"));
    write_file_durably(folder.boinc_apps(), as_bytes("{}"));
    RsaPrivateKey::generate().save(folder.boinc_key().string());
  }

  BackupReport take() { return back_up(folder, backup, {}, no_progress); }
  void restore_it() { restore(backup, restored, no_progress); }
};

ErrorKind failure_of(const std::function<void()>& call,
                     const std::string& expected) {
  try {
    call();
  } catch (const Error& error) {
    CAPTURE(error.what());
    CHECK(std::string(error.what()).find(expected) != std::string::npos);
    return error.kind();
  }
  FAIL("nothing was thrown");
  return ErrorKind::io;
}

int mode_of(const fs::path& path) {
  struct stat status {};
  REQUIRE(::stat(path.c_str(), &status) == 0);
  return static_cast<int>(status.st_mode & 0777);
}

BackupFile object_file(const std::string& bytes) {
  Hash hash = sha256(as_bytes(bytes));
  return {"objects/" + hash.hex().substr(0, 2) + "/" + hash.hex(), hash};
}

std::vector<BackupFile> sample_files() {
  return {{"settings.toml", {}},
          {"keys/project.key", {}},
          {"keys/house.key", {}},
          {"db/quorate.sqlite", {}},
          {"keys/boinc_code_sign.key", {}},
          {"boinc/app_versions.json", {}},
          {"boinc/files/libstdc__.so.6-0123456789abcdef", {}},
          {"datasets/my-set.png", {}},
          object_file("a"),
          object_file("b")};
}

ErrorKind failure_of_list(const std::string& text) {
  return failure_of([&] { parse_backup_list(text); }, "SHA256SUMS");
}

}  // namespace

TEST_CASE("a list of a backup is read as it was written") {
  std::vector<BackupFile> files =
      parse_backup_list(write_backup_list(sample_files()));
  REQUIRE(files.size() == sample_files().size());
  CHECK(files.front().path == "boinc/app_versions.json");
  CHECK(files.back().path == "settings.toml");
}

TEST_CASE("a list that is cut short or changed is refused") {
  std::string text = write_backup_list(sample_files());
  for (std::size_t size = 0; size < text.size(); ++size) {
    CAPTURE(size);
    CHECK(failure_of_list(text.substr(0, size)) == ErrorKind::corrupt);
  }
  CHECK(failure_of_list(text + "\n") == ErrorKind::corrupt);
  CHECK(failure_of_list("# quorate backup 2" + text.substr(18)) ==
        ErrorKind::corrupt);
  for (const char* path :
       {"../settings.toml", "/etc/passwd", "keys/other.key", "datasets/../x",
        "boinc/files/../../x", "boinc/files/", "boinc/files/a/b",
        "boinc/x.json", "datasets/.json", "datasets/a/b.json", "datasets/a.txt",
        "", "objects", "objects/ab/cd", "quorate.toml", "SHA256SUMS"}) {
    CAPTURE(path);
    std::vector<BackupFile> files = sample_files();
    files.push_back({path, {}});
    CHECK(failure_of_list(write_backup_list(files)) == ErrorKind::corrupt);
  }
  for (std::size_t i = 0; i < 4; ++i) {  // settings, keys, store
    std::vector<BackupFile> files = sample_files();
    files.erase(files.begin() + static_cast<std::ptrdiff_t>(i));
    CHECK(failure_of_list(write_backup_list(files)) == ErrorKind::corrupt);
  }
  std::vector<BackupFile> twice = sample_files();
  twice.push_back(twice.back());
  CHECK(failure_of_list(write_backup_list(twice)) == ErrorKind::corrupt);
  std::vector<BackupFile> misnamed = sample_files();
  misnamed.back().hash = sha256(as_bytes("c"));
  CHECK(failure_of_list(write_backup_list(misnamed)) == ErrorKind::corrupt);
}

TEST_CASE("a backup restores to the same project") {
  SmallProject project;
  for (bool link : {false, true}) {
    CAPTURE(link);
    fs::path backup = project.place / (link ? "linked" : "copied");
    ProjectFolder restored{project.place / (link ? "one" : "two")};
    BackupReport report = back_up(project.folder, backup, {link}, no_progress);
    CHECK(report.damaged.empty());
    CHECK(report.files == 5 + 1 + 5 + 1 + 4);  // tls has two files
    CHECK(mode_of(backup) == 0700);
    CHECK(mode_of(backup / "keys/project.key") == 0600);
    CHECK(failure_of([&] { load_keys(ProjectFolder{backup}); }, "no project") ==
          ErrorKind::usage);

    CHECK(restore(backup, restored, no_progress).bytes == report.bytes);
    CHECK(load_keys(restored).id == load_keys(project.folder).id);
    CHECK(mode_of(restored.keys()) == 0700);
    CHECK(mode_of(restored.project_key()) == 0600);
    CHECK(mode_of(restored.tls_key()) == 0600);
    CHECK(mode_of(restored.web_operators()) == 0600);
    CHECK(load_settings(restored.settings()).name == "small");
    CHECK(open_sqlite_store(restored.database())->users().back().name == "ada");
    for (const Hash& hash : project.objects) {
      ObjectReader(restored.objects()).read(hash);
    }
    CHECK(fs::exists(restored.datasets() / "tiny.json"));
    CHECK(mode_of(restored.boinc_key()) == 0600);
    CHECK(fs::exists(restored.boinc_apps()));
    CHECK(read_text_file(restored.boinc_files() / "worker-01") == "ELF");
    // A link's file is the object itself: the copy in the project is not.
    fs::path object = ObjectReader(restored.objects()).path(project.objects[0]);
    CHECK(fs::hard_link_count(object) == 1);
  }
}

TEST_CASE("a project that was never served has a backup, too") {
  TemporaryFolder place;
  ProjectFolder folder{place / "project"};
  ProjectFolder restored{place / "restored"};
  create_project(folder, "new", "");
  back_up(folder, place / "backup", {}, no_progress);
  restore(place / "backup", restored, no_progress);
  CHECK(open_sqlite_store(restored.database())->runs().empty());
}

TEST_CASE("folders that hold something are left alone") {
  SmallProject project;
  project.take();
  CHECK(failure_of([&] { project.take(); }, "new or empty") ==
        ErrorKind::usage);
  CHECK(fs::exists(project.backup / kBackupList));
  CHECK(
      failure_of([&] { restore(project.backup, project.folder, no_progress); },
                 "new or empty") == ErrorKind::usage);
  CHECK(load_keys(project.folder).id.hex().size() == 64);
  CHECK(failure_of(
            [&] {
              back_up(project.restored, project.place / "x", {}, no_progress);
            },
            "no project") == ErrorKind::usage);
}

TEST_CASE("a backup that failed leaves nothing behind") {
  SmallProject project;
  auto fail_late = [](const std::string& what, std::uint64_t, std::uint64_t) {
    if (what == "copying objects") throw Error(ErrorKind::io, "disk full");
  };
  CHECK_THROWS_AS(back_up(project.folder, project.backup, {}, fail_late),
                  Error);
  CHECK_FALSE(fs::exists(project.backup));
  fs::create_directory(project.backup);
  CHECK_THROWS_AS(back_up(project.folder, project.backup, {}, fail_late),
                  Error);
  CHECK(fs::is_empty(project.backup));
  project.take();
}

TEST_CASE("every damage to a backup is found, and nothing is restored") {
  SmallProject project;
  project.take();
  auto refused = [&](const std::string& named) {
    ErrorKind kind = failure_of([&] { project.restore_it(); }, named);
    CHECK_FALSE(fs::exists(project.restored.root));
    return kind;
  };
  std::vector<BackupFile> files =
      parse_backup_list(read_text_file(project.backup / kBackupList));
  for (const BackupFile& file : files) {
    fs::path path = project.backup / file.path;
    CAPTURE(path);
    Bytes whole = read_file(path);
    Bytes changed = whole;
    changed.back() ^= 1;
    write_file_durably(path, changed);
    CHECK(refused(file.path) == ErrorKind::corrupt);
    write_file_durably(path, ByteView(whole).first(whole.size() - 1));
    CHECK(refused(file.path) == ErrorKind::corrupt);
    fs::remove(path);
    CHECK(refused(file.path) == ErrorKind::io);
    fs::path elsewhere = project.place / "elsewhere";
    write_file_durably(elsewhere, whole);
    fs::create_symlink(elsewhere, path);
    CHECK(refused(file.path) == ErrorKind::corrupt);
    fs::remove(path);
    fs::create_directory(path);
    CHECK(refused(file.path) == ErrorKind::corrupt);
    fs::remove(path);
    write_file_durably(path, whole);
  }
  fs::rename(project.backup / kBackupList, project.place / "list");
  CHECK(refused("interrupted") == ErrorKind::usage);
  REQUIRE(::mkfifo((project.backup / kBackupList).c_str(), 0600) == 0);
  CHECK(refused("interrupted") == ErrorKind::usage);  // and does not wait
  fs::remove(project.backup / kBackupList);
  fs::rename(project.place / "list", project.backup / kBackupList);
  project.restore_it();
}

TEST_CASE("an object that is damaged on disk is left out and told") {
  SmallProject project;
  ObjectReader objects(project.folder.objects());
  write_file_durably(objects.path(project.objects[2]), as_bytes("rot"));
  write_file_durably(project.folder.objects() / "ab" / "notes",
                     as_bytes("not ours"));
  BackupReport report = project.take();
  CHECK(report.damaged == std::vector<std::string>{project.objects[2].hex()});
  project.restore_it();
  ObjectReader restored(project.restored.objects());
  CHECK_FALSE(restored.contains(project.objects[2]));
  CHECK(restored.contains(project.objects[3]));
}

TEST_CASE("no object may be removed while a backup copies") {
  SmallProject project;
  std::size_t asked = 0;
  back_up(project.folder, project.backup, {},
          [&](const std::string&, std::uint64_t, std::uint64_t) {
            ++asked;
            CHECK_FALSE(right_to_remove(project.folder));
          });
  CHECK(asked > 3);
  CHECK(right_to_remove(project.folder));
}

TEST_CASE("a store is copied as it was when the copy began") {
  SmallProject project;
  auto store = open_sqlite_store(project.folder.database());
  auto add_events = [&](int count) {
    store->begin();
    Event event;
    event.kind = "test";
    event.text = std::string(4000, 'x');
    for (int i = 0; i < count; ++i) store->insert_events({&event, 1});
    store->commit();
  };
  add_events(6000);  // pages for several steps
  int steps = 0;
  fs::path copy = project.place / "copy.sqlite";
  copy_sqlite_store(project.folder.database(), copy,
                    [&](std::uint64_t done, std::uint64_t all) {
                      CHECK(done <= all);
                      ++steps;
                      add_events(1);  // a server that goes on
                    });
  CHECK(steps > 3);
  CHECK(open_sqlite_store(copy)->events({10000}).size() == 6000);
  CHECK(store->events({10000}).size() ==
        6000 + static_cast<std::size_t>(steps));
}

TEST_CASE("a store that is damaged is not backed up as if it were whole") {
  SmallProject project;
  fs::path file = project.folder.database();
  Bytes bytes = read_file(file);
  std::fill(bytes.begin() + 4096, bytes.begin() + 3 * 4096, std::uint8_t{0x5a});
  write_file_durably(file, bytes);
  CHECK_THROWS_AS(project.take(), Error);
  CHECK_FALSE(fs::exists(project.backup));
}

}  // namespace quorate
