// Loads a running server's BOINC door with hosts that compute nothing, from one
// thread, and prints one JSON line. Started by bench/server/server_bench.py. A
// host says what a stock client says, about 10 kB (boinc_host).
//
//   renew   hosts that have two tasks say so, and want nothing
//   ask     every host asks once, and gets a task. A project that sends at most
//           one to a host is needed
//   report  hosts that have two tasks report one and get another. What they
//           upload before is uploaded between the requests that count
#include <algorithm>
#include <cstdio>
#include <functional>
#include <thread>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "bench/server/boinc_host.h"
#include "bench/server/tally.h"
#include "bench/server/volunteers.h"

namespace quorate::bench {
namespace {

struct Options {
  std::string mode;
  std::uint16_t port = 0;
  int pid = 0;
  std::size_t clients = 256;
  std::size_t hosts = 2048;
  double seconds = 10;
  std::uint64_t samples = 64;
  std::string recorded;
};

class Load {
 public:
  explicit Load(const Options& options)
      : options_(options),
        http_("127.0.0.1", options.port),
        tally_(options.pid) {
    for (std::size_t i = 0; i < options.clients; ++i) http_.connect();
    project_ = fetch_project(http_, 0);
  }

  void run() {
    enrol();
    if (options_.mode == "ask") {
      timed([this] { rpc_of_all(true, 0, true); });
    } else {
      rpc_of_all(true, 0, false);
      expect_tasks();
      while (tally_.seconds() < options_.seconds) round();
    }
    tally_.print(options_.mode);
  }

 private:
  using Next = std::function<void()>;
  // What one host does; calls `next` when it has.
  using Act = std::function<void(std::size_t host, Next next)>;

  void timed(const Next& what) {
    tally_.begin();
    what();
    tally_.end();
  }

  // Each connection serves its hosts one after the other.
  void each_host(const Act& act) {
    for (std::size_t i = 0; i < options_.clients; ++i) go_on(i, i, act);
    http_.run();
  }

  void go_on(std::size_t connection, std::size_t host, const Act& act) {
    if (host >= options_.hosts) return;
    act(host, [this, connection, host, &act] {
      go_on(connection, host + options_.clients, act);
    });
  }

  void post(std::size_t host, const char* method, const std::string& path,
            const std::string& body, HttpClient::Done done) {
    http_.send(host % options_.clients,
               http_request(method, path, "", as_bytes(body)),
               [done = std::move(done)](HttpReply reply) {
                 if (reply.status != 200) {
                   throw Error(ErrorKind::denied, reply.body);
                 }
                 done(std::move(reply));
               });
  }

  // Accounts, and a first request of each, which makes it a host.
  void enrol() {
    const std::string recorded = read_text_file(options_.recorded);
    std::vector<std::string> keys(options_.hosts);
    each_host([&](std::size_t host, const Next& next) {
      post(host, "GET", "/boinc/create_account.php?user_name=load", "",
           [&keys, host, next](const HttpReply& reply) {
             keys[host] = element_of(reply.body, "authenticator");
             next();
           });
    });
    for (const std::string& key : keys) hosts_.emplace_back(key, recorded);
    rpc_of_all(false, 0, false);
    // By then the server has counted them: it opens units by their number.
    std::this_thread::sleep_for(Seconds(1.5));
    std::fprintf(stderr, "%zu hosts enrolled, request of %zu bytes\n",
                 hosts_.size(), hosts_[0].request(true, 0).size());
  }

  void rpc_of_all(bool wants_work, std::size_t reported, bool counts) {
    each_host([&](std::size_t host, const Next& next) {
      rpc(host, wants_work, reported, counts, next);
    });
  }

  void rpc(std::size_t host, bool wants_work, std::size_t reported, bool counts,
           const Next& next) {
    reported = std::min(reported, hosts_[host].tasks().size());
    std::string body = hosts_[host].request(wants_work, reported);
    double sent = seconds_now();
    post(host, "POST", "/boinc/cgi", body,
         [this, host, reported, counts, sent, next](const HttpReply& reply) {
           if (counts) tally_.add_delay(seconds_now() - sent);
           std::size_t came = hosts_[host].take(reply.body, reported);
           if (counts && options_.mode == "ask" && came != 1) {
             throw Error(ErrorKind::corrupt, "not one task: " + reply.body);
           }
           if (counts && (reported > 0 || options_.mode != "report")) {
             tally_.add_done();
           }
           next();
         });
  }

  void round() {
    const bool is_report = options_.mode == "report";
    if (is_report) {
      each_host([this](std::size_t host, const Next& next) {
        upload_header(host, next);
      });
    }
    timed([&] { rpc_of_all(is_report, is_report ? 1 : 0, true); });
  }

  // A load of hosts without work would measure something else.
  void expect_tasks() const {
    std::size_t tasks = 0;
    for (const BoincHost& host : hosts_) tasks += host.tasks().size();
    if (tasks < hosts_.size()) {
      throw Error(ErrorKind::corrupt,
                  fmt::format("{} tasks for {} hosts", tasks, hosts_.size()));
    }
  }

  void upload_header(std::size_t host, const Next& next) {
    if (hosts_[host].tasks().empty()) return next();
    const BoincTask& task = hosts_[host].tasks().front();
    Bytes header = signed_report(task.assignment, hosts_[host].key(), project_,
                                 update_, options_.samples);
    upload(host, task.header_info, header, [this, host, next] {
      const BoincTask& same = hosts_[host].tasks().front();
      if (same.update_info.empty()) return next();
      upload(host, same.update_info, update_, next);
    });
  }

  void upload(std::size_t host, const std::string& info, ByteView bytes,
              const Next& next) {
    post(host, "POST", "/boinc/file_upload_handler", upload_body(info, bytes),
         [next](const HttpReply& reply) {
           if (element_of(reply.body, "status") != "0") {
             throw Error(ErrorKind::denied, reply.body);
           }
           next();
         });
  }

  Options options_;
  HttpClient http_;
  Tally tally_;
  ProjectId project_;
  std::vector<BoincHost> hosts_;
  Bytes update_ = zero_update(parse_model("mlp:none", {28, 28, 1}, 10));
};

}  // namespace
}  // namespace quorate::bench

int main(int argc, char** argv) {
  quorate::bench::Options options;
  CLI::App app("Loads a server's BOINC door with hosts that compute nothing");
  app.add_option("mode", options.mode, "renew, ask or report")
      ->required()
      ->check(CLI::IsMember({"renew", "ask", "report"}));
  app.add_option("--port", options.port)->required();
  app.add_option("--pid", options.pid, "the server's: counts its time");
  app.add_option("--clients", options.clients, "connections");
  app.add_option("--hosts", options.hosts);
  app.add_option("--seconds", options.seconds, "of renew and report");
  app.add_option("--recorded", options.recorded,
                 "a request of a stock client that reports results")
      ->required();
  CLI11_PARSE(app, argc, argv);
  try {
    quorate::bench::Load(options).run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench-boinc-load: %s\n", error.what());
    return 1;
  }
  return 0;
}
