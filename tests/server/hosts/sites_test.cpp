#include "server/hosts/sites.h"

#include <doctest/doctest.h>

#include "tests/support/samples.h"

namespace quorate {
namespace {

using test::filled;
using Contacts = std::vector<std::string>;

constexpr std::size_t kMost = 64;
const Hash kHome = filled<Hash>(1);
const Hash kSchool = filled<Hash>(2);

TEST_CASE("contacts are passed on within a site alone") {
  Sites sites;
  const Instant now{};
  sites.note(1, kHome, "one", now);
  sites.note(2, kHome, "two", now + Seconds(1));
  sites.note(3, kHome, "three", now + Seconds(2));
  sites.note(4, kSchool, "four", now);
  CHECK(sites.mates_of(1, now + Seconds(2), kMost) == Contacts{"three", "two"});
  CHECK(sites.mates_of(4, now, kMost).empty());
  CHECK(sites.mates_of(5, now, kMost).empty());
  CHECK(sites.are_mates(1, 3));
  CHECK(!sites.are_mates(1, 4));
  CHECK(!sites.are_mates(5, 6));
}

TEST_CASE("who moves or leaves is no mate any more") {
  Sites sites;
  const Instant now{};
  for (HostId host : {1, 2, 3}) sites.note(host, kHome, "x", now);
  sites.note(2, kSchool, "two", now);
  sites.note(3, Hash{}, "", now);
  CHECK(sites.mates_of(1, now, kMost).empty());
  CHECK(!sites.are_mates(1, 2));
  CHECK(!sites.are_mates(1, 3));
  CHECK(!sites.are_mates(3, 3));
  sites.note(3, kSchool, "three", now);
  CHECK(sites.mates_of(2, now, kMost) == Contacts{"three"});
}

TEST_CASE("the silent and those without a contact are not passed on") {
  Sites sites;
  const Instant now{};
  sites.note(1, kHome, "one", now);
  sites.note(2, kHome, "", now);
  sites.note(3, kHome, "three", now);
  const Instant later = now + Sites::kForgotten;
  sites.note(1, kHome, "one", later);
  sites.note(2, kHome, "", later);
  CHECK(sites.mates_of(1, later, kMost).empty());
  CHECK(sites.mates_of(3, later, kMost) == Contacts{"one"});
  // nor kept: not even who asks as of before gets it
  CHECK(sites.mates_of(1, now, kMost) == Contacts{});
  CHECK(sites.mates_of(3, now, kMost) == Contacts{"one"});
  // but they remain one owner's
  CHECK(sites.are_mates(1, 3));
}

TEST_CASE("of a large site only so many are passed on") {
  Sites sites;
  for (HostId host = 1; host <= 100; ++host) {
    sites.note(host, kHome, std::to_string(host),
               Instant{} + Seconds(static_cast<double>(host)));
  }
  const Contacts mates = sites.mates_of(1, Instant{} + Seconds(100), kMost);
  CHECK(mates.size() == kMost);
  CHECK(mates.front() == "100");
}

}  // namespace
}  // namespace quorate
