#include "tests/server/doors/boinc/boinc_scene.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/arithmetic.h"
#include "protocol/native/messages.h"
#include "server/apps/app_publisher.h"
#include "server/datasets/dataset.h"
#include "server/doors/boinc/files/names.h"
#include "server/orders/runs/create_run.h"
#include "tests/protocol/boinc/samples.h"
#include "tests/server/project_fixture.h"

namespace quorate::boinc::test {

using quorate::test::RawHttp;
using quorate::test::RawResponse;

std::vector<std::string> elements(const std::string& text,
                                  const std::string& name) {
  const std::string open = "<" + name + ">";
  const std::string close = "</" + name + ">";
  std::vector<std::string> found;
  for (std::size_t at = text.find(open); at != std::string::npos;
       at = text.find(open, at)) {
    at += open.size();
    found.push_back(text.substr(at, text.find(close, at) - at));
  }
  return found;
}

std::string element(const std::string& text, const std::string& name) {
  std::vector<std::string> all = elements(text, name);
  return all.empty() ? "" : all.front();
}

std::vector<std::string> sent_results(const std::string& reply) {
  std::vector<std::string> names;
  for (const std::string& result : elements(reply, "result")) {
    names.push_back(element(result, "name"));
  }
  return names;
}

Scene::Scene(std::uint32_t quorum, std::uint32_t shards)
    : project_(create(shards), settings(), Roles{}, [](const std::string&) {}),
      door_(project_, false) {
  project_.writer().run([&] {
    create_run(project_.state(), project_.daemons(),
               {{"run", "first"},
                {"dataset", "tiny"},
                {"model", "mlp:3"},
                {"batch", 8},
                {"local_steps", 4},
                {"rule", "vc-asgd"},
                {"quorum", quorum}});
  });
  Router routes;
  door_.add_routes(routes);
  port_ = http_.listen({}, std::move(routes));
  door_.start(sha256(read_file(
      fs::read_symlink("/proc/self/exe").parent_path() / "quorate-worker")));
  project_.start();
  http_.start();
}

Scene::~Scene() {
  http_.stop(Seconds(0));
  project_.stop();
}

fs::path Scene::create(std::uint32_t shards) {
  ProjectFolder folder{folder_ / "project"};
  create_project(folder, "Test", "");
  AppPublisher(folder, "a test").make_first_key(folder.boinc_key());
  ObjectStore objects(folder.objects(), folder.temporary());
  write_file_durably(
      folder.datasets() / "tiny.json",
      as_bytes(to_json(quorate::test::tiny_dataset(objects, shards))));
  return folder.root;
}

ServerSettings Scene::settings() {
  ServerSettings settings;
  settings.name = "Test";
  settings.house_workers = 0;
  settings.new_accounts_per_minute = 1;
  settings.new_hosts_per_minute = 1;
  return settings;
}

std::string Scene::get(const std::string& path) {
  return get_from(path, fmt::format("127.0.0.1:{}", port_)).body;
}

RawResponse Scene::get_from(const std::string& path, const std::string& host) {
  return RawHttp(port_).exchange(
      fmt::format("GET {} HTTP/1.1\r\nHost: {}\r\n\r\n", path, host));
}

RawResponse Scene::post(const std::string& path, const std::string& body) {
  return RawHttp(port_).exchange(fmt::format(
      "POST {} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nContent-Length: {}\r\n\r\n{}",
      path, port_, body.size(), body));
}

std::string Scene::account(const std::string& name) {
  return element(get("/boinc/create_account.php?user_name=" + name),
                 "authenticator");
}

void Scene::job(const std::function<void(ProjectState&)>& what) {
  project_.writer().run([&] {
    what(project_.state());
    project_.daemons().settle();
  });
}

Result Scene::result(const std::string& name) {
  Result found;
  job([&](ProjectState& state) {
    found = state.store.result(result_of(name).value()).value();
  });
  return found;
}

Host Scene::host(HostId id) {
  Host found;
  job([&](ProjectState& state) { found = *state.hosts.host(id); });
  return found;
}

Client::Client(Scene& scene, std::string key) : scene_(scene) {
  request.authenticator = std::move(key);
  request.platforms = {"x86_64-pc-linux-gnu"};
  request.client = {7, 20, 5};
  request.cpu.seconds = 1;
  request.clock = 1e9;
  request.host.name = "attic";
  request.host.cpid = "c0ffee";
  request.host.ncpus = 1;
}

std::string Client::ask(bool wants_work) {
  request.cpu.seconds = wants_work ? 1 : 0;
  RawResponse response = scene_.post("/boinc/cgi", write_request(request));
  REQUIRE(response.status == 200);
  std::string hostid = element(response.body, "hostid");
  if (!hostid.empty()) {
    request.hostid = std::stoll(hostid);
    request.rpc_seqno = 0;
  } else if (request.hostid != 0) {
    ++request.rpc_seqno;
  }
  request.results.clear();
  for (const std::string& name : sent_results(response.body)) {
    request.in_progress.push_back({name, ""});
  }
  return response.body;
}

void Client::reports(const std::string& result, std::uint32_t state) {
  std::erase_if(request.in_progress,
                [&](const HeldResult& held) { return held.name == result; });
  ReportedResult report;
  report.name = result;
  report.state = state;
  report.exit_status = state == ReportedResult::kUploaded ? 0 : 1;
  report.elapsed_seconds = 2;
  report.why = "as it is";
  request.results.push_back(report);
}

std::string Client::upload_header(const std::string& reply,
                                  const std::string& result) {
  std::string line;
  for (const std::string& unit : elements(reply, "workunit")) {
    if (element(unit, "name") == result) line = element(unit, "command_line");
  }
  auto value = [&](const std::string& option) {
    std::size_t at = line.find(option + " ");
    REQUIRE(at != std::string::npos);
    at += option.size() + 1;
    return line.substr(at, line.find(' ', at) - at);
  };
  ResultHeader header;
  header.result_id = std::stoull(value("--result"));
  header.nonce = parse_hex<Nonce>(value("--nonce"), "nonce");
  for (const std::string& unit : elements(reply, "workunit")) {
    if (element(unit, "name") != result) continue;
    for (const std::string& file : elements(unit, "file_name")) {
      if (file.starts_with("unit-")) header.workunit = object_of(file).value();
    }
  }
  header.arithmetic = kArithmeticVersion;
  header.device = "cpu";
  Claim claim;
  claim.outcome = ComputeOutcome::diverged;
  claim.diverged_step = 1;
  Bytes bytes = protocol::write_signed_header(
      sign_claim(header, claim, {}, scene_.project().keys().id, worker));
  std::string name;
  std::string permission;
  for (const std::string& file : elements(reply, "file_info")) {
    if (element(file, "name").starts_with(result + "_header_")) {
      name = element(file, "name");
      permission =
          element(file, "xml_signature") + "|" + element(file, "max_nbytes");
    }
  }
  REQUIRE_FALSE(permission.empty());
  std::size_t bar = permission.find('|');
  std::string content(bytes.begin(), bytes.end());
  return scene_
      .post("/boinc/file_upload_handler",
            fmt::format("<data_server_request>\n<file_upload>\n<file_info>\n"
                        "<name>{}</name>\n<xml_signature>{}</xml_signature>\n"
                        "<max_nbytes>{}</max_nbytes>\n</file_info>\n"
                        "<nbytes>{}</nbytes>\n<md5_cksum>{}</md5_cksum>\n"
                        "<offset>0</offset>\n<data>\n{}",
                        name, permission.substr(0, bar),
                        permission.substr(bar + 1), content.size(),
                        md5(as_bytes(content)).hex(), content))
      .body;
}

}  // namespace quorate::boinc::test
