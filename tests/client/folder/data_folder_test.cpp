#include "client/folder/data_folder.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "client/status/status_text.h"
#include "tests/client/fake_server.h"
#include "tests/support/samples.h"
#include "tests/support/temporary_folder.h"

namespace quorate::client {
namespace {

TEST_CASE("keys are made once and are private") {
  test::TemporaryFolder root;
  DataFolder folder(root.path());
  PublicKey account = folder.account_key().public_key();
  CHECK(folder.account_key().public_key() == account);
  CHECK(folder.host_key().public_key() != account);
  for (const char* name : {"account.key", "host.key"}) {
    CHECK(fs::status(root / name).permissions() ==
          (fs::perms::owner_read | fs::perms::owner_write));
  }
}

TEST_CASE("an account can be brought along, but not replaced") {
  test::TemporaryFolder root;
  test::TemporaryFolder other;
  fs::path file = other / "account.key";
  test::sample_key(4).save(file.string());
  DataFolder folder(root.path());
  folder.adopt_account(file);
  folder.adopt_account(file);
  CHECK(folder.account_key().public_key() == test::sample_key(4).public_key());

  fs::path third = other / "third.key";
  test::sample_key(5).save(third.string());
  CHECK_THROWS_AS(folder.adopt_account(third), Error);
}

TEST_CASE("two agents cannot use one folder") {
  test::TemporaryFolder root;
  DataFolder folder(root.path());
  FileLock lock = folder.lock();
  CHECK_THROWS_WITH_AS(folder.lock(),
                       doctest::Contains(std::to_string(::getpid()).c_str()),
                       Error);
}

TEST_CASE("a lock that is held says who holds it and how to end that") {
  test::TemporaryFolder root;
  DataFolder folder(root.path());
  FileLock lock = folder.lock();
  std::string expected = fmt::format(
      "an agent (process {0}) already works in {1}; stop it with Ctrl-C there "
      "or kill {0}, or use --dir OTHER",
      ::getpid(), root.path().string());
  CHECK_THROWS_WITH_AS(folder.lock(), expected.c_str(), Error);
}

TEST_CASE("a folder that was mistyped is not made") {
  test::TemporaryFolder root;
  fs::path typo = root / "typo";
  CHECK_THROWS_WITH_AS(DataFolder::open(typo),
                       doctest::Contains("does not exist"), Error);
  CHECK_FALSE(fs::exists(typo));
  CHECK(DataFolder::open(root.path()).root() == root.path());
}

TEST_CASE("a folder that others may write is refused, with what mends it") {
  test::TemporaryFolder root;
  fs::permissions(root.path(), fs::perms::owner_all | fs::perms::others_write);
  const std::string mend = "run chmod -R go-w " + root.path().string();
  CHECK_THROWS_WITH_AS(DataFolder{root.path()}, doctest::Contains(mend.c_str()),
                       Error);
  CHECK_THROWS_AS(DataFolder::open(root.path()), Error);
  fs::permissions(root.path(), static_cast<fs::perms>(0755));
  CHECK_NOTHROW(DataFolder{root.path()});
}

TEST_CASE("what attaching makes is ours alone, whatever the umask") {
  test::TemporaryFolder root;
  const mode_t before = ::umask(0);
  DataFolder(root.path()).add_project(test::FakeServer().project());
  ::umask(before);
  for (const auto& entry : fs::recursive_directory_iterator(root.path())) {
    CAPTURE(entry.path().string());
    if (!entry.is_directory()) continue;
    CHECK(entry.status().permissions() == fs::perms::owner_all);
  }
}

TEST_CASE("a folder of another user is refused, naming both") {
  if (::geteuid() != 0) {
    MESSAGE("skipped: needs root, to be somebody else for once");
    return;
  }
  test::TemporaryFolder root;
  fs::permissions(root.path(), fs::perms::owner_all);
  pid_t child = ::fork();
  if (child == 0) {
    bool is_refused = false;
    if (::setuid(65534) == 0) {
      try {
        DataFolder folder(root.path());
      } catch (const Error& e) {
        std::string what = e.what();
        is_refused =
            what.find("belongs to root, but you are") != std::string::npos;
      }
    }
    ::_exit(is_refused ? 0 : 1);
  }
  int status = 1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}

TEST_CASE("pause is remembered until resume") {
  test::TemporaryFolder root;
  DataFolder folder(root.path());
  CHECK_FALSE(folder.pause(1000));
  folder.set_pause(Pause{});
  folder.set_pause(Pause{});
  CHECK(DataFolder(root.path()).pause(1000));
  folder.set_pause(std::nullopt);
  folder.set_pause(std::nullopt);
  CHECK_FALSE(folder.pause(1000));
}

TEST_CASE("a pause for a while ends by itself, also after a restart") {
  test::TemporaryFolder root;
  DataFolder(root.path()).set_pause(Pause{1000, 5000});
  CHECK(DataFolder(root.path()).pause(4999));
  CHECK_FALSE(DataFolder(root.path()).pause(5000));
}

TEST_CASE("a pause that cannot be read is kept until resume") {
  test::TemporaryFolder root;
  DataFolder folder(root.path());
  std::string text(2000, 'x');
  SUBCASE("too long") {}
  SUBCASE("other words") {
    text = "tomorrow";
  }
  SUBCASE("empty, as older clients wrote it") {
    text = "";
  }
  write_file_durably(root / "paused", as_bytes(text));
  REQUIRE(folder.pause(1000));
  CHECK(folder.pause(1000)->until == 0);
}

TEST_CASE("projects are added, listed, shown and removed") {
  test::TemporaryFolder root;
  DataFolder folder(root.path());
  CHECK(folder.projects().empty());
  Project project = test::FakeServer().project();
  project.user_name = "Zoë";
  folder.add_project(project);
  REQUIRE(folder.projects().size() == 1);
  CHECK(folder.projects()[0].id == project.id);
  CHECK(folder.projects()[0].url == "http://fake");

  AgentState state;
  state.counters.accepted = 5;
  StateFile(folder.project_folder(project.id) / "state.json").save(state);
  Status status = read_status(folder, 1000);
  CHECK(status_json(status).find("\"accepted\": 5") != std::string::npos);
  CHECK(status_text(status).find("Zoë") != std::string::npos);

  protocol::StandingReply reply;
  reply.host = 1;
  reply.valid = 40;
  reply.runs = {{"first", 38, 2, 90}};
  write_standing(folder.project_folder(project.id) / "standing.json", reply);
  status = read_status(folder, 1000);
  CHECK(status_text(status).find("38 results are part of the model, in "
                                 "versions 2 to 90") != std::string::npos);
  CHECK(status_json(status).find("\"last_version\": 90") != std::string::npos);

  folder.remove_project(project);
  CHECK(folder.projects().empty());
}

TEST_CASE("a status tells of preferences that cannot be read") {
  test::TemporaryFolder root;
  DataFolder folder(root.path());
  write_file_durably(folder.prefs_file(), as_bytes("{\"cores\":\"x\"}"));
  Status status = read_status(folder, 1000);
  CHECK(status.prefs == Prefs{});
  CHECK(status_text(status).find("preference cores") != std::string::npos);
  CHECK(status_json(status).find("preference cores") != std::string::npos);
}

TEST_CASE("a project keeps the computer's name, which older files lack") {
  test::TemporaryFolder root;
  Project project = test::FakeServer().project();
  project.host_name = "lab 3";
  save_project(root / "project.json", project);
  CHECK(load_project(root / "project.json").host_name == "lab 3");
  std::string text = read_text_file(root / "project.json");
  const std::size_t at = text.find(" \"host_name\"");
  REQUIRE(at != std::string::npos);
  text.erase(at, text.find('\n', at) + 1 - at);
  write_file_durably(root / "project.json", as_bytes(text));
  CHECK(load_project(root / "project.json").host_name.empty());
}

TEST_CASE("a project file that was changed is refused") {
  test::TemporaryFolder root;
  Project project = test::FakeServer().project();
  project.sealed[20] ^= 1;
  save_project(root / "project.json", project);
  CHECK_THROWS_AS(load_project(root / "project.json"), Error);
  write_file_durably(root / "project.json", as_bytes("{\"url\":7}"));
  CHECK_THROWS_AS(load_project(root / "project.json"), Error);
}

TEST_CASE("receipts are kept beside each other, until the project is left") {
  test::TemporaryFolder root;
  const DataFolder folder(root.path());
  Project project;
  project.id = test::sample_project();
  CHECK(folder.receipts(project.id).empty());
  fs::create_directories(folder.project_folder(project.id));
  for (const char* sealed : {"one", "two", "one"}) {
    folder.keep_receipt(project.id, as_bytes(sealed));
  }
  const std::vector<fs::path> kept = folder.receipts(project.id);
  REQUIRE(kept.size() == 2);
  CHECK(read_text_file(kept[0]) != read_text_file(kept[1]));
  folder.remove_project(project);
  CHECK(folder.receipts(project.id).empty());
}

}  // namespace
}  // namespace quorate::client
