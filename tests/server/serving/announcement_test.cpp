#include "server/serving/announcement.h"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

namespace quorate {
namespace {

ServedProject served_on(const std::string& address) {
  ServedProject served;
  served.folder = "p";
  served.fingerprint = "abcd";
  served.endpoint = {address, 8470};
  served.is_tls = true;
  return served;
}

bool says(const ServedProject& served, const char* part) {
  return announcement(served).find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("volunteers type the setting's address") {
  ServedProject served = served_on("0.0.0.0");
  served.settings.url = "https://train.example.org";
  CHECK(says(served, "attach https://train.example.org#abcd\n"));
  CHECK_FALSE(says(served, "Note"));
  CHECK(announcement_json(served)["attach"] ==
        "https://train.example.org#abcd");
  CHECK(announcement_json(served)["remarks"].empty());
}

TEST_CASE("an address of every interface is not handed out") {
  ServedProject served = served_on("0.0.0.0");
  CHECK(says(served, "attach https://HOST:8470#abcd\n"));
  CHECK_FALSE(says(served, "attach https://0.0.0.0"));
  CHECK(says(served,
             "set \"url\" in quorate.toml: 0.0.0.0 is not an address that "
             "volunteers can reach"));
  CHECK(announcement_json(served)["attach"].is_null());
  CHECK(says(served_on("127.0.0.1"), "attach https://127.0.0.1:8470#abcd\n"));
}

TEST_CASE("a proxy that nobody has named is missed") {
  ServedProject served = served_on("127.0.0.1");
  CHECK_FALSE(says(served, "trusted_proxies"));
  served.settings.plain_http = true;
  CHECK(says(served, "Note: plain_http without trusted_proxies: "));
  CHECK(announcement_json(served)["remarks"].size() == 1);
  served.settings.trusted_proxies = {"127.0.0.1"};
  CHECK_FALSE(says(served, "trusted_proxies"));
}

TEST_CASE("what does not run is said") {
  ServedProject served = served_on("127.0.0.1");
  CHECK_FALSE(says(served, "evaluated"));
  served.settings.house_workers = 0;
  CHECK(says(
      served,
      "no house worker: no version is evaluated, so none can be exported"));
  served.settings.house_workers = 1;
  served.roles = parse_roles("scheduler");
  CHECK(says(served, "off: validator, assimilator, evaluator."));
  CHECK(says(served, "none can be exported"));
}

}  // namespace quorate
