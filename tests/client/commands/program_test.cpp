#include "client/commands/program.h"

#include <vector>

#include <doctest/doctest.h>

#include "client/permission/prefs.h"
#include "client/site/site.h"
#include "tests/support/temporary_folder.h"

namespace quorate::client {
namespace {

int run(std::vector<std::string> words) {
  words.insert(words.begin(), "quorate-client");
  std::vector<char*> raw;
  for (std::string& word : words) raw.push_back(word.data());
  return run_program("quorate-client", static_cast<int>(raw.size()), raw.data(),
                     nullptr);
}

TEST_CASE("every command explains itself") {
  CHECK(run({"--help"}) == 0);
  for (const char* command :
       {"attach", "detach", "run", "status", "pause", "resume", "prefs", "log",
        "ui", "receipt", "ledger", "site", "boinc"}) {
    CAPTURE(command);
    CHECK(run({command, "--help"}) == 0);
  }
  for (const char* command : {"attach", "status", "detach"}) {
    CAPTURE(command);
    CHECK(run({"boinc", command, "--help"}) == 0);
  }
  for (const char* command : {"create", "join", "leave", "show"}) {
    CAPTURE(command);
    CHECK(run({"site", command, "--help"}) == 0);
  }
}

TEST_CASE("wrong usage is told apart from failure") {
  test::TemporaryFolder folder;
  std::string dir = folder.path().string();
  CHECK(run({}) == 2);
  CHECK(run({"dance"}) == 2);
  CHECK(run({"attach"}) == 2);
  CHECK(run({"run", "--cpu-percent", "0"}) == 2);
  CHECK(run({"run", "--dir", dir}) == 2);  // nothing is attached
  CHECK(run({"attach", "ftp://x", "--dir", dir}) == 2);
  CHECK(run({"attach", "http://127.0.0.1:1", "--dir", dir}) == 1);
  CHECK(run({"--dir", dir, "status", "--json"}) == 0);
  CHECK(run({"pause", "--dir", dir}) == 0);
  CHECK(fs::exists(folder / "paused"));
  CHECK(run({"resume", "--dir", dir}) == 0);
  CHECK_FALSE(fs::exists(folder / "paused"));
  CHECK(run({"pause", "--for", "2h", "--dir", dir}) == 0);
  CHECK(run({"pause", "--for", "soon", "--dir", dir}) == 2);
  CHECK(run({"log", "--lines", "3", "--dir", dir}) == 0);  // there is none yet
  CHECK(run({"log", "--lines", "-3", "--dir", dir}) == 2);
  CHECK(run({"pause", "1h30m", "--dir", dir}) == 0);
  CHECK(run({"pause", "1h", "--for", "2h", "--dir", dir}) == 2);
  CHECK(run({"ui", "--port", "80000", "--dir", dir}) == 2);
  CHECK(run({"--version"}) == 0);
  CHECK(run({"attach", "http://127.0.0.1:1", "--name", std::string(65, 'x'),
             "--dir", dir}) == 2);
}

TEST_CASE("wrong usage of a BOINC client is found before it is asked") {
  const std::string url = "http://127.0.0.1:1";
  CHECK(run({"boinc"}) == 2);
  CHECK(run({"boinc", "attach"}) == 2);
  CHECK(run({"boinc", "attach", "http://localhost"}) == 2);
  CHECK(run({"boinc", "attach", url, "--key", "a b"}) == 2);
  CHECK(run({"boinc", "attach", url, "--key", "a", "--name", "ada"}) == 2);
  CHECK(run({"boinc", "attach", url, "--name", std::string(65, 'x')}) == 2);
  CHECK(run({"boinc", "status", "--host", "127.0.0.1:x"}) == 2);
  CHECK(run({"boinc", "detach"}) == 2);
}

TEST_CASE("only attach and ui make a data folder") {
  test::TemporaryFolder folder;
  fs::path typo = folder / "typo";
  for (std::vector<std::string> words :
       std::vector<std::vector<std::string>>{{"status"},
                                             {"log"},
                                             {"run"},
                                             {"pause"},
                                             {"resume"},
                                             {"prefs"},
                                             {"prefs", "set", "cores", "2"},
                                             {"site", "create"},
                                             {"site", "leave"},
                                             {"site", "show"},
                                             {"detach", "http://x"}}) {
    CAPTURE(words[0]);
    words.insert(words.end(), {"--dir", typo.string()});
    CHECK(run(words) == 2);
    CHECK_FALSE(fs::exists(typo));
  }
}

TEST_CASE("preferences are set and reset") {
  test::TemporaryFolder folder;
  std::string dir = folder.path().string();
  fs::path file = folder / "prefs.json";
  CHECK(run({"prefs", "set", "cores", "2", "--dir", dir}) == 0);
  CHECK(run({"prefs", "--dir", dir, "set", "max_load", "30"}) == 0);
  CHECK(load_prefs(file).cores == 2);
  CHECK(load_prefs(file).max_load == 30);
  CHECK(run({"prefs", "--dir", dir, "--json"}) == 0);
  CHECK(run({"prefs", "set", "hours", "mon-fri", "22:00-07:00", "--dir",
             dir}) == 0);
  CHECK(load_prefs(file).hours == "mon-fri 22:00-07:00");
  CHECK(run({"prefs", "set", "cores", "many", "--dir", dir}) == 2);
  CHECK(run({"prefs", "set", "colour", "2", "--dir", dir}) == 2);
  CHECK(run({"prefs", "set", "cores", "--dir", dir}) == 2);
  CHECK(run({"prefs", "reset", "cores", "--dir", dir}) == 0);
  CHECK(load_prefs(file).cores == 0);
  CHECK(load_prefs(file).max_load == 30);
  write_file_durably(file, as_bytes("{"));
  CHECK(run({"prefs", "--dir", dir}) == 1);
  CHECK(run({"status", "--dir", dir}) == 0);  // and says so
  CHECK(run({"prefs", "reset", "--dir", dir}) == 0);
  CHECK(run({"prefs", "--dir", dir}) == 0);
}

TEST_CASE("a site is made, joined, shown and left") {
  test::TemporaryFolder folder, other;
  const std::string dir = folder.path().string();
  const std::string other_dir = other.path().string();
  CHECK(run({"site", "--dir", dir}) == 2);
  CHECK(run({"site", "show", "--dir", dir}) == 0);  // there is none
  CHECK(run({"site", "create", "--address", "10.0.0.1:80", "--dir", dir}) == 2);
  CHECK(run({"site", "create", "--port", "65536", "--dir", dir}) == 2);
  CHECK_FALSE(fs::exists(folder / "site.json"));
  CHECK(run({"site", "create", "--address", "10.0.0.1", "--address", "attic",
             "--port", "8471", "--dir", dir}) == 0);
  const auto made = read_site(DataFolder(folder.path()));
  REQUIRE(made);
  CHECK(made->addresses == std::vector<std::string>{"10.0.0.1", "attic"});
  CHECK(made->port == 8471);
  CHECK(run({"site", "create", "--dir", dir}) == 2);  // it has one

  const std::string secret = made->secret.text();
  std::string slip = secret;
  slip.back() = slip.back() == '0' ? '1' : '0';
  CHECK(run({"site", "join", "--dir", other_dir}) == 2);
  CHECK(run({"site", "join", slip, "--dir", other_dir}) == 2);
  CHECK(run({"site", "join", secret, "--dir", other_dir}) == 0);
  CHECK(run({"site", "join", secret, "--port", "9", "--dir", other_dir}) == 0);
  const auto joined = read_site(DataFolder(other.path()));
  REQUIRE(joined);
  CHECK(joined->secret.id() == made->secret.id());
  CHECK(joined->port == 9);
  const std::string foreign = SiteSecret::generate().text();
  CHECK(run({"site", "join", foreign, "--dir", other_dir}) == 2);
  CHECK(run({"site", "show", "--json", "--dir", other_dir}) == 0);
  CHECK(run({"site", "leave", "--dir", other_dir}) == 0);
  CHECK_FALSE(read_site(DataFolder(other.path())));
  CHECK(run({"site", "join", foreign, "--dir", other_dir}) == 0);
}

}  // namespace
}  // namespace quorate::client
