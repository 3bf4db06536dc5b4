#include "server/apps/shipped_worker.h"

#include <doctest/doctest.h>

#include "protocol/worker/worker_process.h"
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
  std::size_t publish() {
    publish_shipped_worker(folder);
    return load_app_manifest(folder).versions.size();
  }
};

}  // namespace

TEST_CASE("a server publishes its own worker, once") {
  NewProject project;
  REQUIRE(project.publish() == 1);
  AppVersions versions = AppVersions::load(project.folder);
  const PublishedVersion& version = *versions.version(1);
  CHECK(version.serves(DeviceKind::cpu));
  CHECK(version.serves(DeviceKind::opencl));
  CHECK(read_file(versions.path_of(*versions.file(version.program))) ==
        read_file(protocol::find_worker_program()));
  CHECK(fs::exists(project.folder.boinc_key()));
  CHECK(project.publish() == 1);
  // The operator has said that it shall not be used.
  AppPublisher(project.folder, "test").retire(1);
  CHECK(project.publish() == 1);
}

TEST_CASE("with the key elsewhere a server publishes nothing by itself") {
  NewProject project;
  fs::path key = project.place / "key.pem";
  AppPublisher(project.folder, "test").make_first_key(key);
  CHECK(project.publish() == 0);
  CHECK_FALSE(fs::exists(project.folder.boinc_key()));
}

TEST_CASE("what a server cannot publish keeps it from nothing") {
  NewProject project;
  AppPublisher other(project.folder, "test");  // holds the lock
  CHECK(project.publish() == 0);
}

}  // namespace quorate::boinc
