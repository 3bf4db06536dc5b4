#include "client/control/authority.h"

#include <vector>

#include <doctest/doctest.h>

using namespace quorate::client;

namespace {

using Words = std::vector<std::string>;

}  // namespace

TEST_CASE("root, the service itself and who sits there may command it") {
  constexpr std::uint32_t kOwn = 990;
  CHECK(authority_of(0, kOwn, false) == Authority::full);
  CHECK(authority_of(kOwn, kOwn, false) == Authority::full);
  CHECK(authority_of(1000, kOwn, true) == Authority::full);
  CHECK(authority_of(1000, kOwn, false) == Authority::look);
}

TEST_CASE("a service does no command that names a file or a folder") {
  CHECK(is_for_service(Words{"attach", "https://example.org:8470"}));
  CHECK(is_for_service(Words{"prefs", "set", "max_load", "25"}));
  CHECK_FALSE(is_for_service(Words{}));
  CHECK_FALSE(is_for_service(Words{"run"}));
  CHECK_FALSE(is_for_service(Words{"receipt"}));
  CHECK_FALSE(is_for_service(Words{"--dir", "/", "status"}));
  CHECK_FALSE(is_for_service(Words{"status", "--dir=/"}));
  CHECK_FALSE(is_for_service(Words{"attach", "x", "--account", "y"}));
}

TEST_CASE("who only looks is told who may, and how") {
  CHECK(against_command(Words{"status"}, Authority::look).empty());
  CHECK(against_command(Words{"pause"}, Authority::full).empty());
  CHECK(against_command(Words{"pause"}, Authority::look) ==
        "pause: only who sits at this computer, and root, may command its "
        "service: type sudo quorate-client pause ...");
  CHECK(against_command(Words{"boinc"}, Authority::full)
            .starts_with("this computer's service does not do that"));
}
