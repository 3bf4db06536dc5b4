// Loads a running server with volunteers that compute nothing, from one thread,
// and prints one JSON line. Started by bench/server/server_bench.py, which also
// makes the project (units of one step).
//
//   ask     every host asks for one result, 4 times: each answer is an
//           assignment, and durable
//   report  every host asks, uploads, reports, and asks again
//   assign  every host asks once; prints what it got, for other programs
#include <cstdio>
#include <thread>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/error.h"
#include "bench/server/tally.h"
#include "bench/server/volunteers.h"

namespace quorate::bench {
namespace {

constexpr std::uint32_t kAsks = 4;  // units open for each host are bounded

struct Options {
  std::string mode;
  std::uint16_t port = 0;
  int pid = 0;
  std::size_t clients = 256;
  std::size_t hosts_per_client = 1;
  double seconds = 10;
  std::uint64_t samples = 64;
};

class Load {
 public:
  explicit Load(const Options& options)
      : options_(options),
        http_("127.0.0.1", options.port),
        tally_(options.pid) {
    for (std::size_t i = 0; i < options.clients; ++i) http_.connect();
    project_ = fetch_project(http_, 0);
    std::size_t hosts = options.clients * options.hosts_per_client;
    for (std::size_t i = 0; i < hosts; ++i) {
      volunteers_.push_back(enrol(http_, i % options.clients, project_));
      show(i);
    }
    // By then the server has counted them: it opens units by their number.
    std::this_thread::sleep_for(Seconds(1.5));
  }

  void run() {
    std::fprintf(stderr, "%zu hosts enrolled\n", volunteers_.size());
    tally_.begin();
    for (std::size_t i = 0; i < options_.clients; ++i) start(i);
    http_.run();
    tally_.end();
    if (options_.mode != "assign") tally_.print(options_.mode);
  }

 private:
  void start(std::size_t connection) {
    if (options_.mode == "ask") return ask_on(connection, connection);
    if (options_.mode == "report") return report_on(connection);
    assign(connection);
  }

  void show(std::size_t host) {
    std::string request =
        http_request("POST", "/v1/heartbeat", volunteers_[host].token,
                     as_bytes(protocol::write(protocol::WorkRequest{})));
    http_.exchange(host % options_.clients, std::move(request));
  }

  std::string work_request(const Volunteer& who, double wait) const {
    protocol::WorkRequest request;
    request.want = 1;
    request.wait = Seconds(wait);
    request.device = "benchmark";
    request.speed_flops = 1e9;
    for (ResultId id : who.holding) request.holding.push_back({id, 0, 1});
    return http_request("POST", "/v1/work", who.token,
                        as_bytes(protocol::write(request)));
  }

  void send_timed(std::size_t connection, std::string request,
                  HttpClient::Done done) {
    double sent = seconds_now();
    http_.send(connection, std::move(request),
               [this, sent, done = std::move(done)](HttpReply reply) {
                 tally_.add_delay(seconds_now() - sent);
                 if (reply.status != 200) {
                   throw Error(ErrorKind::denied, reply.body);
                 }
                 done(std::move(reply));
               });
  }

  void ask_on(std::size_t connection, std::size_t host) {
    if (host >= volunteers_.size()) return;
    Volunteer& who = volunteers_[host];
    if (who.holding.size() == kAsks) {
      return ask_on(connection, host + options_.clients);
    }
    send_timed(
        connection, work_request(who, 0),
        [this, connection, host](const HttpReply& reply) {
          auto work = protocol::parse_work_reply(as_bytes(reply.body));
          if (work.assignments.size() != 1) {
            throw Error(ErrorKind::corrupt, "no work: " + reply.body);
          }
          volunteers_[host].holding.push_back(work.assignments[0].result);
          tally_.add_done();
          ask_on(connection, host);
        });
  }

  void assign(std::size_t host) {
    http_.send(host, work_request(volunteers_[host], 10),
               [this, host](const HttpReply& reply) {
                 auto work = protocol::parse_work_reply(as_bytes(reply.body));
                 if (work.assignments.empty()) return assign(host);
                 std::puts(fmt::format(R"({{"token":"{}","work":{}}})",
                                       volunteers_[host].token, reply.body)
                               .c_str());
               });
  }

  void report_on(std::size_t host) {
    if (seconds_now() - tally_.began() > options_.seconds) return;
    http_.send(host, work_request(volunteers_[host], 1),
               [this, host](const HttpReply& reply) {
                 auto work = protocol::parse_work_reply(as_bytes(reply.body));
                 if (work.assignments.empty()) return report_on(host);
                 upload(host, work.assignments[0]);
               });
  }

  void upload(std::size_t host, const Assignment& assignment) {
    http_.send(
        host,
        http_request("PUT",
                     fmt::format("/v1/results/{}/update", assignment.result),
                     volunteers_[host].token, update_),
        [this, host, assignment](const HttpReply& reply) {
          if (reply.status != 200) throw Error(ErrorKind::denied, reply.body);
          report(host, assignment);
        });
  }

  void report(std::size_t host, const Assignment& assignment) {
    const Volunteer& who = volunteers_[host];
    Bytes body = signed_report(assignment, who.host, project_, update_,
                               options_.samples);
    send_timed(
        host,
        http_request("POST", fmt::format("/v1/results/{}", assignment.result),
                     who.token, body),
        [this, host](const HttpReply& reply) {
          auto answer = protocol::parse_report_reply(as_bytes(reply.body));
          if (!answer.accepted) {
            throw Error(ErrorKind::denied, answer.reason);
          }
          tally_.add_done();
          report_on(host);
        });
  }

  Options options_;
  HttpClient http_;
  ProjectId project_;
  std::vector<Volunteer> volunteers_;
  Bytes update_ = zero_update(parse_model("mlp:none", {28, 28, 1}, 10));
  Tally tally_;
};

}  // namespace
}  // namespace quorate::bench

int main(int argc, char** argv) {
  quorate::bench::Options options;
  CLI::App app("Loads a server with volunteers that compute nothing");
  app.add_option("mode", options.mode, "ask, report or assign")
      ->required()
      ->check(CLI::IsMember({"ask", "report", "assign"}));
  app.add_option("--port", options.port)->required();
  app.add_option("--pid", options.pid, "the server's: counts its time");
  app.add_option("--clients", options.clients, "connections");
  app.add_option("--hosts-per-client", options.hosts_per_client);
  app.add_option("--seconds", options.seconds, "of mode report");
  CLI11_PARSE(app, argc, argv);
  try {
    quorate::bench::Load(options).run();
  } catch (const quorate::Error& error) {
    std::fprintf(stderr, "bench-server-load: %s\n", error.what());
    return 1;
  }
  return 0;
}
