// Loads a running server with volunteers that compute nothing, from one thread,
// and prints one JSON line. Started by bench/server/server_bench.py, which also
// makes the project (units of one step).
//
//   ask     every host asks for one result, 4 times: each answer is an
//           assignment, and durable
//   report  every host asks, uploads, reports, and asks again
//   assign  every host asks once; prints what it got, for other programs
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <thread>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
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

// Of the server, which is proc(5)'s /proc/PID/stat, fields 14 and 15.
double processor_seconds(int pid) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  std::string stat;
  std::getline(file, stat);
  std::istringstream fields(stat.substr(stat.rfind(')') + 2));
  std::string skipped;
  for (int field = 3; field < 14; ++field) fields >> skipped;
  double user = 0;
  double system = 0;
  fields >> user >> system;
  return (user + system) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

double now() {
  return SystemClock().now().time_since_epoch().count();
}

class Load {
 public:
  explicit Load(const Options& options)
      : options_(options), http_("127.0.0.1", options.port) {
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
    double used = options_.pid ? processor_seconds(options_.pid) : 0;
    began_ = now();
    for (std::size_t i = 0; i < options_.clients; ++i) start(i);
    http_.run();
    double seconds = now() - began_;
    if (options_.pid) used = processor_seconds(options_.pid) - used;
    if (options_.mode != "assign") print(seconds, used);
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
    double sent = now();
    http_.send(connection, std::move(request),
               [this, sent, done = std::move(done)](HttpReply reply) {
                 delays_.push_back(now() - sent);
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
          ++done_;
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
    if (now() - began_ > options_.seconds) return;
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
    Bytes body =
        signed_report(assignment, who, project_, update_, options_.samples);
    send_timed(
        host,
        http_request("POST", fmt::format("/v1/results/{}", assignment.result),
                     who.token, body),
        [this, host](const HttpReply& reply) {
          auto answer = protocol::parse_report_reply(as_bytes(reply.body));
          if (!answer.accepted) {
            throw Error(ErrorKind::denied, answer.reason);
          }
          ++done_;
          report_on(host);
        });
  }

  void print(double seconds, double used) {
    std::sort(delays_.begin(), delays_.end());
    auto quantile = [this](double q) {
      return 1000 * delays_.at(static_cast<std::size_t>(
                        q * static_cast<double>(delays_.size() - 1)));
    };
    std::puts(fmt::format("{{\"mode\":\"{}\",\"done\":{},\"seconds\":{:.3f},"
                          "\"per_second\":{:.0f},\"p50_ms\":{:.2f},"
                          "\"p99_ms\":{:.2f},\"server_ms\":{:.3f}}}",
                          options_.mode, done_, seconds,
                          static_cast<double>(done_) / seconds, quantile(0.5),
                          quantile(0.99),
                          1000 * used / static_cast<double>(done_))
                  .c_str());
  }

  Options options_;
  HttpClient http_;
  ProjectId project_;
  std::vector<Volunteer> volunteers_;
  Bytes update_ = zero_update(parse_model("mlp:none", {28, 28, 1}, 10));
  std::vector<double> delays_;
  std::uint64_t done_ = 0;
  double began_ = 0;
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
