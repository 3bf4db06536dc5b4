#include "client/exchange/project_api.h"

#include <set>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "base/error.h"
#include "tests/support/samples.h"
#include "tests/support/temporary_folder.h"

namespace quorate::client {
namespace {

std::string token(int session) {
  return fmt::format("{:064}", session);
}

// Keeps one session alive; everything else gets `answer`.
class SessionServer final : public Transfer {
 public:
  HttpReply send(const HttpRequest& request, const std::stop_token&) override {
    HttpReply reply;
    reply.status = 200;
    reply.body = "{}";
    paths.push_back(request.path);
    if (request.path == "/v1/sessions") {
      auto asked = protocol::parse_session_request(request.body);
      protocol::SessionReply session;
      session.heartbeat = Seconds(7);
      session.challenge = std::string(64, 'c');
      if (asked.is_signed) {
        CHECK(asked.challenge == session.challenge);
        CHECK(verify(asked.host, session_message(test::sample_project(), asked),
                     asked.signature));
        session.token = token(++sessions);
      }
      reply.body = protocol::write(session);
    } else if (request.path == "/v1/accounts") {
      auto asked = protocol::parse_account_request(request.body);
      CHECK(verify(asked.account,
                   account_message(test::sample_project(), asked),
                   asked.signature));
      if (refusal.status != 0) reply = refusal;
    } else if (request.path == "/v1/hosts") {
      auto asked = protocol::parse_host_request(request.body);
      Bytes message = host_message(test::sample_project(), asked);
      CHECK(verify(asked.account, message, asked.account_signature));
      CHECK(verify(asked.host, message, asked.host_signature));
      host = asked;
    } else if (request.bearer != token(sessions)) {
      reply.status = 401;
    } else {
      reply = answer;
    }
    return reply;
  }

