// A project that stock BOINC clients can come to over HTTP, with one run of
// tiny units, and clients that say what real ones say.
#pragma once

#include <string>
#include <vector>

#include "protocol/boinc/scheduler_request.h"
#include "server/doors/boinc/door.h"
#include "server/http/server.h"
#include "tests/support/raw_http.h"
#include "tests/support/temporary_folder.h"

namespace quorate::boinc::test {

// What stands between <name> and </name>, all of them.
std::vector<std::string> elements(const std::string& text,
                                  const std::string& name);
std::string element(const std::string& text, const std::string& name);
// Names of the results in a scheduler's reply.
std::vector<std::string> sent_results(const std::string& reply);

class Scene {
 public:
  // quorum: of the run; shards: of its data set.
  explicit Scene(std::uint32_t quorum = 1, std::uint32_t shards = 1);
  ~Scene();

  std::string get(const std::string& path);
  // With all of its head; host: what the client calls this server.
  quorate::test::RawResponse get_from(const std::string& path,
                                      const std::string& host);
  quorate::test::RawResponse post(const std::string& path,
                                  const std::string& body);
  // A new account's key.
  std::string account(const std::string& name);
  // Something on the writer's thread, settled.
  void job(const std::function<void(ProjectState&)>& what);
  Result result(const std::string& name);
  Host host(HostId id);

  Project& project() { return project_; }

 private:
  fs::path create(std::uint32_t shards);
  static ServerSettings settings();

  quorate::test::TemporaryFolder folder_;
  Project project_;
  BoincDoor door_;
  HttpServer http_{{}};
  std::uint16_t port_ = 0;
};

// A client: one folder on one machine.
class Client {
 public:
  Client(Scene& scene, std::string key);

  // The next request; returns the reply, whose id it takes over.
  std::string ask(bool wants_work = true);
  // A task that ended as such, to be told with the next request.
  void reports(const std::string& result, std::uint32_t state = 5);
  // Uploads the signed header of a result that diverged at its first step: what
  // a task can claim without computing. Of the result and nonce that `reply`
  // sent.
  std::string upload_header(const std::string& reply,
                            const std::string& result);

  SchedulerRequest request;  // the next one
  PrivateKey worker = PrivateKey::generate();

 private:
  Scene& scene_;
};

}  // namespace quorate::boinc::test
