// A project that is asked who it is, for tests of attaching.
#pragma once

#include <doctest/doctest.h>

#include "base/arithmetic.h"
#include "protocol/native/messages.h"
#include "protocol/transfer/transfer.h"
#include "tests/support/samples.h"

namespace quorate::test {

inline protocol::ProjectStatement sample_statement() {
  protocol::ProjectStatement statement;
  statement.name = "sample";
  statement.keys = keyring_of(sample_key(1).public_key());
  statement.tls_pin = "sha256//cGlu";
  statement.arithmetic = kArithmeticVersion;
  return statement;
}

inline Bytes sealed(const protocol::ProjectStatement& statement,
                    std::uint8_t key = 1) {
  return seal(as_bytes(protocol::write(statement)), SealKind::project,
              sample_project(), sample_key(key));
}

// A server that answers every request with the same bytes.
class StatementServer final : public Transfer {
 public:
  explicit StatementServer(Bytes bytes) : bytes_(std::move(bytes)) {}
  HttpReply send(const HttpRequest& request, const std::stop_token&) override {
    CHECK(request.path == "/v1/project");
    HttpReply reply;
    reply.status = 200;
    reply.body = std::string(as_text(bytes_));
    return reply;
  }

 private:
  Bytes bytes_;
};

}  // namespace quorate::test
