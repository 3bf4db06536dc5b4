#include "client/worker/serve.h"

#include <thread>

#include <doctest/doctest.h>
#include <unistd.h>

#include "base/error.h"
#include "kernels/devices/backends.h"
#include "tests/client/worker/unit_files.h"
#include "tests/support/forwarding_backend.h"

namespace quorate::worker {
namespace {

struct Pipe {
  Pipe() {
    int fds[2];
    REQUIRE(::pipe(fds) == 0);
    read = FileDescriptor(fds[0]);
    write = FileDescriptor(fds[1]);
  }
  FileDescriptor read;
  FileDescriptor write;
};

// A server in a thread, and the ends of its pipes.
class Served {
 public:
  explicit Served(std::uint32_t cpu_percent = 100)
      : thread_([this, cpu_percent] {
          WorkerServer server(make_backend("cpu"), ServeOptions{cpu_percent},
                              clock_, requests_.read.get(),
                              replies_.write.get());
          server.run();
          replies_.write.reset();
        }) {}
  ~Served() {
    requests_.write.reset();
    thread_.join();
  }

  void send_line(const std::string& line) {
    write_all(requests_.write.get(), as_bytes(line + "\n"), "requests");
  }
  void send(const protocol::WorkerRequest& request) {
    send_line(protocol::write(request));
  }
  void end_input() { requests_.write.reset(); }

  // The next reply; nullopt when the server has ended.
  std::optional<protocol::WorkerReply> next() {
    std::string line;
    char c = 0;
    while (::read(replies_.read.get(), &c, 1) == 1) {
      if (c == '\n') return protocol::parse_worker_reply(line);
      line += c;
    }
    return std::nullopt;
  }
  template <class T>
  T next_as() {
    std::optional<protocol::WorkerReply> reply = next();
    REQUIRE(reply);
    REQUIRE(std::holds_alternative<T>(*reply));
    return std::get<T>(*reply);
  }

 private:
  SystemClock clock_;
  Pipe requests_;
  Pipe replies_;
  std::thread thread_;
};

UnitSize long_unit() {
  return {.hidden = 1024, .samples = 4096, .steps = 4096, .batch = 1};
}

// A device that is unplugged at the end of its first step; the worker's input
// ends then, so that it has nothing to wait for.
class Unplugged final : public test::ForwardingBackend {
 public:
  explicit Unplugged(FileDescriptor& input)
      : ForwardingBackend(make_backend("cpu")), input_(input) {}

  std::unique_ptr<Memory> allocate(std::size_t count) override {
    if (is_gone_) fail();
    return ForwardingBackend::allocate(count);
  }
  void sgd(View, ConstView, View, const SgdStep&) override { fail(); }

 private:
  [[noreturn]] void fail() {
    is_gone_ = true;
    input_.reset();
    throw Error(ErrorKind::io, "device \"toy\": sgd: LOST");
  }
  FileDescriptor& input_;
  bool is_gone_ = false;
};

}  // namespace

TEST_CASE("the end of the input in mid-job leaves a checkpoint") {
  UnitFiles files(long_unit());
  Served served(2);
  served.next_as<protocol::WorkerReady>();
  served.send(files.request(1));
  served.next_as<protocol::WorkerProgress>();

  served.end_input();
  std::optional<protocol::WorkerReply> last;
  while (auto reply = served.next()) last = reply;

  REQUIRE(last);
  CHECK(std::holds_alternative<protocol::WorkerStopped>(*last));
  CHECK(fs::exists(files.request(1).checkpoint));
}

TEST_CASE("a stop answers every job that was asked for before it") {
  UnitFiles files(long_unit());
  Served served(2);
  served.next_as<protocol::WorkerReady>();
  served.send(files.request(1));
  served.send(files.request(2, "second"));
  auto progress = served.next_as<protocol::WorkerProgress>();
  CHECK(progress.job == 1);
  CHECK(progress.step > 0);
  CHECK(progress.steps == 4096);

  served.send(protocol::StopRequest{});
  served.send(files.evaluation(3));

  std::vector<std::uint64_t> stopped;
  for (;;) {
    auto reply = served.next();
    REQUIRE(reply);
    if (std::holds_alternative<protocol::WorkerProgress>(*reply)) continue;
    if (std::holds_alternative<protocol::EvaluateDone>(*reply)) break;
    stopped.push_back(std::get<protocol::WorkerStopped>(*reply).job);
  }
  CHECK(stopped == std::vector<std::uint64_t>{1, 2});
}

TEST_CASE("a line that is no request fails job 0 and nothing else") {
  UnitFiles files;
  Served served;
  served.next_as<protocol::WorkerReady>();
  served.send_line("{\"type\":\"dance\"}");
  served.send(files.request(1));
  auto failed = served.next_as<protocol::WorkerFailed>();
  CHECK(failed.job == 0);
  CHECK(failed.kind == "corrupt");
  CHECK(served.next_as<protocol::ComputeDone>().job == 1);
}

TEST_CASE("a device that fails for good ends the worker, not the task") {
  UnitFiles files;
  Pipe requests;
  Pipe replies;
  SystemClock clock;
  WorkerServer server(std::make_unique<Unplugged>(requests.write),
                      ServeOptions{}, clock, requests.read.get(),
                      replies.write.get());
  write_all(
      requests.write.get(),
      as_bytes(protocol::write(protocol::WorkerRequest(files.request(1))) +
               "\n"),
      "requests");
  CHECK_THROWS_WITH_AS(server.run(), doctest::Contains("LOST"), Error);
  replies.write.reset();
  std::string said(1000, '\0');
  ssize_t size = ::read(replies.read.get(), said.data(), said.size());
  REQUIRE(size > 0);
  said.resize(static_cast<std::size_t>(size));
  CHECK(said.find("ready") != std::string::npos);
  CHECK(said.find("failed") == std::string::npos);
}

}  // namespace quorate::worker
