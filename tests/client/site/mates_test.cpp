#include "client/site/mates.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "base/error.h"
#include "client/site/site_door.h"
#include "protocol/transfer/curl_transfer.h"
#include "tests/client/http_listener.h"
#include "tests/support/raw_http.h"
#include "tests/support/temporary_folder.h"

namespace quorate::client {
namespace {

using protocol::MateContact;
using test::RawHttp;
using test::RawResponse;

Bytes object_of(std::size_t size, std::uint8_t salt) {
  Bytes bytes(size);
  std::uint32_t state = salt;
  for (std::uint8_t& byte : bytes) {
    state = state * 1664525 + 1013904223;
    byte = static_cast<std::uint8_t>(state >> 24);
  }
  return bytes;
}

// A mate with one object, on loopback.
struct Host {
  Host(const SiteSecret& secret, const Bytes& bytes)
      : hash(sha256(bytes)),
        file(folder / "object"),
        door({secret, {"127.0.0.1"}, 0}, [this](const Hash& asked) {
          ++asked_times;
          std::this_thread::sleep_for(takes);
          return asked == hash ? std::optional<fs::path>(file) : std::nullopt;
        }) {
    write_file_durably(file, bytes);
  }
  test::TemporaryFolder folder;
  Hash hash;
  fs::path file;
  std::atomic<int> asked_times{0};
  std::chrono::milliseconds takes{0};
  SiteDoor door;
};

struct Fixture {
  SiteSecret secret = SiteSecret::generate();
  test::TemporaryFolder folder;
  fs::path part = folder / "object.part";
  ManualClock clock;
  Mates mates{secret, "", clock};

