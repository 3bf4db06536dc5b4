#include "client/permission/prefs.h"

#include <doctest/doctest.h>

#include "base/error.h"
#include "tests/support/temporary_folder.h"

namespace quorate::client {
namespace {

Prefs all_changed() {
  Prefs prefs;
  set(prefs, pref_info("cores"), "2");
  set(prefs, pref_info("cpu_percent"), "50");
  set(prefs, pref_info("gpu_percent"), "40");
  set(prefs, pref_info("hours"), "22:00-07:00");
  set(prefs, pref_info("on_battery"), "yes");
  set(prefs, pref_info("max_load"), "25");
  set(prefs, pref_info("idle_minutes"), "10");
  set(prefs, pref_info("max_celsius"), "80");
  set(prefs, pref_info("memory_stall"), "30");
  set(prefs, pref_info("down_kbps"), "500");
  set(prefs, pref_info("up_kbps"), "100");
  set(prefs, pref_info("cache_mb"), "200");
  set(prefs, pref_info("disk_mb"), "900");
  set(prefs, pref_info("memory_mb"), "4000");
  set(prefs, pref_info("unit_hours"), "2");
  set(prefs, pref_info("require_sandbox"), "yes");
  return prefs;
}

TEST_CASE("every preference can be set, and is kept") {
  test::TemporaryFolder folder;
  fs::path file = folder / "prefs.json";
  CHECK(load_prefs(file) == Prefs{});
  Prefs prefs = all_changed();
  for (const PrefInfo& info : pref_table()) {
    CAPTURE(info.key);
    CHECK(value_text(prefs, info) != value_text(Prefs{}, info));
  }
  save_prefs(file, prefs);
  CHECK(load_prefs(file) == prefs);
}

TEST_CASE("what was not chosen is not written") {
  CHECK(write_prefs({}) == "{}\n");
  Prefs prefs;
  prefs.cores = 3;
  CHECK(write_prefs(prefs) == "{\n \"cores\": 3\n}\n");
}

TEST_CASE("a value out of bounds is refused, naming key and bounds") {
  struct Row {
    const char* key;
    const char* value;
    const char* expected;
  };
  const Row table[] = {
      {"cores", "1025", "a whole number from 1 to 1024, or 0, found \"1025\""},
      {"cores", "-1", "found \"-1\""},
      {"cores", "2.5", "found \"2.5\""},
      {"cores", "", "found \"\""},
      {"cores", "99999999999999999999999", "a whole number"},
      {"cpu_percent", "0", "from 1 to 100, found"},
      {"on_battery", "maybe", "expected yes or no"},
      {"cores", "2%", "found \"2%\""},
      {"max_load", "%", "found \"%\""},
      {"cpu_percent", "50%%", "found \"50%%\""},
      {"hours", "night", "preference hours: expected hours like"},
      {"down_kbps", "7", "from 8 to"},
      {"cache_mb", "1", "from 16 to"},
      {"disk_mb", "63", "from 64 to 100000000, or 0, found \"63\""},
  };
  for (const Row& row : table) {
    CAPTURE(row.key);
    CAPTURE(row.value);
    Prefs prefs;
    CHECK_THROWS_WITH_AS(set(prefs, pref_info(row.key), row.value),
                         doctest::Contains(row.expected), Error);
    CHECK(prefs == Prefs{});
  }
  CHECK_THROWS_WITH_AS(pref_info("colour"),
                       doctest::Contains("there are cores cpu_percent"), Error);
}

TEST_CASE("values as people write them") {
  struct Row {
    const char* key;
    const char* value;
    const char* kept;
  };
  const Row table[] = {
      {"cpu-percent", "50%", "50"},
      {"max_load", "25%", "25"},
      {"on_battery", "true", "yes"},
      {"on-battery", "off", "no"},
      {"hours", "always", "always"},
      {"hours", "", "always"},
      {"hours", "mon-fri 22:00-07:00", "mon-fri 22:00-07:00"},
  };
  for (const Row& row : table) {
    CAPTURE(row.key);
    CAPTURE(row.value);
    Prefs prefs = all_changed();
    set(prefs, pref_info(row.key), row.value);
    CHECK(value_text(prefs, pref_info(row.key)) == row.kept);
  }
  Prefs prefs = all_changed();
  set(prefs, pref_info("hours"), "always");
  CHECK(prefs.hours.empty());
}

TEST_CASE("a hostile file is refused, naming key and place") {
  struct Row {
    std::string text;
    const char* expected;
  };
  const Row table[] = {
      {"", "not JSON at byte"},
      {"{\"cores\":", "not JSON at byte"},
      {"[1]", "one JSON object"},
      {"{\"cores\":1,\"cores\":2}", "\"cores\" twice"},
      {"{\"cores\":\"2\"}", "preference cores: expected a whole number"},
      {"{\"cores\":-2}", "preference cores"},
      {"{\"cores\":1e9}", "preference cores"},
      {"{\"cores\":99999999999999999999}", "preference cores"},
      {"{\"on_battery\":1}", "preference on_battery: expected true or false"},
      {"{\"hours\":7}", "preference hours: expected a text"},
      {"{\"hours\":\"7\"}", "preference hours: expected hours like"},
      {"{\"hours\":\"" + std::string(501, ' ') + "\"}", "at most 500 bytes"},
      {"{\"colour\":1}", "preference \"colour\" does not exist"},
      {"{\"cores\":[[[[[[1]]]]]]}", "nested deeper"},
      {std::string(70'000, ' '), "bytes of JSON"},
  };
  for (const Row& row : table) {
    CAPTURE(row.text.substr(0, 60));
    CHECK_THROWS_WITH_AS(parse_prefs(row.text, "/data/prefs.json"),
                         doctest::Contains(row.expected), Error);
    CHECK_THROWS_WITH_AS(parse_prefs(row.text, "/data/prefs.json"),
                         doctest::Contains("read /data/prefs.json"), Error);
  }
}

TEST_CASE("people see every preference with its meaning") {
  std::string text = prefs_text(all_changed());
  for (const PrefInfo& info : pref_table()) {
    CHECK(text.find(info.key) != std::string::npos);
    CHECK(text.find(info.meaning) != std::string::npos);
  }
  CHECK(text.find("(default)") == std::string::npos);
  CHECK(prefs_text({}).find("cores         0  (default)") == 0);
  CHECK(parse_prefs(prefs_json(all_changed()), "json") == all_changed());
}

}  // namespace
}  // namespace quorate::client
