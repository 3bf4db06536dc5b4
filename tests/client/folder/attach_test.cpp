#include "client/folder/attach.h"

#include <array>

#include <doctest/doctest.h>

#include "base/arithmetic.h"
#include "base/error.h"
#include "tests/client/statement_server.h"
#include "tests/support/samples.h"

namespace quorate::client {
namespace {

using test::sample_key;
using test::sample_project;
using test::sample_statement;
using test::sealed;
using test::StatementServer;

struct Network {
  Bytes bytes = sealed(sample_statement());
  std::vector<CurlOptions> connections;

  TransferMaker maker() {
    return [this](const CurlOptions& options) {
      connections.push_back(options);
      return std::make_unique<StatementServer>(bytes);
    };
  }
};

TEST_CASE("a statement is fetched unchecked, then under the key it pins") {
  Network network;
  Project project =
      fetch_project(parse_project_address("https://host:1"), network.maker());
  CHECK(project.id == sample_project());
  CHECK(project.url == "https://host:1");
  REQUIRE(network.connections.size() == 2);
  CHECK(network.connections[0].trust == TlsTrust::unchecked);
  CHECK(network.connections[1].trust == TlsTrust::pinned);
  CHECK(network.connections[1].pin == "sha256//cGlu");
}

TEST_CASE("without a pin an authority must vouch for the server") {
  Network network;
  protocol::ProjectStatement statement = sample_statement();
  statement.tls_pin = "";
  network.bytes = sealed(statement);
  fetch_project(parse_project_address("https://host:1"), network.maker());
  REQUIRE(network.connections.size() == 2);
  CHECK(network.connections[1].trust == TlsTrust::authorities);
}

TEST_CASE("the fingerprint decides which project it may be") {
  Network network;
  std::string right = fingerprint(sample_project());
  fetch_project(parse_project_address("http://host:1#" + right),
                network.maker());
  std::string wrong(right.size(), '0');
  CHECK_THROWS_WITH_AS(
      fetch_project(parse_project_address("http://host:1#" + wrong),
                    network.maker()),
      doctest::Contains(right.c_str()), Error);
}

// Answers at one address, or not at all.
TransferMaker only_at(const std::string& url, const Bytes& bytes) {
  return [url, bytes](const CurlOptions& options) -> std::unique_ptr<Transfer> {
    if (options.base_url != url) {
      throw Error(ErrorKind::unavailable, "SSL connection timeout");
    }
    return std::make_unique<StatementServer>(bytes);
  };
}

std::string failure_of(const ProjectAddress& address,
                       const TransferMaker& make) {
  try {
    fetch_project(address, make);
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("an address without TLS is told from one where nobody answers") {
  Bytes bytes = sealed(sample_statement());
  ProjectAddress address = parse_project_address("host:1");
  CHECK_THROWS_WITH_AS(
      fetch_project(address, only_at("http://host:1", bytes)),
      doctest::Contains("SSL connection timeout: what answers there does not "
                        "speak TLS, and may not be the project"),
      Error);
  CHECK_THROWS_WITH_AS(fetch_project(address, only_at("http://other:1", bytes)),
                       doctest::Contains("timeout: check the address"), Error);
}

TEST_CASE("what is said of a failed TLS never offers less than TLS") {
  Bytes bytes = sealed(sample_statement());
  std::string fingerprint_given =
      "host:1#" + fingerprint(sample_project()).substr(0, 32);
  for (const std::string& address :
       {std::string("host:1"), fingerprint_given}) {
    std::string text = failure_of(parse_project_address(address),
                                  only_at("http://host:1", bytes));
    CHECK_FALSE(says(text, "http://"));
    CHECK(says(text, "ask its operator"));
    CHECK(says(text, "attach ADDRESS#FINGERPRINT"));
  }
}

TEST_CASE("a certificate that does not fit says what to ask of whom") {
  Bytes bytes = sealed(sample_statement());
  TransferMaker make =
      [&](const CurlOptions& options) -> std::unique_ptr<Transfer> {
    if (options.trust != TlsTrust::unchecked) {
      throw Error(ErrorKind::denied, "certificate has expired");
    }
    return std::make_unique<StatementServer>(bytes);
  };
  std::string text = failure_of(parse_project_address("host:1"), make);
  CHECK(says(text, "certificate has expired"));
  CHECK(says(text, "fingerprint is " + fingerprint(sample_project())));
  CHECK(says(text, "ask the operator"));
  CHECK_FALSE(says(text, "http://host"));
}

TEST_CASE("another project at a known address is not taken unasked") {
  Project known;
  known.statement.name = "My project";
  known.url = "http://host:1";
  known.id = test::filled<ProjectId>(0x57);
  Project other = known;
  other.statement.name = "Other";
  other.id = test::filled<ProjectId>(0x59);
  ProjectAddress bare = parse_project_address("http://host:1");
  CHECK_THROWS_WITH_AS(
      expect_no_stranger({known}, other, bare),
      doctest::Contains("\"My project\" 57575757… used to answer at this "
                        "address, now \"Other\" 59595959… does: if that is "
                        "intended, type quorate-client attach "
                        "http://host:1#59595959595959595959595959595959"),
      Error);
  expect_no_stranger({}, other, bare);
  expect_no_stranger({known}, known, bare);
  expect_no_stranger({known, other}, other, bare);
  expect_no_stranger(
      {known}, other,
      parse_project_address("http://host:1#" + fingerprint(other.id)));
  known.url = "http://host:2";
  expect_no_stranger({known}, other, bare);
}

TEST_CASE("a name that no project would take is refused before it is asked") {
  expect_name("", "--name");
  expect_name("Zoë " + std::string(58, 'x'), "--name");
  CHECK_THROWS_WITH_AS(expect_name(std::string(65, 'x'), "--name"),
                       doctest::Contains("at most 64 bytes, found 65"), Error);
  CHECK_THROWS_WITH_AS(
      expect_name("a\nb", "--host-name"),
      doctest::Contains("--host-name: it contains a control character"), Error);
  CHECK_THROWS_AS(expect_name("\x1b[31m", "--name"), Error);
}

// Of a project whose server has its second list of keys.
protocol::ProjectStatement later_statement() {
  protocol::ProjectStatement statement = sample_statement();
  statement.keys = test::sample_keyring();
  statement.issued = 5000;
  statement.expires = 7000;
  return statement;
}

Project project_of(const protocol::ProjectStatement& statement,
                   std::uint8_t key) {
  return open_statement(sealed(statement, key));
}

TEST_CASE("an old statement is refused, and one of a key whose time is over") {
  const Project known = project_of(later_statement(), 6);
  CHECK(known.id == sample_project());
  CHECK(against_statement(known, nullptr, 6999) == "");
  CHECK(against_statement(known, &known, 6999) == "");
  CHECK(against_statement(known, nullptr, 7000).find("has run out") !=
        std::string::npos);
  protocol::ProjectStatement other = later_statement();
  other.expires = 0;
  CHECK(against_statement(project_of(other, 6), nullptr, 9000)
            .find("key is over") != std::string::npos);
  other.issued = 4999;
  CHECK(against_statement(project_of(other, 6), &known, 6000)
            .find("is older than") != std::string::npos);
  // Before there were lists, however new it says it is.
  other = sample_statement();
  other.issued = 6000;
  const Project first = project_of(other, 1);
  CHECK(first.id == known.id);
  CHECK(against_statement(first, nullptr, 6000) == "");
  CHECK(against_statement(first, &known, 6000).find("is older than") !=
        std::string::npos);
  CHECK_THROWS_WITH_AS(expect_newest({known}, first, 6000),
                       doctest::Contains("detach from the project"), Error);
  CHECK_NOTHROW(
      expect_newest({project_of(sample_statement(), 1)}, known, 6000));
  // Another root.
  other.keys = keyring_of(sample_key(2).public_key());
  other.issued = 6000;
  const Project stranger =
      open_statement(seal(as_bytes(protocol::write(other)), SealKind::project,
                          other.keys.project, sample_key(2)));
  CHECK(against_statement(stranger, &known, 6000).find("expected project") !=
        std::string::npos);
}

TEST_CASE("a list's number goes before the date, however new that is") {
  const Project known = project_of(later_statement(), 6);
  protocol::ProjectStatement other = sample_statement();
  other.issued = 1'000'000;
  CHECK(says(against_statement(project_of(other, 1), &known, 6000),
             "is older than"));
  other = later_statement();
  ++other.keys.number;
  other.keys = seal_keyring(other.keys, sample_key(1));
  other.issued = 1;
  CHECK(against_statement(project_of(other, 6), &known, 6000) == "");
}

TEST_CASE("a list that contradicts the known one is refused") {
  const Project known = project_of(later_statement(), 6);
  const auto refusal = [&](Keyring ring) {
    protocol::ProjectStatement other = later_statement();
    other.keys = seal_keyring(std::move(ring), sample_key(1));
    return against_statement(project_of(other, 6), &known, 6000);
  };
  Keyring ring = test::sample_keyring();
  CHECK(refusal(ring) == "");
  ring.keys[2].until += 1000;
  CHECK(says(refusal(ring), "contradicts"));
  // A later one may say so, but not that a stolen key was none.
  ++ring.number;
  CHECK(refusal(ring) == "");
  ring.keys[1].is_revoked = false;
  CHECK(says(refusal(ring), "contradicts"));
  ring.keys.erase(ring.keys.begin() + 1);
  CHECK(refusal(ring) == "");
}

TEST_CASE("a statement's key must be the one that its keyring names last") {
  const protocol::ProjectStatement statement = later_statement();
  CHECK_NOTHROW(project_of(statement, 6));
  for (const std::uint8_t key : std::array<std::uint8_t, 3>{1, 5, 7}) {
    CHECK_THROWS_AS(project_of(statement, key), Error);
  }
}

TEST_CASE("an agent begins anew for other keys or another certificate") {
  const Project known = project_of(later_statement(), 6);
  protocol::ProjectStatement other = later_statement();
  other.issued = 6000;
  CHECK_FALSE(changes_exchange(project_of(other, 6), known));
  other.tls_pin = "sha256//bmV3";
  CHECK(changes_exchange(project_of(other, 6), known));
  CHECK(changes_exchange(known, project_of(sample_statement(), 1)));
}

TEST_CASE("false statements are refused") {
  Network network;
  protocol::ProjectStatement statement = sample_statement();
  SUBCASE("sealed by another key") {
    network.bytes = sealed(statement, 2);
  }
  SUBCASE("changed on its way") {
    network.bytes[10] ^= 1;
  }
  SUBCASE("no statement at all") {
    network.bytes = Bytes(20, 'x');
  }
  SUBCASE("another arithmetic") {
    statement.arithmetic = kArithmeticVersion + 1;
    network.bytes = sealed(statement);
  }
  CHECK_THROWS_AS(
      fetch_project(parse_project_address("http://host:1"), network.maker()),
      Error);
}

}  // namespace
}  // namespace quorate::client