  bool fetch(const Hash& hash, std::uint64_t size) {
    return mates.fetch(hash, size, part, {});
  }
  std::string contact_of(const std::string& url) const {
    const std::string port = url.substr(url.rfind(':') + 1);
    const MateContact contact{secret_random<protocol::ProcessId>(),
                              static_cast<std::uint16_t>(std::stoi(port)),
                              "absent",
                              {"127.0.0.1"}};
    return to_hex(secret.seal(MateMessage::contact, protocol::write(contact)));
  }
};

// What somebody answers who knows the secret, and may mean ill.
template <class Choose>  // protocol::MateRequest -> protocol::MateChunk
std::string sealed_answer(const SiteSecret& secret, const std::string& request,
                          Choose choose) {
  const std::string body = request.substr(request.find("\r\n\r\n") + 4);
  const auto opened = secret.open(MateMessage::request, as_bytes(body));
  if (!opened) return "";
  const protocol::MateChunk chunk =
      choose(protocol::parse_mate_request(*opened));
  const Bytes sealed =
      secret.seal(MateMessage::reply, protocol::write(chunk), *opened);
  return fmt::format(
      "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{}",
      sealed.size(), as_text(sealed));
}

// What is said to `door` by somebody else.
RawResponse knock(const SiteDoor& door, const Bytes& body) {
  return RawHttp(door.port())
      .exchange(fmt::format("POST /v1/mate HTTP/1.1\r\nHost: x\r\n"
                            "Content-Length: {}\r\n\r\n{}",
                            body.size(), as_text(body)));
}

Bytes sealed_request(const SiteSecret& secret, const SiteDoor& door,
                     const Hash& hash) {
  const auto contact = open_contact(secret, door.contact());
  REQUIRE(contact);
  return secret.seal(
      MateMessage::request,
      protocol::write(protocol::MateRequest{contact->process, {}, hash, 0, 9}));
}

TEST_CASE_FIXTURE(Fixture,
                  "an object is fetched whole from the mate that has") {
  const Bytes bytes = object_of(3'000'000, 1);
  Host without(secret, object_of(10, 2));
  Host with(secret, bytes);
  mates.learn({without.door.contact(), with.door.contact()});
  REQUIRE(fetch(with.hash, bytes.size()));
  CHECK(read_file(part) == bytes);
  CHECK(with.door.counters().bytes_given == bytes.size());
  CHECK(without.door.counters().bytes_given == 0);
  CHECK(mates.bytes_received() == bytes.size());
  CHECK_FALSE(fetch(sha256({}), 5));
  for (const MateStatus& mate : mates.status()) CHECK(mate.state == "ok");
}

TEST_CASE_FIXTURE(Fixture, "an empty list of mates has nothing") {
  CHECK_FALSE(fetch(sha256({}), 0));
  CHECK_FALSE(fs::exists(part));
}

TEST_CASE_FIXTURE(Fixture, "a fetch goes on where the last one ended") {
  const Bytes bytes = object_of(2'000'000, 3);
  write_file_durably(folder / "object.mates", ByteView(bytes).first(1'500'000));
  Host host(secret, bytes);
  mates.learn({host.door.contact()});
  REQUIRE(fetch(host.hash, bytes.size()));
  CHECK(read_file(part) == bytes);
  CHECK(host.door.counters().bytes_given == 500'000);
  CHECK_FALSE(fs::exists(folder / "object.mates"));
}

TEST_CASE_FIXTURE(Fixture, "what somebody wrong began costs no honest mate") {
  const Bytes bytes = object_of(200'000, 3);
  write_file_durably(folder / "object.mates", Bytes(100'000, 1));
  Host host(secret, bytes);
  mates.learn({host.door.contact()});
  REQUIRE(fetch(host.hash, bytes.size()));
  CHECK(read_file(part) == bytes);
  CHECK(mates.status().at(0).state == "ok");
}

TEST_CASE_FIXTURE(Fixture, "a liar is excluded, and stays so") {
  const Bytes bytes = object_of(200'000, 4);
  Host liar(secret, bytes);
  write_file_durably(liar.file, object_of(200'000, 5));
  mates.learn({liar.door.contact()});
  CHECK_FALSE(fetch(liar.hash, bytes.size()));
  CHECK_FALSE(fs::exists(part));
  CHECK(mates.status().at(0).state == "excluded");
  mates.learn({});
  CHECK(mates.status().empty());
  mates.learn({liar.door.contact()});
  const int asked = liar.asked_times;
  CHECK_FALSE(fetch(liar.hash, bytes.size()));
  CHECK(liar.asked_times == asked);
  // the next mate serves
  Host honest(secret, bytes);
  mates.learn({liar.door.contact(), honest.door.contact()});
  CHECK(fetch(honest.hash, bytes.size()));
}

TEST_CASE_FIXTURE(Fixture, "an object of another size is not written") {
  const Bytes bytes = object_of(5'000, 6);
  Host host(secret, bytes);
  mates.learn({host.door.contact()});
  SUBCASE("too large") {
    CHECK_FALSE(fetch(host.hash, 4'999));
  }
  SUBCASE("too small") {
    CHECK_FALSE(fetch(host.hash, 5'001));
  }
  CHECK_FALSE(fs::exists(part));
  CHECK(fs::file_size(folder / "object.mates") == 0);
  CHECK(mates.status().at(0).state == "excluded");
}

TEST_CASE_FIXTURE(Fixture, "what a mate that means ill says is not written") {
  protocol::MateChunk chunk{true, 1000, {}};
  std::string becomes = "excluded";
  SUBCASE("nothing, for ever") {}
  SUBCASE("more than was asked for") {
    chunk.bytes = Bytes(1001);
    becomes = "resting";  // it is cut off before it can be opened
  }
  SUBCASE("that it has it not, which may be") {
    chunk.is_here = false;
    becomes = "ok";
  }
  test::HttpListener mate([&](const std::string& request) {
    return sealed_answer(secret, request, [&](const auto&) { return chunk; });
  });
  mates.learn({contact_of(mate.url())});
  CHECK_FALSE(fetch(sha256({}), 1000));
  CHECK(mate.seen().size() == 1);
  CHECK(mates.status().at(0).state == becomes);
  CHECK(fs::file_size(folder / "object.mates") == 0);
}

TEST_CASE_FIXTURE(Fixture, "a connection that breaks goes on where it was") {
  const Bytes bytes = object_of(200'000, 7);
  std::atomic<int> times{0};
  test::HttpListener mate([&](const std::string& request) -> std::string {
    if (++times % 2 == 0) return "HTTP";  // and the end
    return sealed_answer(secret, request, [&](const auto& asked) {
      const auto rest = ByteView(bytes).subspan(asked.offset);
      const auto piece = rest.first(std::min<std::size_t>(rest.size(), 50'000));
      return protocol::MateChunk{
          true, bytes.size(), {piece.begin(), piece.end()}};
    });
  });
  mates.learn({contact_of(mate.url())});
  CHECK(fetch(sha256(bytes), bytes.size()));
  CHECK(mates.bytes_received() == bytes.size());
  CHECK(mates.status().at(0).state == "ok");
}

TEST_CASE_FIXTURE(Fixture, "an object that has just gone is not there") {
  Host host(secret, object_of(10, 7));
  fs::remove(host.file);
  mates.learn({host.door.contact()});
  CHECK_FALSE(fetch(host.hash, 10));
  CHECK(host.asked_times == 1);
  CHECK(mates.status().at(0).state == "ok");
}

TEST_CASE_FIXTURE(Fixture, "a slow mate is given up, and what came is kept") {
  const Bytes bytes = object_of(3'000'000, 2);
  Host host(secret, bytes);
  host.takes = std::chrono::milliseconds(40);
  SystemClock real;
  MateLimits limits;
  limits.patience = Seconds(0.1);
  limits.least_bytes_per_second = 1e12;
  Mates hasty(secret, "", real, limits);
  hasty.learn({host.door.contact()});
  CHECK_FALSE(hasty.fetch(host.hash, bytes.size(), part, {}));
  CHECK(hasty.status().at(0).state == "resting");
  CHECK_FALSE(fs::exists(part));
  const std::uint64_t kept = fs::file_size(folder / "object.mates");
  CHECK(kept < bytes.size());
  mates.learn({host.door.contact()});
  CHECK(fetch(host.hash, bytes.size()));
  CHECK(mates.bytes_received() == bytes.size() - kept);
}

TEST_CASE_FIXTURE(Fixture, "mates are asked directly, not through a proxy") {
  Host host(secret, object_of(10, 7));
  mates.learn({host.door.contact()});
  ::setenv("http_proxy", "http://127.0.0.1:1", 1);
  CHECK(fetch(host.hash, 10));
  ::unsetenv("http_proxy");
}

TEST_CASE_FIXTURE(Fixture, "an absent mate rests, and is asked again later") {
  std::string gone;
  Host host(secret, object_of(10, 7));
  {
    Host leaves(secret, object_of(10, 7));
    gone = leaves.door.contact();
  }
  mates.learn({gone});
  CHECK_FALSE(fetch(host.hash, 10));
  CHECK(mates.status().at(0).state == "resting");
  CHECK_FALSE(mates.status().at(0).why.empty());
  clock.advance(Seconds(11));
  CHECK(mates.status().at(0).state == "ok");
  mates.learn({gone, host.door.contact()});
  CHECK(fetch(host.hash, 10));
}

TEST_CASE_FIXTURE(Fixture, "a mate that holds the line costs its deadline") {
  test::HttpListener silent([](const std::string&) { return ""; });
  MateLimits limits;
  SUBCASE("of the question") {
    limits.probe_timeout = Seconds(0.2);
  }
  SUBCASE("of the whole object") {
    limits.patience = Seconds(0.2);
  }
  Mates hasty(secret, "", clock, limits);
  hasty.learn({contact_of(silent.url())});
  const auto began = SystemClock().now();
  CHECK_FALSE(hasty.fetch(sha256({}), 5, part, {}));
  CHECK(SystemClock().now() - began < Seconds(2));
  CHECK(hasty.status().at(0).state == "resting");
}

TEST_CASE_FIXTURE(Fixture, "a reply that came before is not taken again") {
  // Records what the door answers once, and says it again.
  const Bytes bytes = object_of(100, 8);
  Host host(secret, bytes);
  const RawResponse recorded =
      knock(host.door, sealed_request(secret, host.door, host.hash));
  REQUIRE(recorded.status == 200);
  CHECK(secret.open(MateMessage::reply, as_bytes(recorded.body)) ==
        std::nullopt);  // not without its request
  test::HttpListener replays([&](const std::string&) {
    return fmt::format(
        "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{}",
        recorded.body.size(), recorded.body);
  });
  mates.learn({contact_of(replays.url())});
  CHECK_FALSE(fetch(host.hash, bytes.size()));
  CHECK_FALSE(replays.seen().empty());
  // whoever stands on the way has nobody excluded
  CHECK(mates.status().at(0).state == "resting");
}

TEST_CASE_FIXTURE(Fixture, "a reply without end is cut off") {
  test::HttpListener floods([](const std::string&) {
    return "HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n" +
           std::string(9'999, 'x');
  });
  mates.learn({contact_of(floods.url())});
  CHECK_FALSE(fetch(sha256({}), 1000));
  CHECK(mates.status().at(0).state == "resting");
  CHECK(mates.status().at(0).why == "a reply that is too long");
  CHECK(fs::file_size(folder / "object.mates") == 0);
}

TEST_CASE_FIXTURE(Fixture, "whoever has another secret learns nothing") {
  const Bytes bytes = object_of(100, 9);
  Host host(secret, bytes);
  const SiteSecret other = SiteSecret::generate();
  Mates strangers(other, "", clock);
  strangers.learn({host.door.contact(), "", "x", std::string(513, '0'),
                   std::string(510, '0')});
  CHECK(strangers.status().empty());
  const Bytes fitting = sealed_request(secret, host.door, host.hash);
  const Bytes foreign =
      other.seal(MateMessage::request, Bytes(fitting.size() - 28));
  const RawResponse refused = knock(host.door, foreign);
  CHECK(refused.status == 404);
  CHECK(refused.body.empty());
  for (const Bytes& body : {Bytes{}, Bytes(1), Bytes(fitting.size()),
                            Bytes(fitting.begin() + 1, fitting.end())}) {
    const RawResponse same = knock(host.door, body);
    CHECK(same.status == 404);
    CHECK(same.body.empty());
  }
  CHECK(host.asked_times == 0);
  CHECK(host.door.counters().refused == 5);
  CHECK(knock(host.door, fitting).status == 200);
}

TEST_CASE_FIXTURE(Fixture, "a request for another process is not answered") {
  Host host(secret, object_of(10, 1));
  Host restarted(secret, object_of(10, 1));
  CHECK(knock(restarted.door, sealed_request(secret, host.door, host.hash))
            .status == 404);
  mates.learn({contact_of(fmt::format("x:{}", restarted.door.port()))});
  CHECK_FALSE(fetch(host.hash, 10));
  CHECK(mates.status().at(0).why == "answered with HTTP status 404");
  CHECK(restarted.asked_times == 0);
}

TEST_CASE_FIXTURE(Fixture, "mates are those named last, bounded, not oneself") {
  Host host(secret, object_of(10, 1));
  Mates own(secret, host.door.contact(), clock);
  own.learn({host.door.contact()});
  CHECK(own.status().empty());
  std::vector<std::string> many;
  for (int i = 0; i < 70; ++i) many.push_back(contact_of("http://x:1"));
  mates.learn(many);
  CHECK(mates.status().size() == 64);
  mates.learn({many[0]});
  CHECK(mates.status().size() == 1);
}

TEST_CASE_FIXTURE(Fixture, "a stop ends a fetch at once, and nobody rests") {
  test::HttpListener silent([](const std::string&) { return ""; });
  mates.learn({contact_of(silent.url())});
  std::stop_source stop;
  std::jthread stops([&] {
    while (silent.seen().empty()) std::this_thread::yield();
    stop.request_stop();
  });
  CHECK_FALSE(mates.fetch(sha256({}), 5, part, stop.get_token()));
  CHECK(mates.status().at(0).state == "ok");
}

TEST_CASE_FIXTURE(Fixture, "several threads fetch at the same time") {
  const Bytes bytes = object_of(1'000'000, 1);
  Host host(secret, bytes);
  mates.learn({host.door.contact()});
  std::vector<std::jthread> threads;
  std::atomic<int> done{0};
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      const fs::path own = folder.path() / fmt::format("{}.part", i);
      done += mates.fetch(host.hash, bytes.size(), own, {}) ? 1 : 0;
    });
  }
  mates.learn({host.door.contact()});
  threads.clear();
  CHECK(done == 4);
}

TEST_CASE_FIXTURE(Fixture, "a contact is small, opaque and stays the same") {
  Host host(secret, object_of(10, 1));
  const std::string text = host.door.contact();
  CHECK(text.size() <= 512);
  CHECK(text == host.door.contact());
  const auto contact = open_contact(secret, text);
  REQUIRE(contact);
  CHECK(contact->port == host.door.port());
  CHECK(contact->addresses == std::vector<std::string>{"127.0.0.1"});
}

// Made from docs/protocol.md alone, by another implementation of HKDF and
// ChaCha20-Poly1305 (tests/fuzz/corpus/client_mate/sealed_contact).
TEST_CASE("a contact that another implementation sealed is opened") {
  const SiteSecret golden = SiteSecret::parse(
      "quorate-site-cb2e605fa2b38bc226160d40585d64a856f99dd6");
  CHECK(golden.id().hex().substr(0, 16) == "5522ef6551e19842");
  const auto contact = open_contact(
      golden,
      "000102030405060708090a0b2077b0843b8c553338e8d227dcb5771c5716a71e"
      "27cfb238e0b4960aaaa46d2b5cd65faacdbe1a78e02fc282516b1eaf833e170c"
      "06cce94d8f9de3730b03c93b5eb47ee79d0625d4d432");
  REQUIRE(contact);
  CHECK(contact->port == 8471);
  CHECK(contact->name == "attic");
  CHECK(contact->addresses ==
        std::vector<std::string>{"192.168.1.7", "2001:db8::7"});
  CHECK(contact->process.bytes[15] == 15);
}

TEST_CASE_FIXTURE(Fixture, "what door and mates do is told and read again") {
  const Bytes bytes = object_of(1000, 1);
  Host host(secret, bytes);
  mates.learn({host.door.contact()});
  REQUIRE(fetch(host.hash, bytes.size()));
  const SiteActivity told = site_activity(host.door, mates);
  const SiteActivity read = parse_site_activity(site_activity_json(told));
  CHECK(read.id == secret.id().hex());
  CHECK(read.port == host.door.port());
  CHECK(read.bytes_given == 1000);
  CHECK(read.bytes_received == 1000);
  REQUIRE(read.mates.size() == 1);
  CHECK(read.mates[0].address == "127.0.0.1");
  CHECK(read.mates[0].bytes == 1000);
  CHECK_THROWS_AS(parse_site_activity("{}"), Error);
}

}  // namespace
}  // namespace quorate::client
