#include "server/doors/boinc/scheduling/scheduler_route.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

#include <doctest/doctest.h>

#include "base/arithmetic.h"
#include "server/doors/boinc/files/names.h"
#include "tests/server/doors/boinc/boinc_scene.h"

namespace quorate::boinc {
namespace {

using test::Client;
using test::element;
using test::elements;
using test::Scene;
using test::sent_results;

bool has(const std::string& text, const std::string& words) {
  return text.find(words) != std::string::npos;
}

}  // namespace

TEST_CASE("an unknown key gets a clear word, and nothing is taken from it") {
  Scene scene;
  Client client(scene, "0123456789abcdef0123456789abcdef");
  client.reports("r1");
  std::string reply = client.ask();
  CHECK(has(reply, "no account with this key"));
  CHECK(has(reply, "priority=\"notice\""));
  CHECK(element(reply, "request_delay") == "3600");
  CHECK(element(reply, "hostid").empty());
  CHECK(elements(reply, "result_ack").empty());
  CHECK(sent_results(reply).empty());
}

TEST_CASE("a new client becomes a host, and gets work with all that it needs") {
  Scene scene;
  Client client(scene, scene.account("Ann"));
  std::string reply = client.ask();
  HostId id = client.request.hostid;
  REQUIRE(id != 0);
  CHECK(element(reply, "user_name") == "Ann");
  CHECK(has(reply, "<code_sign_key>"));
  CHECK(sent_results(reply).size() == 2);  // one, and one ahead
  CHECK(elements(reply, "app_version").size() == 1);
  CHECK(element(element(reply, "app"), "user_friendly_name") ==
        "Network training");
  CHECK(element(reply, "next_rpc_delay") == "60");
  // Two units of one shard and one snapshot: each file once.
  std::string files;
  for (const std::string& file : elements(reply, "file_info")) {
    std::string name = element(file, "name");
    CHECK_FALSE(has(files, "|" + name + "|"));
    files += "|" + name + "|";
  }
  CHECK(has(files, "|shard-"));
  CHECK(has(files, "|snapshot-"));
  CHECK(has(files, "|unit-"));
  for (const std::string& name : sent_results(reply)) {
    CHECK(has(files, "|" + name + "_header_"));
    CHECK(has(files, "|" + name + "_update_"));
    CHECK(scene.result(name).host == id);
  }
  CHECK(scene.host(id).door == kBoincDoor);
  CHECK(scene.host(id).name == "attic");

  // The next request: the same host, and enough work in hand.
  reply = client.ask();
  CHECK(element(reply, "hostid").empty());
  CHECK(sent_results(reply).empty());
  CHECK(client.request.hostid == id);
}

TEST_CASE("a client hears what credit it has, in all and of late") {
  Scene scene;
  Client client(scene, scene.account("Ann"));
  client.ask(false);
  constexpr Millis kWeek = 7 * 86'400'000;
  scene.job([&](ProjectState& state) {
    const Millis then = state.clock.unix_ms() - kWeek;
    state.hosts.add_credit(client.request.hostid, 700, then, then);
  });
  std::string reply = client.ask(false);
  const double recent = 50 * std::log(2.0);
  for (const char* whose : {"user_", "host_"}) {
    const std::string name = whose;
    CHECK(std::stod(element(reply, name + "total_credit")) == 700);
    CHECK(std::stod(element(reply, name + "expavg_credit")) ==
          doctest::Approx(recent).epsilon(0.01));
  }
}

TEST_CASE("results that a client lost are sent again") {
  Scene scene;
  Client client(scene, scene.account("Ann"));
  std::vector<std::string> first = sent_results(client.ask());
  client.request.in_progress.clear();
  CHECK(sent_results(client.ask()) == first);
}

TEST_CASE("asking for a second device keeps nothing that the client lost") {
  Scene scene;
  Client client(scene, scene.account("Ann"));
  Coproc gpu;
  gpu.type = "intel_gpu";
  gpu.count = 1;
  gpu.has_opencl = true;
  gpu.wish.seconds = 1;
  client.request.coprocs = {gpu};
  const std::vector<std::string> lost = sent_results(client.ask());
  REQUIRE(lost.size() == 4);  // two for each
  client.request.in_progress.clear();
  scene.job([&](ProjectState& state) {
    for (const std::string& name : lost) {
      state.leases.grant(result_of(name).value(), state.clock.now(),
                         Seconds(0.3));
    }
  });
  const std::vector<std::string> sent = sent_results(client.ask());
  std::this_thread::sleep_for(std::chrono::milliseconds(600));
  std::size_t sent_again = 0;
  for (const std::string& name : lost) {
    CAPTURE(name);
    const Result result = scene.result(name);
    if (std::find(sent.begin(), sent.end(), name) != sent.end()) {
      ++sent_again;
      CHECK(result.server_state == ServerState::in_progress);
    } else {
      CHECK(result.outcome == ResultOutcome::no_reply);
    }
  }
  CHECK(sent_again == 2);  // what it wants for the first device
}

TEST_CASE("a copy of the client's folder becomes another host") {
  Scene scene;
  Client client(scene, scene.account("Ann"));
  client.ask();
  Client copy = client;
  for (int i = 0; i < 3; ++i) client.ask(false);
  copy.ask();
  CHECK(copy.request.hostid != client.request.hostid);
  CHECK(copy.request.rpc_seqno == 0);
  // From now on both go their ways.
  HostId its = copy.request.hostid;
  copy.ask(false);
  client.ask(false);
  CHECK(copy.request.hostid == its);
}

TEST_CASE("a client set up anew on the same machine is the same host") {
  Scene scene;
  Client client(scene, scene.account("Ann"));
  client.ask();
  Client again(scene, client.request.authenticator);
  again.ask(false);
  CHECK(again.request.hostid == client.request.hostid);
  Client other(scene, scene.account("Bob"));
  other.ask(false);
  CHECK(other.request.hostid != client.request.hostid);
}

TEST_CASE("done without its upload is a failure, and the client is thanked") {
  Scene scene;
  Client client(scene, scene.account("Ann"));
  std::string name = sent_results(client.ask()).at(0);
  client.reports(name);
  std::string reply = client.ask();
  CHECK(element(element(reply, "result_ack"), "name") == name);
  Result result = scene.result(name);
  CHECK(result.outcome == ResultOutcome::client_error);
  CHECK(has(result.reason, "not uploaded"));
}

TEST_CASE("a failure is told with its reason") {
  Scene scene;
  Client client(scene, scene.account("Ann"));
  std::string name = sent_results(client.ask()).at(0);
  client.reports(name, ReportedResult::kComputeError);
  client.ask();
  Result result = scene.result(name);
  CHECK(result.outcome == ResultOutcome::client_error);
  CHECK(has(result.reason, "computation error, exit status 1: as it is"));
}

TEST_CASE("a report is stored once, however often it is told") {
  Scene scene(2);
  Client client(scene, scene.account("Ann"));
  std::string work = client.ask();
  std::string name = sent_results(work).at(0);
  CHECK(has(client.upload_header(work, name), "<status>0</status>"));
  for (int i = 0; i < 3; ++i) {
    client.reports(name);
    CHECK(element(element(client.ask(false), "result_ack"), "name") == name);
    Result result = scene.result(name);
    CHECK(result.outcome == ResultOutcome::success);
    CHECK(result.computed == ComputeOutcome::diverged);
  }
  // A failure of what was stored changes nothing.
  client.reports(name, ReportedResult::kAborted);
  client.ask(false);
  CHECK(scene.result(name).outcome == ResultOutcome::success);
  CHECK(scene.host(client.request.hostid).errors == 0);
}

TEST_CASE("the first header brings the host's key; another begins anew") {
  Scene scene(2);
  Client client(scene, scene.account("Ann"));
  std::string work = client.ask();
  std::vector<std::string> names = sent_results(work);
  HostId id = client.request.hostid;
  CHECK(scene.host(id).key != client.worker.public_key());
  client.upload_header(work, names.at(0));
  client.reports(names.at(0));
  client.ask(false);
  CHECK(scene.host(id).key == client.worker.public_key());

  scene.job([&](ProjectState& state) {
    ResultHeader header;
    header.device = "cpu";
    header.arithmetic = kArithmeticVersion;
    for (int i = 0; i < 5; ++i) {
      state.trust.count(id, header, state.clock.now());
    }
    CHECK(state.trust.validated(id) == 5);
  });
  client.worker = PrivateKey::generate();  // the volunteer reset the project
  client.upload_header(work, names.at(1));
  client.reports(names.at(1));
  client.ask(false);
  CHECK(scene.result(names.at(1)).outcome == ResultOutcome::success);
  CHECK(scene.host(id).key == client.worker.public_key());
  scene.job([&](ProjectState& state) {
    CHECK(state.trust.validated(id) == 0);
    CHECK(state.store.events({}).at(0).kind == "host_key_changed");
  });
}

TEST_CASE("an operator's trust is in the key that a host had") {
  Scene scene(2);
  Client client(scene, scene.account("Ann"));
  std::string work = client.ask();
  HostId id = client.request.hostid;
  scene.job([&](ProjectState& state) {
    state.hosts.host(id)->mark = HostMark::trusted;
  });
  std::string name = sent_results(work).at(0);
  client.upload_header(work, name);
  client.reports(name);
  client.ask(false);
  CHECK(scene.host(id).mark == HostMark::none);
  scene.job([&](ProjectState& state) { CHECK_FALSE(state.is_anchor(id)); });
}

TEST_CASE("results that are late count with the key that came before them") {
  Scene scene(2);
  Client client(scene, scene.account("Ann"));
  std::string work = client.ask();
  std::vector<std::string> names = sent_results(work);
  scene.job([&](ProjectState& state) {  // their leases run out
    for (const std::string& name : names) {
      state.leases.grant(result_of(name).value(), state.clock.now(),
                         Seconds(-1));
    }
    scene.project().daemons().transitioner.tick();
  });
  for (const std::string& name : names) {
    CHECK(scene.result(name).outcome == ResultOutcome::no_reply);
    client.upload_header(work, name);
    client.reports(name);
  }
  client.ask(false);
  for (const std::string& name : names) {
    CHECK(scene.result(name).outcome == ResultOutcome::success);
  }
}

TEST_CASE("a host that may not come in is not thanked for what it brings") {
  Scene scene;  // one host a minute is twelve at once
  std::string key = scene.account("Ann");
  for (int i = 0; i < 12; ++i) {
    Client client(scene, key);
    client.request.allow_multiple_clients = true;
    client.ask(false);
  }
  Client late(scene, key);
  late.request.allow_multiple_clients = true;
  late.reports("r1");
  std::string reply = late.ask();
  CHECK(has(reply, "hosts: too many from this address: try again in"));
  CHECK(elements(reply, "result_ack").empty());
}

TEST_CASE("machines that cannot be sent work are not counted on") {
  Scene scene;
  Client windows(scene, scene.account("Ann"));
  windows.request.platforms = {"windows_x86_64"};
  CHECK(has(windows.ask(), "no program for windows_x86_64"));
  Client resting(scene, scene.account("Bob"));
  resting.request.wants_no_work = true;
  resting.ask();
  Client working(scene, scene.account("Cyd"));
  working.ask();
  scene.job([&](ProjectState& state) {
    CHECK(state.active_hosts() == std::vector<HostId>{working.request.hostid});
  });
  resting.request.wants_no_work = false;
  resting.ask();
  scene.job(
      [](ProjectState& state) { CHECK(state.active_hosts().size() == 2); });
}

TEST_CASE("a header with another host's key is nobody's") {
  Scene scene(2);
  Client ann(scene, scene.account("Ann"));
  Client bob(scene, scene.account("Bob"));
  std::string work = ann.ask();
  std::string name = sent_results(work).at(0);
  ann.upload_header(work, name);
  ann.reports(name);
  ann.ask(false);

  bob.worker = ann.worker;
  std::string his = bob.ask();
  std::string other = sent_results(his).at(0);
  bob.upload_header(his, other);
  bob.reports(other);
  bob.ask(false);
  CHECK(scene.result(other).outcome != ResultOutcome::success);
  CHECK(scene.host(ann.request.hostid).key == ann.worker.public_key());
  CHECK(scene.host(bob.request.hostid).key != ann.worker.public_key());
}

TEST_CASE("what another host has is not this one's to report") {
  Scene scene(2);
  Client ann(scene, scene.account("Ann"));
  Client eve(scene, scene.account("Eve"));
  std::string work = ann.ask();
  std::string name = sent_results(work).at(0);
  ann.upload_header(work, name);
  eve.ask(false);
  for (std::uint32_t state :
       {ReportedResult::kUploaded, ReportedResult::kComputeError}) {
    eve.reports(name, state);
    CHECK(element(element(eve.ask(false), "result_ack"), "name") == name);
    CHECK(scene.result(name).server_state == ServerState::in_progress);
  }
  eve.reports("r999999");
  CHECK(element(element(eve.ask(false), "result_ack"), "name") == "r999999");
  // Ann's upload is still there.
  ann.reports(name);
  ann.ask(false);
  CHECK(scene.result(name).outcome == ResultOutcome::success);
}

TEST_CASE("what is not needed any more is aborted, and its shard deleted") {
  Scene scene;
  Client client(scene, scene.account("Ann"));
  std::string work = client.ask();
  std::vector<std::string> names = sent_results(work);
  for (const std::string& file : elements(work, "file_name")) {
    if (file.starts_with("shard-")) client.request.files = {{file, 0}};
  }
  REQUIRE(client.request.files.size() == 1);
  CHECK(elements(client.ask(), "delete_file_info").empty());
  scene.job([](ProjectState& state) {
    TrainingRun& training = *state.run_by_name("first");
    training.run.state = RunState::stopped;
    state.store.update_run(training.run);
  });
  scene.job([&](ProjectState& state) {
    for (const std::string& name : names) {
      LiveUnit* live = state.feeder.find_by_result(result_of(name).value());
      scene.project().daemons().transitioner.close(live->unit.id,
                                                   Closing::run_ended);
    }
  });
  std::string reply = client.ask();
  CHECK(elements(reply, "result_abort").size() == 2);
  CHECK(element(reply, "delete_file_info") == client.request.files.at(0).name);
}

TEST_CASE("a client gets units of the shards that it keeps") {
  Scene scene(1, 3);
  std::vector<Hash> hashes;
  scene.job([&](ProjectState& state) {
    for (const ShardEntry& shard : state.run_by_name("first")->shards) {
      hashes.push_back(shard.hash);
    }
  });
  REQUIRE(hashes.size() == 3);
  std::string key = scene.account("Ann");
  for (const Hash& hash : hashes) {
    Client client(scene, key);
    client.request.host.cpid = hash.hex().substr(0, 32);
    const std::string name = object_name(ObjectKind::shard, hash);
    client.request.files = {{name, 8e6}};
    std::string reply = client.ask();
    REQUIRE(sent_results(reply).size() == 2);
    CHECK(elements(reply, "delete_file_info").empty());
    for (const std::string& unit : elements(reply, "workunit")) {
      CHECK(has(unit, "<file_name>" + name + "</file_name>"));
    }
  }
}

TEST_CASE("what is on hold is neither thanked for nor aborted") {
  Scene scene;
  Client client(scene, scene.account("Ann"));
  client.ask(false);
  const HostId host = client.request.hostid;
  scene.job([host](ProjectState& state) {
    state.open_results.hold(1000, host);
    state.open_results.hold(1001, host);
  });
  client.request.in_progress = {{"r1000", ""}};
  client.reports("r1001");
  std::string reply = client.ask(false);
  CHECK(elements(reply, "result_ack").empty());
  CHECK(elements(reply, "result_abort").empty());

  // To others it is like any that they do not have.
  scene.job(
      [host](ProjectState& state) { state.open_results.hold(1002, host + 1); });
  client.request.in_progress = {{"r1002", ""}};
  reply = client.ask(false);
  CHECK(elements(reply, "result_abort").size() == 1);
}

TEST_CASE("a client that trusts an unknown key gets no work") {
  Scene scene;
  Client client(scene, scene.account("Ann"));
  client.request.code_sign_key = RsaPrivateKey::generate().public_key();
  std::string reply = client.ask();
  CHECK(has(reply, "a key that this client does not know"));
  CHECK(sent_results(reply).empty());
  CHECK_FALSE(has(reply, "<code_sign_key>"));
}

TEST_CASE("a platform without a program gets no work") {
  Scene scene;
  Client client(scene, scene.account("Ann"));
  client.request.platforms = {"windows_x86_64"};
  CHECK(sent_results(client.ask()).empty());
}

TEST_CASE("garbage is refused, and costs nothing") {
  Scene scene;
  CHECK(scene.post("/boinc/cgi", "").status == 400);
  CHECK(scene.post("/boinc/cgi", std::string(1 << 20, '<')).status == 400);
  CHECK(scene.post("/boinc/cgi", std::string((1 << 20) + 1, 'x')).status ==
        413);
  CHECK(scene.get("/boinc/").find("boinc_scheduler") != std::string::npos);
}

}  // namespace quorate::boinc
