#include "client/site/mate.h"

#include <doctest/doctest.h>

#include "base/error.h"

namespace quorate::client {
namespace {

using protocol::MateChunk;
using protocol::MateContact;
using protocol::MateRequest;
using protocol::ProcessId;

ProcessId process(std::uint8_t number) {
  ProcessId id;
  id.bytes[0] = number;
  return id;
}

Mate mate_of(std::uint8_t number, double speed) {
  Mate mate;
  mate.contact.process = process(number);
  mate.contact.port = 1;
  mate.bytes_per_second = speed;
  return mate;
}

const Instant kNow{Seconds(1000)};

TEST_CASE("new mates are asked first, then the fastest") {
  MatesById mates;
  mates[process(1)] = mate_of(1, 10);
  mates[process(2)] = mate_of(2, 30);
  mates[process(3)] = mate_of(3, 0);
  mates[process(4)] = mate_of(4, 20);
  mates[process(5)] = mate_of(5, 99);
  mates[process(5)].is_excluded = true;
  mates[process(6)] = mate_of(6, 99);
  mates[process(6)].rests_until = kNow + Seconds(1);
  mates[process(7)] = mate_of(7, 99);
  mates[process(7)].is_named = false;
  std::vector<int> order;
  for (const Mate& mate : asking_order(mates, kNow)) {
    order.push_back(mate.contact.process.bytes[0]);
  }
  CHECK(order == std::vector<int>{3, 2, 4, 1});
  CHECK(asking_order(mates, kNow + Seconds(1)).size() == 5);
}

TEST_CASE("a mate that is silent rests longer every time, up to a bound") {
  Mate mate = mate_of(1, 0);
  Seconds last{0};
  for (int times = 0; times < 3; ++times) {
    note_silence(mate, kNow, "refused");
    const Seconds rest = mate.rests_until - kNow;
    CHECK(rest > last);
    last = rest;
  }
  for (int times = 0; times < 100; ++times) note_silence(mate, kNow, "");
  CHECK(mate.rests_until - kNow <= Seconds(600));
  CHECK(state_name(mate, kNow) == "resting");
  note_answer(mate, "10.0.0.1", 0, Seconds(0.1));
  CHECK(mate.failures == 0);
  note_answer(mate, "10.0.0.1", 1000, Seconds(0.1));
  CHECK(mate.bytes_per_second == 0);  // too little to measure
}

TEST_CASE("speed is that of late") {
  Mate mate = mate_of(1, 0);
  note_answer(mate, "a", 1 << 20, Seconds(1));
  CHECK(mate.bytes_per_second == 1 << 20);
  for (int i = 0; i < 50; ++i) note_answer(mate, "a", 1 << 20, Seconds(4));
  CHECK(mate.bytes_per_second == doctest::Approx(1 << 18).epsilon(0.01));
  CHECK(mate.bytes == 51ULL << 20);
}

TEST_CASE("the address that answered is tried first") {
  Mate mate = mate_of(1, 0);
  mate.contact.addresses = {"10.0.0.1", "2001:db8::7", "attic"};
  mate.address = "attic";
  CHECK(addresses_to_try(mate) ==
        std::vector<std::string>{"attic", "10.0.0.1", "2001:db8::7"});
  CHECK(url_of("10.0.0.1", 80) == "http://10.0.0.1:80");
  CHECK(url_of("2001:db8::7", 80) == "http://[2001:db8::7]:80");
}

// Every message, cut anywhere or with a byte more, is refused.
template <class Parse>
void expect_whole(const Bytes& bytes, Parse parse) {
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    CAPTURE(size);
    CHECK_THROWS_AS(parse(ByteView(bytes).first(size)), Error);
  }
  Bytes longer = bytes;
  longer.push_back(0);
  CHECK_THROWS_AS(parse(ByteView(longer)), Error);
}

TEST_CASE("messages of mates are read as they were written") {
  const MateContact contact{
      process(7), 8471, "attic", {"10.0.0.1", "2001:db8::7"}};
  const Bytes contact_bytes = protocol::write(contact);
  CHECK(protocol::parse_mate_contact(contact_bytes) == contact);
  expect_whole(contact_bytes,
               [](ByteView b) { protocol::parse_mate_contact(b); });
  const MateRequest request{process(7), {}, sha256({}), 1ULL << 40, 1 << 20};
  const Bytes request_bytes = protocol::write(request);
  CHECK(request_bytes.size() == protocol::kMateRequestBytes);
  CHECK(protocol::parse_mate_request(request_bytes) == request);
  expect_whole(request_bytes,
               [](ByteView b) { protocol::parse_mate_request(b); });
  const MateChunk chunk{true, 1000, Bytes(3, 7)};
  const MateChunk read = protocol::parse_mate_chunk(protocol::write(chunk));
  CHECK(read.total == 1000);
  CHECK(read.bytes == chunk.bytes);
  expect_whole(protocol::write(MateChunk{}),
               [](ByteView b) { protocol::parse_mate_chunk(b); });
}

TEST_CASE("messages of mates beyond their bounds are refused") {
  MateContact contact{process(7), 8471, "attic", {"10.0.0.1"}};
  const auto refused = [](const auto& message, auto parse) {
    CHECK_THROWS_AS(parse(protocol::write(message)), Error);
  };
  const auto read_contact = [](ByteView b) { protocol::parse_mate_contact(b); };
  SUBCASE("no port") {
    contact.port = 0;
  }
  SUBCASE("a name that turns the line") {
    contact.name = "a\x1b[2J";
  }
  SUBCASE("a long name") {
    contact.name = std::string(41, 'a');
  }
  SUBCASE("a way out of the URL") {
    contact.addresses = {"a@b/c"};
  }
  SUBCASE("an empty address") {
    contact.addresses = {""};
  }
  SUBCASE("many") {
    contact.addresses = std::vector<std::string>(5, "a");
  }
  refused(contact, read_contact);
}

TEST_CASE("a request for nothing or for too much is refused") {
  MateRequest request{process(7), {}, sha256({}), 0, 0};
  CHECK_THROWS_AS(protocol::parse_mate_request(protocol::write(request)),
                  Error);
  request.length = protocol::kMaxMateChunk + 1;
  CHECK_THROWS_AS(protocol::parse_mate_request(protocol::write(request)),
                  Error);
  const MateChunk chunk{true, 1, Bytes(protocol::kMaxMateChunk + 1)};
  CHECK_THROWS_AS(protocol::parse_mate_chunk(protocol::write(chunk)), Error);
}

TEST_CASE("the first addresses that fit into a contact are told") {
  const std::string longest(64, 'a');
  CHECK(protocol::fitting_addresses({"a", "b", "c", "d", "e"}).size() == 4);
  CHECK(protocol::fitting_addresses({longest, longest, longest}).size() == 2);
  const MateContact fullest{
      process(1), 1, std::string(40, 'n'),
      protocol::fitting_addresses({longest, longest, "0123456789012345"})};
  CHECK(fullest.addresses.size() == 3);
  CHECK(2 * (protocol::write(fullest).size() + 28) <= 512);
}

}  // namespace
}  // namespace quorate::client