  int sessions = 0;
  protocol::HostRequest host;  // that was registered last
  HttpReply answer;
  HttpReply refusal;  // to register an account; status 0: none
  std::vector<std::string> paths;
};

struct Fixture {
  Fixture() {
    server.answer.status = 200;
    server.answer.body = protocol::write(protocol::WorkReply{});
  }
  SessionServer server;
  Identity identity{test::sample_project(),
                    test::sample_key(2),
                    test::sample_key(3),
                    "alice",
                    "host",
                    "linux"};
  Session session;
  ProjectApi api{server, identity, session, {}};
  SignedHeader header{Bytes(200, 1), {}};
};

TEST_CASE_FIXTURE(Fixture, "the first request registers and opens a session") {
  api.ask_for_work({});
  CHECK(server.paths == std::vector<std::string>{"/v1/accounts", "/v1/hosts",
                                                 "/v1/sessions", "/v1/sessions",
                                                 "/v1/work"});
  CHECK(session.heartbeat() == Seconds(7));
  api.heartbeat({});
  CHECK(server.paths.size() == 6);
}

TEST_CASE_FIXTURE(Fixture, "the project learns if the host's name was chosen") {
  api.ask_for_work({});
  CHECK_FALSE(server.host.is_name_chosen);
  identity.is_name_chosen = true;
  server.sessions = 10;
  api.ask_for_work({});
  CHECK(server.host.is_name_chosen);
  CHECK(server.host.name == "host");
}

TEST_CASE("a computer goes by the name that was chosen, or by a neutral one") {
  test::TemporaryFolder root;
  const DataFolder folder(root.path());
  Project project;
  const Identity neutral = identity_of(folder, project);
  CHECK(neutral.host_name ==
        "host-" + folder.host_key().public_key().hex().substr(0, 6));
  CHECK_FALSE(neutral.is_name_chosen);
  project.host_name = "lab 3";
  const Identity chosen = identity_of(folder, project);
  CHECK(chosen.host_name == "lab 3");
  CHECK(chosen.is_name_chosen);
}

TEST_CASE("projects cannot tell that they know one volunteer") {
  test::TemporaryFolder root;
  const DataFolder folder(root.path());
  Project one;
  one.id = test::filled<ProjectId>(1);
  Project other;
  other.id = test::filled<ProjectId>(2);
  // Attached before projects had keys of their own.
  CHECK(identity_of(folder, one).account.public_key() ==
        folder.account_key().public_key());
  CHECK(identity_of(folder, one).host.public_key() ==
        identity_of(folder, other).host.public_key());
  one.has_own_keys = other.has_own_keys = true;
  const Identity first = identity_of(folder, one);
  const Identity second = identity_of(folder, other);
  std::set<PublicKey> keys{folder.account_key().public_key(),
                           folder.host_key().public_key()};
  for (const Identity& identity : {first, second}) {
    keys.insert(identity.account.public_key());
    keys.insert(identity.host.public_key());
  }
  CHECK(keys.size() == 6);
  CHECK(first.host_name != second.host_name);
  // The same again, also on another computer of this account.
  CHECK(identity_of(folder, one).account.public_key() ==
        first.account.public_key());
  test::TemporaryFolder elsewhere;
  const DataFolder laptop(elsewhere.path());
  laptop.adopt_account(root / "account.key");
  CHECK(identity_of(laptop, one).account.public_key() ==
        first.account.public_key());
  CHECK(identity_of(laptop, one).host.public_key() != first.host.public_key());
}

TEST_CASE_FIXTURE(Fixture, "a server that opens no session may do so later") {
  for (int status : {400, 403, 404, 503}) {
    CAPTURE(status);
    server.refusal.status = status;
    try {
      api.report(7, header, "");
      FAIL("reported without a session");
    } catch (const Error& e) {
      CHECK(e.kind() == ErrorKind::unavailable);
    }
  }
  server.refusal = {};
  CHECK_NOTHROW(api.ask_for_work({}));
}

TEST_CASE_FIXTURE(Fixture, "a server that bans the account is believed") {
  server.refusal.status = 403;
  server.refusal.body =
      R"({"kind":"denied","message":"banned","retry_after":3600})";
  try {
    api.ask_for_work({});
    FAIL("it was let in");
  } catch (const Error& e) {
    CHECK(e.kind() == ErrorKind::denied);
    CHECK(std::string(e.what()) == "/v1/accounts: the server says: banned");
    CHECK(api.asked_delay() == Seconds(3600));
  }
}

TEST_CASE_FIXTURE(Fixture, "a session that the server forgot is replaced") {
  api.ask_for_work({});
  server.sessions = 10;
  api.ask_for_work({});
  CHECK(session.token() == token(11));
}

TEST_CASE_FIXTURE(Fixture, "a report stays within the session of its upload") {
  server.answer.body = protocol::write(protocol::ReportReply{true, ""});
  CHECK(api.report(7, header, "").kind == ReportAnswer::Kind::accepted);
  CHECK(api.report(7, header, token(1)).kind == ReportAnswer::Kind::accepted);
  server.sessions = 10;
  CHECK(api.report(7, header, token(1)).kind ==
        ReportAnswer::Kind::upload_first);
}

TEST_CASE_FIXTURE(Fixture, "what a report is answered with") {
  server.answer.body = protocol::write(protocol::ReportReply{false, "late"});
  ReportAnswer late = api.report(7, header, "");
  CHECK(late.kind == ReportAnswer::Kind::rejected);
  CHECK(late.reason == "late");
  for (int status : {404, 410}) {
    server.answer.status = status;
    CHECK(api.report(7, header, "").kind == ReportAnswer::Kind::unknown);
  }
}

TEST_CASE_FIXTURE(Fixture, "refusals keep their kind, words and delay") {
  struct Row {
    int status;
    const char* body;
    ErrorKind kind;
    double delay;
  };
  const Row table[] = {
      {503, R"({"kind":"unavailable","message":"busy","retry_after":3})",
       ErrorKind::unavailable, 3},
      {500, "<html>a proxy's page</html>", ErrorKind::unavailable, 9},
      {429, "", ErrorKind::unavailable, 9},
      {403, R"({"kind":"denied","message":"busy"})", ErrorKind::denied, 0},
      {403, R"({"kind":"denied","message":"banned","retry_after":3600})",
       ErrorKind::denied, 3600},
      {422, R"({"kind":"unsupported","message":"busy"})",
       ErrorKind::unsupported, 0},
      {400, R"({"kind":"corrupt","message":"busy"})", ErrorKind::corrupt, 0},
      {418, "{not json", ErrorKind::denied, 0},
      {404, "<html>no such page</html>", ErrorKind::unavailable, 0},
      {200, "<html>log in to this network</html>", ErrorKind::unavailable, 0},
      {302, "", ErrorKind::unavailable, 0},
      {403, "", ErrorKind::unavailable, 0},
  };
  api.heartbeat({});
  for (const Row& row : table) {
    CAPTURE(row.status);
    server.answer = {};
    server.answer.status = row.status;
    server.answer.body = row.body;
    if (row.delay == 9) server.answer.retry_after = Seconds(9);
    try {
      api.heartbeat({});
      FAIL("no error");
    } catch (const Error& e) {
      CHECK(e.kind() == row.kind);
      CHECK(api.asked_delay() == Seconds(row.delay));
    }
  }
}

}  // namespace
}  // namespace quorate::client
