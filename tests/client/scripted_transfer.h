// A project's answers, prepared by a test.
#pragma once

#include <deque>
#include <functional>
#include <string>
#include <utility>

#include <doctest/doctest.h>

#include "client/exchange/project_api.h"
#include "protocol/native/messages.h"
#include "protocol/transfer/transfer.h"
#include "tests/support/samples.h"

namespace quorate::client {

// Answers one request after another with what a test has prepared.
class ScriptedTransfer final : public Transfer {
 public:
  using Answer = std::function<HttpReply(const HttpRequest&)>;

  HttpReply send(const HttpRequest& request, const std::stop_token&) override {
    if (request.bearer.empty()) return enrol(request);
    REQUIRE_FALSE(answers.empty());
    Answer answer = std::move(answers.front());
    answers.pop_front();
    return answer(request);
  }

  std::deque<Answer> answers;

 private:
  static HttpReply enrol(const HttpRequest& request) {
    HttpReply reply;
    reply.status = 200;
    reply.body = "{}";
    if (request.path == "/v1/sessions") {
      protocol::SessionReply session;
      session.token = std::string(64, 'e');
      session.challenge = std::string(64, 'a');
      reply.body = protocol::write(session);
    }
    return reply;
  }
};

// A project that speaks so, and a host that is enrolled there.
struct ScriptedProject {
  ScriptedTransfer transfer;
  Identity identity{test::sample_project(),
                    test::sample_key(2),
                    test::sample_key(3),
                    "",
                    "host",
                    "linux"};
  Session session;
  ProjectApi api{transfer, identity, session, {}};
};

}  // namespace quorate::client
