#include "client/worker/boinc/boinc_task.h"

#include <array>
#include <thread>

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/error.h"
#include "client/worker/boinc/boinc_channels.h"
#include "client/worker/boinc/boinc_slot.h"
#include "protocol/native/messages.h"
#include "tests/client/worker/boinc/boinc_files.h"
#include "tests/client/worker/unit_files.h"
#include "tests/support/samples.h"

namespace quorate::worker {
namespace {

// A unit in a slot: inputs as links, as clients lay them; results go to the
// project's folder, which is the unit's.
struct UnitInSlot {
  BoincFiles slot;
  UnitFiles unit;
  BoincTask task;
  SystemClock clock;

  explicit UnitInSlot(const UnitSize& size = {}) : unit(size) {
    task.project = test::sample_project();
    task.project_key = test::sample_key(1).public_key();
    task.result = 45;
    task.nonce = test::filled<Nonce>(0x11);
    for (const char* name : {"unit", "snapshot", "shard", "update", "header"}) {
      slot.write(name, "<soft_link>" + (unit.folder() / name).string() +
                           "</soft_link>\n");
    }
    std::string text = slot.read("init_data.xml");
    text.replace(text.find("/p<"), 2, unit.folder().string());
    slot.write("init_data.xml", text);
  }

  int run() const {
    return run_boinc_task(task, slot.folder(), "reference", clock);
  }
  SignedHeader header() const {
    return protocol::parse_signed_header(read_file(unit.folder() / "header"));
  }
  bool has(const char* name) const { return fs::exists(slot.folder() / name); }
};

std::string refusal_of(const UnitInSlot& work, ErrorKind kind) {
  try {
    work.run();
  } catch (const Error& error) {
    CHECK(error.kind() == kind);
    return error.what();
  }
  return "no error";
}

// The program in the slot, as a client starts it.
pid_t started(const UnitInSlot& work) {
  pid_t child = ::fork();
  if (child != 0) return child;
  fs::current_path(work.slot.folder());
  ::execl(QUORATE_WORKER, "quorate-worker", "--boinc", "--device", "cpu",
          "--project", work.task.project.hex().c_str(), "--project-key",
          work.task.project_key.hex().c_str(), "--result", "45", "--nonce",
          work.task.nonce.hex().c_str(), static_cast<char*>(nullptr));
  ::_exit(127);
}

// Waits for the end of the program, with a heartbeat now and then.
int exit_status(pid_t child, BoincChannels& client) {
  int status = 0;
  while (::waitpid(child, &status, WNOHANG) == 0) {
    client.send(BoincChannel::heartbeat, "<heartbeat/>");
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  REQUIRE(WIFEXITED(status));
  return WEXITSTATUS(status);
}

void await_file(const fs::path& path) {
  SystemClock clock;
  Instant end = clock.now() + Seconds(60);
  while (!fs::exists(path)) {
    REQUIRE(clock.now() < end);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

// Enough work for a second or so.
UnitSize long_unit() {
  return {.hidden = 512, .samples = 4096, .steps = 4096, .batch = 1};
}

}  // namespace

TEST_CASE(
    "a unit in a slot gives an update and a header that the host signed") {
  UnitInSlot work;
  CHECK(work.run() == 0);
  CHECK(work.slot.read("boinc_finish_called") == "0\n");

  SignedHeader signed_header = work.header();
  ResultHeader header = decode_result_header(signed_header.bytes);
  CHECK(verify_header(signed_header, work.task.project, header.host));
  CHECK(header.result_id == 45);
  CHECK(header.nonce == work.task.nonce);
  CHECK(header.workunit == sha256(read_file(work.unit.folder() / "unit")));
  CHECK(header.device == "reference");
  Bytes update = read_file(work.unit.folder() / "update");
  CHECK(sha256(update) == header.claim.update);
  CHECK(header.proof ==
        update_proof(header.nonce, header.host, update, header.claim.digests));
}

TEST_CASE("a host keeps its key, and a host with another id gets another") {
  UnitInSlot work;
  auto key_after_run = [&] {
    fs::remove(work.unit.folder() / "header");
    REQUIRE(work.run() == 0);
    return decode_result_header(work.header().bytes).host;
  };
  PublicKey first = key_after_run();
  CHECK(key_after_run() == first);
  struct stat status {};
  REQUIRE(::stat((work.unit.folder() / "quorate-host-0.key").c_str(),
                 &status) == 0);
  CHECK((status.st_mode & 0777) == 0600);

  std::string text = work.slot.read("init_data.xml");
  work.slot.write("init_data.xml",
                  text.replace(text.find("</app"), 0, "<hostid>8</hostid>\n"));
  CHECK(key_after_run() != first);
}

TEST_CASE("a witness signs the same claim and leaves no update") {
  UnitInSlot work;
  REQUIRE(work.run() == 0);
  Claim claim = decode_result_header(work.header().bytes).claim;
  UnitInSlot witness;
  witness.task.is_witness = true;
  fs::remove(witness.slot.folder() / "update");
  CHECK(witness.run() == 0);
  CHECK(decode_result_header(witness.header().bytes).claim == claim);
  CHECK_FALSE(fs::exists(witness.unit.folder() / "update"));
}

TEST_CASE("a unit of another project, or under another key, is refused") {
  UnitInSlot work;
  work.task.project_key = test::sample_key(2).public_key();
  CHECK(refusal_of(work, ErrorKind::corrupt).find("workunit ") !=
        std::string::npos);
  work.task.project_key = test::sample_key(1).public_key();
  work.task.project = test::filled<ProjectId>(9);
  CHECK(refusal_of(work, ErrorKind::corrupt).find("workunit ") !=
        std::string::npos);
  CHECK_FALSE(fs::exists(work.unit.folder() / "header"));
  CHECK_FALSE(work.has("boinc_finish_called"));
}

TEST_CASE("a task follows the project's keys, and never back") {
  UnitInSlot work;
  auto seal_with = [&](std::uint8_t key) {
    fs::remove(work.unit.folder() / "header");
    write_file_durably(work.unit.folder() / "unit",
                       seal(encode(work.unit.task()), SealKind::workunit,
                            work.task.project, test::sample_key(key)));
  };
  REQUIRE(work.run() == 0);
  Keyring ring;
  ring.number = 2;
  ring.keys = {{test::sample_key(1).public_key(), 0, 0, false},
               {test::sample_key(5).public_key(), 1000, 2000, true},
               {test::sample_key(6).public_key(), 2000, 0, false}};
  ring = seal_keyring(std::move(ring), test::sample_key(1));
  work.task.project_key = ring.current().key;
  work.task.keyring = to_hex(ring.sealed);
  for (const std::uint8_t key : std::array<std::uint8_t, 2>{6, 1}) {
    CAPTURE(int{key});
    seal_with(key);
    CHECK(work.run() == 0);
  }
  seal_with(5);
  CHECK(refusal_of(work, ErrorKind::denied).find("does not speak for") !=
        std::string::npos);
  // The list before that: the thief's.
  Keyring before;
  before.number = 1;
  before.keys = {ring.keys[0], {ring.keys[1].key, 1000, 0, false}};
  before = seal_keyring(std::move(before), test::sample_key(1));
  work.task.project_key = before.current().key;
  work.task.keyring = to_hex(before.sealed);
  CHECK(refusal_of(work, ErrorKind::denied).find("project key") !=
        std::string::npos);
  work.task.keyring.clear();
  work.task.project_key = ring.root;
  seal_with(1);
  CHECK(refusal_of(work, ErrorKind::denied).find("project key") !=
        std::string::npos);
}

TEST_CASE("the key that sealed the first unit is kept") {
  UnitInSlot work;
  REQUIRE(work.run() == 0);
  fs::remove(work.unit.folder() / "header");
  write_file_durably(work.unit.folder() / "unit",
                     seal(encode(work.unit.task()), SealKind::workunit,
                          work.task.project, test::sample_key(2)));
  work.task.project_key = test::sample_key(2).public_key();
  CHECK(refusal_of(work, ErrorKind::denied)
            .find("which sealed the first unit here") != std::string::npos);
  CHECK_FALSE(fs::exists(work.unit.folder() / "header"));
}

TEST_CASE("a task that was done is finished again at once") {
  UnitInSlot work;
  REQUIRE(work.run() == 0);
  fs::remove(work.slot.folder() / "boinc_finish_called");
  fs::remove(work.unit.folder() / "snapshot");  // would be missed
  CHECK(work.run() == 0);
  CHECK(work.slot.read("boinc_finish_called") == "0\n");
}

TEST_CASE("the program goes on after it was quit, and ends when aborted") {
  UnitInSlot work(long_unit());
  BoincChannels client(work.slot.folder() / "boinc_mmap_file");
  pid_t first = started(work);
  await_file(work.slot.folder() / "checkpoint");
  client.send(BoincChannel::orders, "<quit/>");
  CHECK(exit_status(first, client) == 0);
  CHECK_FALSE(work.has("boinc_finish_called"));
  CHECK(work.has("checkpoint"));

  pid_t second = started(work);
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  client.send(BoincChannel::orders, "<abort/>");
  CHECK(exit_status(second, client) == kBoincAborted);
  CHECK_FALSE(work.has("boinc_finish_called"));

  CHECK(exit_status(started(work), client) == 0);
  CHECK(work.slot.read("boinc_finish_called") == "0\n");
  CHECK(fs::exists(work.unit.folder() / "header"));
}

TEST_CASE("the program fails where there is no slot") {
  UnitInSlot work;
  BoincChannels client(work.slot.folder() / "boinc_mmap_file");
  fs::remove(work.slot.folder() / "init_data.xml");
  CHECK(exit_status(started(work), client) == 1);
}

TEST_CASE(
    "the device is of the kind that the project named, the one assigned") {
  boinc::InitData data;
  CHECK(boinc_device("cpu", data) == "cpu");
  CHECK(boinc_device("cuda", data) == "cuda");
  data.gpu_device = 2;
  data.opencl_device = 1;
  CHECK(boinc_device("cuda", data) == "cuda:2");
  CHECK(boinc_device("opencl", data) == "opencl:1");
  CHECK(boinc_device("cpu:avx2", data) == "cpu:avx2");
}

}  // namespace quorate::worker
