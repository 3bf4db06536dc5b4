#include "server/settings/settings.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "base/error.h"
#include "server/http/tls/tls.h"
#include "tests/support/temporary_folder.h"

namespace quorate {
namespace {

ServerSettings load(const std::string& text) {
  test::TemporaryFolder folder;
  write_file_durably(folder / "quorate.toml", as_bytes(text));
  return load_settings(folder / "quorate.toml");
}

std::string refusal(const std::string& text) {
  try {
    load(text);
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::usage);
    return error.what();
  }
  return "no error";
}

void check_says(const std::string& found, const char* expected) {
  CAPTURE(found);
  CHECK(found.find(expected) != std::string::npos);
}

}  // namespace

TEST_CASE("an empty file gives the defaults") {
  ServerSettings settings = load("");
  CHECK(settings.listen == "127.0.0.1:8470");
  CHECK_FALSE(settings.plain_http);
  CHECK(settings.trusted_proxies.empty());
  CHECK_FALSE(settings.proxy_protocol);
  CHECK(settings.lease == Seconds(120));
  CHECK(settings.heartbeat == Seconds(30));
  CHECK(settings.reservation == Seconds(5));
  CHECK(settings.house_workers == 1);
  CHECK(settings.evaluate_every == Seconds(2));
  CHECK(settings.evaluate_every_versions == 10);
}

TEST_CASE("what the template writes is read back") {
  ServerSettings settings;
  settings.name = "say \"hi\" \\ once\ttwice\nthrice";
  settings.url = "https://example.org:8470";
  settings.listen = "[::]:1";
  settings.operators = {"anna", "ben"};
  settings.guests = {"eve"};
  settings.plain_http = true;
  settings.trusted_proxies = {"127.0.0.1", "2001:db8::/32"};
  settings.proxy_protocol = true;
  settings.tls_certificate = "/a/b.pem";
  settings.tls_key = "/a/k.pem";
  settings.io_threads = 3;
  settings.max_connections = 77;
  settings.max_connections_per_address = 5;
  settings.new_accounts_per_minute = 6;
  settings.new_hosts_per_minute = 7;
  settings.max_hosts_per_account = 8;
  settings.lease = Seconds(1.5);
  settings.heartbeat = Seconds(0.25);
  settings.reservation = Seconds(7);
  settings.max_results_per_host = 4;
  settings.disk_reserve_mb = 9;
  settings.house_workers = 0;
  settings.house_threads = 2;
  settings.evaluate_every = Seconds(0);
  settings.evaluate_every_versions = 3;
  std::string text = settings_template(settings);
  ServerSettings back = load(text);
  CHECK(back.name == settings.name);
  CHECK(back.operators == settings.operators);
  CHECK(back.guests == settings.guests);
  CHECK(back.max_connections_per_address == 5);
  CHECK(back.new_accounts_per_minute == 6);
  CHECK(back.new_hosts_per_minute == 7);
  CHECK(back.max_hosts_per_account == 8);
  CHECK(back.lease == Seconds(1.5));
  CHECK(back.disk_reserve_mb == 9);
  CHECK(back.plain_http);
  CHECK(back.trusted_proxies == settings.trusted_proxies);
  CHECK(back.proxy_protocol);
  // Every setting is in the template.
  CHECK(settings_template(back) == text);
  CHECK(settings_template(ServerSettings{}) != text);
}

TEST_CASE("users are a list of names on one line") {
  CHECK(load("operators = [ 'anna', \"ben\", ] # two\n").operators ==
        std::vector<std::string>{"anna", "ben"});
  CHECK(load("guests = []\n").guests.empty());
  for (const char* bad :
       {"[\"a\" \"b\"]", "[\"a\"", "[1]", "[\"\"]", "[\"a b\"]", "\"a\"",
        "[[\"a\"]]", "[,]", "[\n\"a\"]", "5"}) {
    CAPTURE(bad);
    check_says(refusal(std::string("operators = ") + bad + "\n"), "line 1");
  }
}

TEST_CASE("proxies are addresses and blocks of them") {
  CHECK(load("trusted_proxies = ['127.0.0.1', \"::1\", '10.0.0.0/8']\n")
            .trusted_proxies ==
        std::vector<std::string>{"127.0.0.1", "::1", "10.0.0.0/8"});
  for (const char* bad : {"['localhost']", "['10.0.0.0/33']", "['0.0.0.0/0']",
                          "['']", "'127.0.0.1'"}) {
    CAPTURE(bad);
    const std::string found =
        refusal(std::string("trusted_proxies = ") + bad + "\n");
    check_says(found, "line 1");
    check_says(found, "addresses and blocks of them");
  }
  check_says(refusal("proxy_protocol = true\n"),
             "proxy_protocol needs the proxies' addresses in trusted_proxies");
}

TEST_CASE("an unknown setting is refused with its line and what is known") {
  std::string found = refusal("name = \"a\"\n\nleese = 5\n");
  check_says(found, "quorate.toml, line 3: unknown setting \"leese\"");
  check_says(found, "lease");
  check_says(found, "evaluate_every_versions");
}

TEST_CASE("letters beyond ASCII may stand in quotes and comments") {
  ServerSettings settings = parse_settings(
      "\xef\xbb\xbf# für alle\r\nname = \"Équipe # \\\" 1\" # à nous\r\n",
      "s.toml");
  CHECK(settings.name == "Équipe # \" 1");
  CHECK(parse_settings("name='it\"s'", "s.toml").name == "it\"s");
}

