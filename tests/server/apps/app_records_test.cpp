#include "server/apps/app_records.h"

#include <doctest/doctest.h>

#include "server/apps/app_publisher.h"
#include "tests/server/apps/app_samples.h"
#include "tests/support/temporary_folder.h"

namespace quorate::boinc {
namespace {

// What a client reads in the name of a plan class.
bool demands(const std::string& name, const char* what) {
  return name.find(what) != std::string::npos;
}

}  // namespace

TEST_CASE("names of plan classes demand what the device has") {
  CHECK(plan_class(DeviceKind::cpu, "").empty());
  CHECK(plan_class(DeviceKind::cuda, "NVIDIA") == "cuda");
  std::vector<std::string> names;
  for (const char* type : {"NVIDIA", "ATI", "intel_gpu", "FPGAX"}) {
    names.push_back(plan_class(DeviceKind::opencl, type));
    CHECK(demands(names.back(), "opencl"));
    for (const char* other : {"cuda", "ati", "vbox"}) {
      CAPTURE(other);
      CHECK_FALSE(demands(names.back(), other));
    }
  }
  CHECK(names == std::vector<std::string>{"opencl_nvidia", "opencl_amd",
                                          "opencl_intel", "opencl"});
}

TEST_CASE("a reply names a version and all its files") {
  quorate::test::TemporaryFolder place;
  ProjectFolder folder{place / "project"};
  create_project(folder, "small", "");
  AppPublisher publisher(folder, "test");
  publisher.add(publisher.load_or_make_key(folder.boinc_key()),
                test::new_version(1, {DeviceKind::cpu, DeviceKind::opencl}));
  AppVersions versions = AppVersions::load(folder);
  const PublishedVersion& version = *versions.version(1);
  DeviceUse use;
  use.kind = DeviceKind::opencl;
  use.ncpus = 0.5;
  use.flops = 5e11;
  use.coproc_type = "ATI";
  use.coproc_count = 1;
  use.gpu_ram_bytes = 1e9;
  AppRecords records =
      app_records(versions, version, "quorate", "https://x/download/", use);
  CHECK(records.version.app_name == "quorate");
  CHECK(records.version.version == 1);
  CHECK(records.version.platform == "x86_64-pc-linux-gnu");
  CHECK(records.version.plan_class == "opencl_amd");
  CHECK(records.version.command_line == "--device opencl");
  CHECK(records.version.ncpus == 0.5);
  CHECK(records.version.flops == 5e11);
  CHECK(records.version.coproc_type == "ATI");

  REQUIRE(records.files.size() == 2);
  REQUIRE(records.version.files.size() == 2);
  const InputFile& program = records.files[0];
  CHECK(program.name == version.program);
  CHECK(program.urls == std::vector{"https://x/download/" + version.program});
  CHECK(program.is_executable);
  CHECK(program.signature == versions.file(version.program)->signature);
  CHECK(program.nbytes == versions.file(version.program)->nbytes);
  CHECK(records.version.files[0].is_main_program);
  CHECK(records.version.files[0].open_name.empty());

  CHECK_FALSE(records.files[1].is_executable);
  CHECK(records.files[1].signature);
  CHECK(records.version.files[1].file_name == version.libraries[0].file);
  CHECK(records.version.files[1].open_name == "libmine.so.1");
  CHECK(records.version.files[1].is_copied);
  CHECK_FALSE(records.version.files[1].is_main_program);

  records = app_records(versions, version, "quorate", "", {});
  CHECK(records.version.plan_class.empty());
  CHECK(records.version.command_line == "--device cpu");
  CHECK(records.version.coproc_type.empty());
}

}  // namespace quorate::boinc
