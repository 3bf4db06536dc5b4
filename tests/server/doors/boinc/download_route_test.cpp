#include "server/doors/boinc/files/download_route.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "server/doors/boinc/files/names.h"
#include "server/http/server.h"
#include "tests/server/new_project.h"
#include "tests/support/raw_http.h"
#include "tests/support/samples.h"
#include "tests/support/temporary_folder.h"

namespace quorate::boinc {
namespace {

using quorate::test::RawHttp;
using quorate::test::RawResponse;

// A project with one result in progress, whose shard is here; its sealed task
// is in the store, its snapshot was lost. Of app files there is "worker_1".
class Door {
 public:
  Door()
      : project_(quorate::test::new_project(folder_ / "project"),
                 quorate::test::without_house_workers(), Roles{},
                 [](const std::string&) {}) {
    ProjectState& state = project_.state();
    TrainingTask task = quorate::test::sample_task();
    task.shard = state.objects.put(as_bytes("the samples"));
    const Bytes sealed(300, 9);
    OpenResult result;
    result.id = 5;
    result.workunit = sha256(sealed);
    result.task = std::make_shared<const TrainingTask>(task);
    state.open_results.add(result);
    unit_ = result.workunit;
    shard_ = task.shard;
    snapshot_ = task.snapshot;
    project_.writer().run([&] { store(state, sealed); });
    write_file_durably(folder_ / "worker", as_bytes("a program"));
    Router routes;
    add_download_route(routes, project_, [this](std::string_view name) {
      return name == "worker_1"
                 ? std::optional(AppFileOnDisk{folder_ / "worker", "w1"})
                 : std::nullopt;
    });
    port_ = http_.listen({}, std::move(routes));
    project_.start();
    http_.start();
  }
  ~Door() {
    http_.stop(Seconds(0));
    project_.stop();
  }

  RawResponse get(const std::string& name, const std::string& header = {}) {
    return RawHttp(port_).exchange(
        fmt::format("GET /boinc/download/{} HTTP/1.1\r\n{}\r\n", name, header));
  }
  std::string name_of(ObjectKind kind) const {
    return object_name(kind, kind == ObjectKind::workunit   ? unit_
                             : kind == ObjectKind::snapshot ? snapshot_
                                                            : shard_);
  }
  void close_result() { project_.state().open_results.remove(5); }
  Hash put(const std::string& text) {
    return project_.state().objects.put(as_bytes(text));
  }

 private:
  static void store(ProjectState& state, const Bytes& sealed) {
    Run run;
    run.name = "r";
    run.model = quorate::test::sample_model();
    run.key = state.store.insert_run(run, RunCursor{});
    Workunit unit;
    unit.run = run.key;
    unit.object = sha256(sealed);
    unit.state = WorkunitState::failed;  // nobody gets it
    unit.id = state.store.insert_workunits({&unit, 1}).at(0);
    state.store.update_workunits({&unit, 1});
    SealedTask task{unit.id, sealed};
    state.store.insert_sealed_tasks({&task, 1});
  }

  quorate::test::TemporaryFolder folder_;
  Project project_;
  Hash unit_, snapshot_, shard_;
  HttpServer http_{{}};
  std::uint16_t port_ = 0;
};

void check_not_now(const RawResponse& response) {
  CHECK(response.status == 503);
  REQUIRE(response.headers.contains("Retry-After"));
  CHECK(std::stoi(response.headers.at("Retry-After")) > 0);
}

}  // namespace

TEST_CASE("the inputs of a result in progress are there") {
  Door door;
  RawResponse shard = door.get(door.name_of(ObjectKind::shard));
  CHECK(shard.status == 200);
  CHECK(shard.body == "the samples");
  RawResponse unit = door.get(door.name_of(ObjectKind::workunit));
  CHECK(unit.status == 200);
  CHECK(unit.body == std::string(300, 9));
  door.close_result();
  check_not_now(door.get(door.name_of(ObjectKind::shard)));
  check_not_now(door.get(door.name_of(ObjectKind::workunit)));
}

TEST_CASE("a download that broke off goes on") {
  Door door;
  std::string shard = door.name_of(ObjectKind::shard);
  RawResponse rest = door.get(shard, "Range: bytes=4-\r\n");
  CHECK(rest.status == 206);
  CHECK(rest.body == "samples");
  CHECK(rest.headers.at("Content-Range") == "bytes 4-10/11");
  CHECK(door.get(shard, "Range: bytes=11-\r\n").status == 416);
  CHECK(door.get("worker_1", "Range: bytes=2-\r\n").body == "program");
}

TEST_CASE("files of app versions are there") {
  Door door;
  RawResponse worker = door.get("worker_1");
  CHECK(worker.status == 200);
  CHECK(worker.body == "a program");
  CHECK(worker.headers.at("ETag") == "\"w1\"");
}

TEST_CASE("what is not here, or was lost, may come") {
  Door door;
  check_not_now(door.get(door.name_of(ObjectKind::snapshot)));
  check_not_now(door.get("worker_2"));
  check_not_now(door.get("unit-" + std::string(64, '0')));
  check_not_now(door.get("unit-00"));
}

TEST_CASE("nothing else of the project can be read") {
  Door door;
  // An update, say.
  const Hash other = door.put("somebody's update");
  for (ObjectKind kind :
       {ObjectKind::workunit, ObjectKind::snapshot, ObjectKind::shard}) {
    check_not_now(door.get(object_name(kind, other)));
  }
  check_not_now(door.get("r5_update"));
  check_not_now(door.get("r5_header"));
  check_not_now(door.get(other.hex()));
  check_not_now(door.get("quorate.toml"));
  for (const char* name :
       {"..", ".", "%2e%2e", "..%2fquorate.toml", "a..b", "%00", "a%20b",
        "keys/project.key", "..%2f..%2fquorate.toml", "a%25b"}) {
    CAPTURE(name);
    int status = door.get(name).status;
    CHECK((status == 404 || status == 400));
  }
  CHECK(door.get(std::string(256, 'a')).status == 404);
  check_not_now(door.get(std::string(255, 'a')));
}

}  // namespace quorate::boinc
