#include <cstdio>

#include <fmt/format.h>

#include "base/clock.h"
#include "bench/attacks/swarm.h"
#include "protocol/native/messages.h"

namespace quorate::bench {
namespace {

class Flood {
 public:
  Flood(std::uint16_t port, std::size_t connections)
      : http_("127.0.0.1", port) {
    for (std::size_t i = 0; i < connections; ++i) http_.connect();
    http_.outlive_closing();
    project_ = fetch_statement(http_, 0).keys.project;
    for (std::size_t i = 0; i < connections; ++i) register_another(i);
    http_.run();
  }

 private:
  void register_another(std::size_t connection) {
    PrivateKey account = PrivateKey::generate();
    protocol::AccountRequest request;
    request.account = account.public_key();
    request.name = "flood";
    request.signature =
        account.sign(protocol::account_message(project_, request));
    send(connection, "/v1/accounts", protocol::write(request),
         [this, connection, account] { add_host(connection, account); });
  }

  // As if the account were known: the server is to say if it is not.
  void add_host(std::size_t connection, const PrivateKey& account) {
    PrivateKey key = PrivateKey::generate();
    protocol::HostRequest request;
    request.account = account.public_key();
    request.host = key.public_key();
    request.name = request.platform = "flood";
    Bytes message = protocol::host_message(project_, request);
    request.account_signature = account.sign(message);
    request.host_signature = key.sign(message);
    send(connection, "/v1/hosts", protocol::write(request),
         [this, connection] { register_another(connection); });
  }

  void send(std::size_t connection, const char* path, const std::string& body,
            std::function<void()> next) {
    http_.send(connection, http_request("POST", path, "", as_bytes(body)),
               [this, next = std::move(next)](const HttpReply& reply) {
                 ++(reply.status == 200 ? taken_ : refused_);
                 print();
                 next();
               });
  }

  void print() {
    if (clock_.now() < printed_ + Seconds(1)) return;
    printed_ = clock_.now();
    std::puts(fmt::format(R"({{"taken":{},"refused":{}}})", taken_, refused_)
                  .c_str());
    std::fflush(stdout);
  }

  SystemClock clock_;
  HttpClient http_;
  ProjectId project_;
  std::uint64_t taken_ = 0;
  std::uint64_t refused_ = 0;
  Instant printed_ = clock_.now();
};

}  // namespace

void flood_with_registrations(std::uint16_t port, std::size_t connections) {
  Flood(port, connections);
}

}  // namespace quorate::bench
