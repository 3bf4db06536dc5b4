// Who a client is: addresses, what a proxy says, the keys of limits.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "server/http/clients/forwarded.h"
#include "server/http/clients/ip_address.h"
#include "server/http/clients/known_clients.h"
#include "server/http/clients/places.h"

using namespace quorate;

namespace {

std::vector<IpBlock> blocks(const std::vector<const char*>& texts) {
  std::vector<IpBlock> all;
  for (const char* text : texts) {
    CAPTURE(text);
    auto block = parse_ip_block(text);
    REQUIRE(block);
    all.push_back(*block);
  }
  return all;
}

bool is_in(const char* block, const char* address) {
  return contains(blocks({block}), *parse_ip(address));
}

// The key of the n-th place.
std::string key(const char* address, std::size_t n) {
  return places_of(address).at(n).key;
}

}  // namespace

TEST_CASE("an address is read in all its forms, and nothing else is") {
  CHECK(text_of(*parse_ip("192.0.2.1")) == "192.0.2.1");
  CHECK(text_of(*parse_ip("::ffff:192.0.2.1")) == "192.0.2.1");
  CHECK(parse_ip("::ffff:192.0.2.1") == parse_ip("192.0.2.1"));
  CHECK(text_of(*parse_ip("2001:DB8:0::1")) == "2001:db8::1");
  using namespace std::string_view_literals;
  for (std::string_view bad :
       {"", "1.2.3", "1.2.3.4.5", "01.2.3.4", "256.1.1.1", "1.2.3.4:80",
        "[::1]", "fe80::1%eth0", "unknown", "_hidden", " 1.2.3.4",
        "1:2:3:4:5:6:7:8:9"}) {
    CAPTURE(bad);
    CHECK_FALSE(parse_ip(bad));
  }
  CHECK_FALSE(parse_ip("1.2.3.4\0x"sv));
  CHECK_FALSE(parse_ip(std::string(100'000, '1')));
}

TEST_CASE("a block has the addresses that share its first bits") {
  CHECK(is_in("127.0.0.1", "127.0.0.1"));
  CHECK_FALSE(is_in("127.0.0.1", "127.0.0.2"));
  CHECK(is_in("127.0.0.1", "::ffff:127.0.0.1"));
  CHECK(is_in("10.0.0.0/8", "10.255.1.2"));
  CHECK_FALSE(is_in("10.0.0.0/8", "11.0.0.0"));
  CHECK(is_in("192.0.2.128/25", "192.0.2.255"));
  CHECK_FALSE(is_in("192.0.2.128/25", "192.0.2.127"));
  CHECK(is_in("2001:db8::/33", "2001:db8:7fff::1"));
  CHECK_FALSE(is_in("2001:db8::/33", "2001:db8:8000::1"));
  CHECK(is_in("::1", "::1"));
  // IPv4 addresses are kept as IPv6 ones, but are none.
  CHECK_FALSE(is_in("::/80", "192.0.2.1"));
  CHECK_FALSE(is_in("::/1", "192.0.2.1"));
  for (const char* bad :
       {"", "/", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/+8",
        "10.0.0.0/ 8", "10.0.0.0/8x", "10.0.0.0/99999999999", "::/129",
        "0.0.0.0/0", "::/0", "::ffff:0.0.0.0/96", "10/8", "localhost",
        "::1/64/64"}) {
    CAPTURE(bad);
    CHECK_FALSE(parse_ip_block(bad));
  }
}

TEST_CASE("a proxy's client is the last address that is no trusted proxy") {
  const auto trusted = blocks({"127.0.0.1", "10.0.0.0/8", "2001:db8::/32"});
  const auto client = [&](std::string_view list) {
    return forwarded_address(list, "127.0.0.1", trusted);
  };
  CHECK(client("192.0.2.7") == "192.0.2.7");
  CHECK(client("6.6.6.6, 192.0.2.7") == "192.0.2.7");
  CHECK(client("6.6.6.6,192.0.2.7 , 10.1.2.3,2001:db8::5") == "192.0.2.7");
  CHECK(client("::ffff:192.0.2.7") == "192.0.2.7");
  CHECK(client("2a00::1") == "2a00::1");
  // What a client says of itself stands before, whatever it is.
  CHECK(client("drop table, 192.0.2.7") == "192.0.2.7");
  CHECK(client(",,, 192.0.2.7") == "192.0.2.7");
  // Nobody is named, or by nobody whom one could believe.
  for (const char* none :
       {"", " ", ",", "drop table", "192.0.2.7, drop table", "192.0.2.7,",
        "192.0.2.7:80", "[2a00::1]", "unknown", "10.0.0.1", "10.0.0.1,10.0.0.2",
        "192.0.2.7\t\v", "fe80::1%eth0"}) {
    CAPTURE(none);
    CHECK(client(none) == "127.0.0.1");
  }
  CHECK(client(std::string(16'000, ',')) == "127.0.0.1");
}

TEST_CASE("an IPv4 address is one place") {
  for (const char* address : {"192.0.2.1", "::ffff:192.0.2.1"}) {
    const Places places = places_of(address);
    REQUIRE(places.size() == 1);
    CHECK(places[0].key == "192.0.2.1");
    CHECK(places[0].times == 1);
  }
  CHECK(places_of("unix").at(0).key == "unix");
  CHECK(places_of("").empty());
}

TEST_CASE("an IPv6 address is in three places, wider ones have more") {
  const Places places = places_of("2001:db8:7:1234::1");
  REQUIRE(places.size() == 3);
  CHECK(places[0].times == 1);
  CHECK(places[1].times == 4);
  CHECK(places[2].times == 16);
  const char* one = "2001:db8:7:1234::1";
  CHECK(key(one, 0) == key("2001:db8:7:1234:ffff::2", 0));
  CHECK(key(one, 0) != key("2001:db8:7:1235::1", 0));
  CHECK(key(one, 1) == key("2001:db8:7:12ff::1", 1));
  CHECK(key(one, 1) != key("2001:db8:7:1334::1", 1));
  CHECK(key(one, 2) == key("2001:db8:7:ffff::1", 2));
  CHECK(key(one, 2) != key("2001:db8:8:1234::1", 2));
  // A block of zeros is not taken for a wider one.
  CHECK(key("2001:db8::", 0) != key("2001:db8::", 1));
}

TEST_CASE("a block is what one person easily has, but none of this room") {
  CHECK(block_of("192.0.2.1") == block_of("192.0.2.200"));
  CHECK(block_of("192.0.2.1") == block_of("::ffff:192.0.2.7"));
  CHECK(block_of("192.0.2.1") != block_of("192.0.3.1"));
  CHECK(block_of("2001:db8:7::1") == block_of("2001:db8:7:ffff::2"));
  CHECK(block_of("2001:db8:7::1") != block_of("2001:db8:8::1"));
  for (const char* local :
       {"127.0.0.1", "10.1.2.3", "192.168.0.9", "172.16.0.1", "172.31.9.9",
        "169.254.1.1", "::1", "fe80::1", "fd00::1", "unix", ""}) {
    CAPTURE(local);
    CHECK(block_of(local).empty());
  }
  CHECK_FALSE(block_of("172.32.0.1").empty());
}

TEST_CASE("addresses from which a host came are known for a while") {
  ManualClock clock;
  KnownClients known(clock);
  CHECK_FALSE(known.contains("192.0.2.1"));
  known.note("192.0.2.1");
  known.note("2001:db8::1");
  CHECK(known.contains("192.0.2.1"));
  CHECK_FALSE(known.contains("192.0.2.2"));
  CHECK(known.contains("2001:db8::2"));  // of one household
  CHECK_FALSE(known.contains("2001:db8:0:1::1"));
  clock.advance(KnownClients::kSpan);
  known.note("192.0.2.9");
  CHECK(known.contains("192.0.2.1"));
  clock.advance(KnownClients::kSpan);
  known.note("192.0.2.9");
  CHECK_FALSE(known.contains("192.0.2.1"));
  CHECK(known.contains("192.0.2.9"));
  // When nobody comes, they are forgotten all the same.
  clock.advance(2 * KnownClients::kSpan);
  CHECK_FALSE(known.contains("192.0.2.9"));
  known.note("192.0.2.3");
  CHECK_FALSE(known.contains("192.0.2.9"));
}

TEST_CASE("known clients do not fill the memory") {
  ManualClock clock;
  KnownClients known(clock);
  for (std::size_t i = 0; i < KnownClients::kMost; ++i) {
    known.note(fmt::format("10.{}.{}.{}", i >> 16, (i >> 8) & 255, i & 255));
  }
  CHECK(known.contains("10.1.134.159"));  // the last
  known.note("192.0.2.1");
  CHECK(known.contains("192.0.2.1"));
  CHECK(known.contains("10.1.134.159"));
  CHECK_FALSE(known.contains("10.0.0.0"));
}
