#include "server/apps/shipped_worker.h"

#include <doctest/doctest.h>

#include "base/file.h"
#include "server/apps/app_publisher.h"
#include "server/apps/app_versions.h"
#include "tests/server/apps/app_samples.h"
#include "tests/support/temporary_folder.h"

namespace quorate::boinc {
namespace {

struct NewProject {
  quorate::test::TemporaryFolder place;
  ProjectFolder folder{place / "project"};

  NewProject() { create_project(folder, "small", ""); }
  void make_key(const fs::path& path) {
    AppPublisher(folder, "test").make_first_key(path);
  }
  // The number of published versions then.
  std::size_t publish(const Hash& built = sha256(worker())) {
    publish_shipped_worker(folder, built);
    return load_app_manifest(folder).versions.size();
  }
  static Bytes worker() {
    return read_file(fs::read_symlink("/proc/self/exe").parent_path() /
                     "quorate-worker");
  }
};

}  // namespace

TEST_CASE("a server publishes its own worker, once") {
  NewProject project;
  project.make_key(project.folder.boinc_key());
  REQUIRE(project.publish() == 1);
  AppVersions versions = AppVersions::load(project.folder);
  const PublishedVersion& version = *versions.version(1);
  CHECK(version.serves(DeviceKind::cpu));
  CHECK(version.serves(DeviceKind::opencl));
  CHECK(read_file(versions.path_of(*versions.file(version.program))) ==
        NewProject::worker());
  CHECK(project.publish() == 1);
  // The operator has said that it shall not be used.
  AppPublisher(project.folder, "test").retire(1);
  CHECK(project.publish() == 1);
}

TEST_CASE("a server publishes no other worker than was built with it") {
  NewProject project;
  project.make_key(project.folder.boinc_key());
  CHECK(project.publish(sha256(as_bytes("another"))) == 0);
}

TEST_CASE("a server makes no code-sign key") {
  NewProject project;
  CHECK(project.publish() == 0);
  CHECK_FALSE(fs::exists(project.folder.boinc_key()));
}

TEST_CASE("with the key elsewhere a server publishes nothing by itself") {
  NewProject project;
  project.make_key(project.place / "key.pem");
  CHECK(project.publish() == 0);
  CHECK_FALSE(fs::exists(project.folder.boinc_key()));
}

TEST_CASE("what a server cannot publish keeps it from nothing") {
  NewProject project;
  project.make_key(project.folder.boinc_key());
  AppPublisher other(project.folder, "test");  // holds the lock
  CHECK(project.publish() == 0);
}

}  // namespace quorate::boinc
