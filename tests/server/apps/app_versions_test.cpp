#include "server/apps/app_versions.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include "protocol/boinc/signatures.h"
#include "server/apps/app_publisher.h"
#include "tests/server/apps/app_samples.h"
#include "tests/support/temporary_folder.h"

namespace quorate::boinc {
namespace {

using quorate::test::TemporaryFolder;

const std::vector<std::string> kLinux = {"x86_64-pc-linux-gnu"};

struct Published {
  TemporaryFolder place;
  ProjectFolder folder{place / "project"};

  Published() { create_project(folder, "small", ""); }

  std::uint32_t add(const NewVersion& version) {
    AppPublisher publisher(folder, "test");
    return publisher.add(publisher.load_or_make_key(folder.boinc_key()),
                         version);
  }
  void retire(std::uint32_t number) {
    AppPublisher(folder, "test").retire(number);
  }
  void rotate(const fs::path& next = {}) {
    AppPublisher(folder, "test").rotate(folder.boinc_key(), next);
  }
  AppVersions load() const { return AppVersions::load(folder); }
  fs::path next_key() const { return folder.boinc_key().string() + ".next"; }
};

RsaPublicKey key_in(const fs::path& path) {
  return RsaPrivateKey::load(path.string()).public_key();
}

template <class Call>
std::string misuse_of(Call call) {
  return test::refusal_of(ErrorKind::usage, call);
}

}  // namespace

TEST_CASE("nothing is published in a new project") {
  Published project;
  AppVersions versions = project.load();
  CHECK_FALSE(versions.code_sign_key());
  CHECK(versions.find(kLinux, DeviceKind::cpu) == nullptr);
  CHECK(versions.file("anything") == nullptr);
  CHECK(versions.platforms().empty());
}

TEST_CASE("what is published is there, signed, and nobody else may change it") {
  Published project;
  CHECK(project.add(test::new_version(1)) == 1);
  AppVersions versions = project.load();
  const PublishedVersion* version = versions.find(kLinux, DeviceKind::cpu);
  REQUIRE(version != nullptr);
  CHECK(version->version == 1);
  CHECK(versions.platforms() == kLinux);
  const AppFile* program = versions.file(version->program);
  REQUIRE(program != nullptr);
  Bytes bytes = read_file(versions.path_of(*program));
  CHECK(bytes == test::new_version(1).program.bytes);
  CHECK(program->nbytes == bytes.size());
  REQUIRE(versions.code_sign_key());
  CHECK(verify(*versions.code_sign_key(), md5(bytes), program->signature));
  CHECK(*versions.code_sign_key() == key_in(project.folder.boinc_key()));
  struct stat status {};
  REQUIRE(::stat(project.folder.boinc_key().c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0600);
}

TEST_CASE("the newest version for the best platform and the device is chosen") {
  Published project;
  auto all = {DeviceKind::cpu, DeviceKind::cuda, DeviceKind::opencl};
  project.add(test::new_version(1, all));
  project.add(test::new_version(2));
  NewVersion foreign = test::new_version(3);
  foreign.platform = "aarch64-unknown-linux-gnu";
  project.add(foreign);
  AppVersions versions = project.load();
  auto number_of = [&](const std::vector<std::string>& platforms,
                       DeviceKind device) {
    const PublishedVersion* version = versions.find(platforms, device);
    return version == nullptr ? 0 : version->version;
  };
  CHECK(number_of(kLinux, DeviceKind::cpu) == 2);
  CHECK(number_of(kLinux, DeviceKind::cuda) == 1);
  CHECK(number_of(kLinux, DeviceKind::opencl) == 1);
  CHECK(number_of({"windows_x86_64"}, DeviceKind::cpu) == 0);
  CHECK(number_of({"aarch64-unknown-linux-gnu", kLinux[0]}, DeviceKind::cpu) ==
        3);
  CHECK(number_of({kLinux[0], "aarch64-unknown-linux-gnu"}, DeviceKind::cpu) ==
        2);
  CHECK(number_of({"aarch64-unknown-linux-gnu", kLinux[0]}, DeviceKind::cuda) ==
        1);
  CHECK(number_of({}, DeviceKind::cpu) == 0);

  project.retire(2);
  versions = project.load();
  CHECK(number_of(kLinux, DeviceKind::cpu) == 1);
  REQUIRE(versions.version(2) != nullptr);  // may be sent again
  CHECK(versions.file(versions.version(2)->program) != nullptr);
  CHECK(versions.version(4) == nullptr);
}

TEST_CASE("a client learns of a new key from the one that it has") {
  Published project;
  project.add(test::new_version(1));
  RsaPublicKey first = key_in(project.folder.boinc_key());
  project.rotate();
  RsaPublicKey second = key_in(project.folder.boinc_key());
  project.rotate();
  RsaPublicKey third = key_in(project.folder.boinc_key());
  CHECK_FALSE(fs::exists(project.next_key()));
  AppVersions versions = project.load();
  CHECK(*versions.code_sign_key() == third);
  auto next = versions.successor_of(first);
  REQUIRE(next);
  CHECK(next->key == second);
  CHECK(verify(first, successor(second), next->signature));
  next = versions.successor_of(second);
  REQUIRE(next);
  CHECK(next->key == third);
  CHECK(verify(second, successor(third), next->signature));
  CHECK_FALSE(versions.successor_of(third));
  CHECK_FALSE(versions.successor_of(test::second_key().public_key()));
}

TEST_CASE("a rotation that is cut short is finished by the next command") {
  Published project;
  project.add(test::new_version(1));
  fs::path key = project.folder.boinc_key();
  SUBCASE("before the manifest named the new key") {
    RsaPublicKey old = key_in(key);
    test::second_key().save(project.next_key());
    project.add(test::new_version(2));
    CHECK(key_in(key) == old);
  }
  SUBCASE("after that") {
    fs::path kept = project.place / "old.key";
    fs::copy_file(key, kept);
    project.rotate();
    fs::rename(key, project.next_key());
    fs::rename(kept, key);
    project.add(test::new_version(2));
    CHECK_FALSE(fs::exists(project.next_key()));
  }
  CHECK(*project.load().code_sign_key() == key_in(key));
  project.rotate();
  CHECK(*project.load().code_sign_key() == key_in(key));
  CHECK_FALSE(fs::exists(project.next_key()));
}

TEST_CASE("the key may be kept elsewhere") {
  Published project;
  fs::path mine = project.place / "mine.pem";
  fs::path next = project.place / "next.pem";
  test::first_key().save(mine.string());
  {
    AppPublisher publisher(project.folder, "test");
    CHECK(test::has(misuse_of([&] { publisher.load_key(mine); }),
                    "no code-sign key yet"));
    publisher.add(publisher.load_or_make_key(mine), test::new_version(1));
    CHECK_FALSE(fs::exists(project.folder.boinc_key()));
    CHECK(test::has(
        misuse_of([&] { publisher.load_key(project.folder.boinc_key()); }),
        "name the private half of the code-sign key with --key"));
    CHECK(test::has(misuse_of([&] { publisher.make_first_key(next); }),
                    "the project has a code-sign key"));
    CHECK_FALSE(fs::exists(next));
    publisher.rotate(mine, next);
  }
  CHECK(*project.load().code_sign_key() == key_in(next));
  CHECK(key_in(mine) == test::first_key().public_key());  // not ours to remove

  // From the project's folder to elsewhere: its copy goes.
  Published other;
  other.add(test::new_version(1));
  fs::path far = other.place / "far.pem";
  other.rotate(far);
  CHECK_FALSE(fs::exists(other.folder.boinc_key()));
  CHECK(*other.load().code_sign_key() == key_in(far));
}

TEST_CASE("two changes at one time are not made") {
  Published project;
  AppPublisher first(project.folder, "app add");
  CHECK(test::has(
      test::refusal_of(ErrorKind::unavailable,
                       [&] { AppPublisher(project.folder, "app retire"); }),
      "app retire: app versions are being changed"));
}

TEST_CASE("what a killed process left behind is not there, and goes") {
  Published project;
  project.add(test::new_version(1));
  // As after a kill between the files and the manifest.
  fs::path half = project.folder.boinc_files() / "worker-00.123.0.tmp";
  fs::path whole = project.folder.boinc_files() / "worker-0000000000000000";
  write_file_durably(whole, as_bytes("all of it"));
  write_file_durably(half, as_bytes("half of it"));
  AppVersions versions = project.load();
  CHECK(versions.file("worker-0000000000000000") == nullptr);
  CHECK(versions.find(kLinux, DeviceKind::cpu)->version == 1);
  project.add(test::new_version(2));
  CHECK_FALSE(fs::exists(half));
}

TEST_CASE("files that are gone or have another size are found") {
  Published project;
  project.add(test::new_version(1));
  fs::path program =
      project.folder.boinc_files() / test::new_version(1).program.file.name;
  auto refusal = [&] {
    return test::refusal_of(ErrorKind::corrupt, [&] { project.load(); });
  };
  write_file_durably(program, as_bytes("short"));
  CHECK(test::has(refusal(), "found 5"));
  fs::remove(program);
  CHECK(test::has(refusal(), "found none"));
  write_file_durably(project.folder.boinc_apps(), as_bytes("{"));
  CHECK(test::has(refusal(), "app_versions.json: not JSON"));
}

TEST_CASE("a running server sees what changes, at most once a second") {
  Published project;
  ManualClock clock;
  PublishedApps apps(project.folder, clock);
  CHECK(apps.current()->platforms().empty());
  project.add(test::new_version(1));
  CHECK(apps.current()->platforms().empty());
  clock.advance(Seconds(1));
  std::shared_ptr<const AppVersions> before = apps.current();
  CHECK(before->find(kLinux, DeviceKind::cpu)->version == 1);
  clock.advance(Seconds(1));
  CHECK(apps.current() == before);  // not read again without need

  project.add(test::new_version(2));
  clock.advance(Seconds(1));
  CHECK(apps.current()->find(kLinux, DeviceKind::cpu)->version == 2);
  CHECK(before->find(kLinux, DeviceKind::cpu)->version == 1);
  project.rotate();
  clock.advance(Seconds(1));
  CHECK(*apps.current()->code_sign_key() == key_in(project.folder.boinc_key()));
}

TEST_CASE("a server keeps what it has while the folder cannot be read") {
  Published project;
  project.add(test::new_version(1));
  ManualClock clock;
  PublishedApps apps(project.folder, clock);
  auto now = [&] {
    clock.advance(Seconds(1));
    const PublishedVersion* version =
        apps.current()->find(kLinux, DeviceKind::cpu);
    return version == nullptr ? 0 : version->version;
  };
  CHECK(now() == 1);
  // Copied from elsewhere, the manifest first.
  project.add(test::new_version(2));
  fs::path program =
      project.folder.boinc_files() / test::new_version(2).program.file.name;
  Bytes bytes = read_file(program);
  fs::remove(program);
  CHECK(now() == 1);
  CHECK(now() == 1);
  write_file_durably(program, bytes);
  CHECK(now() == 2);
  fs::remove(project.folder.boinc_apps());
  CHECK(now() == 0);
}

}  // namespace quorate::boinc