// Of some of these toml++ makes undefined behaviour.
TEST_CASE("what is no plain line is refused, with its number") {
  for (const char* line : {"name = Équipe",
                           "É = 1",
                           "\xef\xbb\xaf",
                           "[{+",
                           "[server]",
                           "[[x]]",
                           "name",
                           "name =",
                           "= 1",
                           "lease = 1 2",
                           "name = \"open",
                           "name = 'open",
                           "name = \"a\" b",
                           "name = \"\"\"a\"\"\"",
                           "x = [1",
                           "x = {a = 1}",
                           "\"name\" = 1",
                           "a.b = 1",
                           "name = \"a\\\"",
                           "\x01"}) {
    CAPTURE(line);
    CHECK_THROWS_WITH_AS(
        parse_settings("\n" + std::string(line) + "\n", "s.toml"),
        doctest::Contains("settings s.toml, line 2: expected NAME = VALUE"),
        Error);
  }
}

TEST_CASE("values of the wrong kind or out of range are refused") {
  struct Row {
    const char *text, *says;
  };
  for (const Row& row : {
           Row{"lease = \"long\"",
               "line 1: \"lease\": expected a number of "
               "seconds from 1 to 86400"},
           Row{"\nlease = 0.5", "line 2: \"lease\""},
           Row{"lease = nan", "\"lease\""},
           Row{"lease = inf", "\"lease\""},
           Row{"lease = 86401", "\"lease\""},
           Row{"house_workers = 65", "expected a whole number from 0 to 64"},
           Row{"house_workers = -1", "\"house_workers\""},
           Row{"house_workers = 1.5", "\"house_workers\""},
           Row{"house_workers = 4294967296", "\"house_workers\""},
           Row{"max_results_per_host = 129", "from 1 to 128"},
           Row{"plain_http = 1", "expected true or false"},
           Row{"listen = 8470", "expected a text in quotes"},
           Row{"name = 1", "expected a text of 1"},
           Row{"name = \" \"", "line 1: \"name\": expected a text of 1 to 64"},
           Row{"url = \"ftp://host\"", "\"url\": expected http or https"},
           Row{"url = \"https://host:65536\"", "\"url\""},
           Row{"lease = ", "line 1"},
           Row{"lease = 5\nlease = 6", "line 2"},
       }) {
    CAPTURE(row.text);
    check_says(refusal(row.text), row.says);
  }
}

TEST_CASE("bounds are within the range, and seconds may be whole numbers") {
  ServerSettings settings =
      load("lease = 86400\nhouse_workers = 64\nevaluate_every = 0\n");
  CHECK(settings.lease == Seconds(86400));
  CHECK(settings.house_workers == 64);
  CHECK(settings.evaluate_every == Seconds(0));
}

TEST_CASE("files that the settings name are looked at, with their line") {
  test::TemporaryFolder folder;
  fs::path path = folder / "quorate.toml";
  auto refusal_of = [&](const std::string& text) -> std::string {
    write_file_durably(path, as_bytes(text));
    try {
      expect_settings_files(path);
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::usage);
      return error.what();
    }
    return "no error";
  };
  CHECK(refusal_of("lease = 5\ntls_certificate = \"\"\n") == "no error");
  std::string found = refusal_of(
      "\ntls_certificate = \"/no/such.pem\"\ntls_key = \"/no/k.pem\"\n");
  check_says(found, "quorate.toml, line 2: \"tls_certificate\"");
  check_says(found, "/no/such.pem");
  check_says(refusal_of("tls_certificate = \"/a.pem\"\n"),
             "line 1: \"tls_certificate\": needs \"tls_key\" as well");
  check_says(refusal_of("\ntls_key = \"/a.pem\"\n"),
             "line 2: \"tls_key\": needs \"tls_certificate\" as well");
  TlsFiles files{folder / "c.pem", folder / "k.pem"};
  make_self_signed_certificate(files, "localhost");
  std::string good = "tls_certificate = \"" + files.certificate.string() +
                     "\"\ntls_key = \"" + files.key.string() + "\"\n";
  CHECK(refusal_of(good) == "no error");
  make_self_signed_certificate({folder / "other.pem", files.key}, "localhost");
  check_says(refusal_of(good), "line 1: \"tls_certificate\" and \"tls_key\"");
}

TEST_CASE("names are short and have ink") {
  CHECK(is_project_name("a"));
  CHECK(is_project_name(std::string(64, 'x')));
  for (const std::string& bad :
       {std::string(), std::string(" \t\n"), std::string(65, 'x')}) {
    CHECK_FALSE(is_project_name(bad));
  }
}

TEST_CASE("where the server speaks TLS") {
  ServerSettings settings;
  CHECK(speaks_tls(settings, "0.0.0.0"));
  CHECK_FALSE(speaks_tls(settings, "127.0.0.1"));
  settings.tls_certificate = "own.crt";
  CHECK(speaks_tls(settings, "127.0.0.1"));
  settings.plain_http = true;
  CHECK_FALSE(speaks_tls(settings, "127.0.0.1"));
  CHECK_FALSE(speaks_tls(settings, "0.0.0.0"));
}

}  // namespace quorate
