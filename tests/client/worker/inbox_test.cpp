#include "client/worker/inbox.h"

#include <chrono>
#include <future>
#include <memory>

#include <doctest/doctest.h>
#include <unistd.h>

#include "base/error.h"

namespace quorate::worker {
namespace {

// The sending end of an inbox's input.
class Sender {
 public:
  Sender() {
    int fds[2];
    REQUIRE(::pipe(fds) == 0);
    output_ = FileDescriptor(fds[0]);
    input_ = FileDescriptor(fds[1]);
  }
  void send(const std::string& text) {
    write_all(input_.get(), as_bytes(text), "pipe");
  }
  void send(const protocol::WorkerRequest& request) {
    send(protocol::write(request) + "\n");
  }
  void close() { input_.reset(); }
  int fd() const { return output_.get(); }

 private:
  FileDescriptor input_;
  FileDescriptor output_;
};

protocol::EvaluateRequest evaluation(std::uint64_t job) {
  return {job, "{}", "p", {}};
}

std::uint64_t job_of(const Received& received) {
  REQUIRE(received.request);
  return std::get<protocol::EvaluateRequest>(*received.request).job;
}

}  // namespace

TEST_CASE("requests come out in their order, then the end") {
  Sender sender;
  Inbox inbox(sender.fd());
  std::string both = protocol::write(evaluation(1)) + "\n" +
                     protocol::write(evaluation(2)) + "\n";
  sender.send(both.substr(0, 9));  // lines need not arrive whole
  sender.send(both.substr(9));
  sender.close();
  CHECK(job_of(inbox.next().value()) == 1);
  CHECK(job_of(inbox.next().value()) == 2);
  CHECK_FALSE(inbox.next());
}

TEST_CASE("a stop concerns the requests before it") {
  Sender sender;
  Inbox inbox(sender.fd());
  sender.send(evaluation(1));
  sender.send(protocol::StopRequest{});
  sender.send(evaluation(2));
  Received first = inbox.next().value();
  Received second = inbox.next().value();
  CHECK(inbox.is_stopped(first.number));
  CHECK_FALSE(inbox.is_stopped(second.number));
}

TEST_CASE("the end of the input stops everything") {
  Sender sender;
  Inbox inbox(sender.fd());
  sender.send(evaluation(1));
  sender.close();
  Received first = inbox.next().value();
  CHECK_FALSE(inbox.next());
  CHECK(inbox.is_stopped(first.number));
}

TEST_CASE("a line that is no request comes out with the reason") {
  Sender sender;
  Inbox inbox(sender.fd());
  sender.send("hello\n");
  sender.send(evaluation(4));
  Received bad = inbox.next().value();
  CHECK_FALSE(bad.request);
  CHECK(bad.error == "request to the worker: not JSON at byte 1");
  CHECK(job_of(inbox.next().value()) == 4);
}

TEST_CASE("input without lines ends instead of filling memory") {
  Sender sender;
  Inbox inbox(sender.fd());
  std::string chunk(32 * 1024, 'x');
  for (int i = 0; i < 33; ++i) sender.send(chunk);
  CHECK_FALSE(inbox.next());
}

TEST_CASE("an inbox can go while its input is open") {
  Sender sender;
  auto inbox = std::make_unique<Inbox>(sender.fd());
  std::future<void> gone =
      std::async(std::launch::async, [&] { inbox.reset(); });
  CHECK(gone.wait_for(std::chrono::seconds(20)) == std::future_status::ready);
  sender.close();  // what hangs ends at the end of its input
}

}  // namespace quorate::worker
