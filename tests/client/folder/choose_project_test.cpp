#include "client/folder/choose_project.h"

#include <doctest/doctest.h>

#include "base/error.h"
#include "tests/support/samples.h"

namespace quorate::client {
namespace {

Project make(const std::string& name, const std::string& url, int id) {
  Project project;
  project.statement.name = name;
  project.url = url;
  project.id = test::filled<ProjectId>(static_cast<std::uint8_t>(id));
  return project;
}

const std::vector<Project> kTwo{make("One", "https://a:1", 0x11),
                                make("Two", "http://b:2", 0x22)};
const std::vector<Project> kTwins{make("One", "https://a:1", 0x11),
                                  make("Two", "https://a:1", 0x22)};

TEST_CASE("the project that is meant") {
  CHECK(choose_project({kTwo[0]}, "", "X").statement.name == "One");
  for (const char* name : {"http://b:2", "http://b:2/", "b:2", "22222222",
                           "http://b:2#22222222222222222222222222222222"}) {
    CAPTURE(name);
    CHECK(choose_project(kTwo, name, "X").statement.name == "Two");
  }
  CHECK(choose_project(kTwins, "a:1#22222222", "X").statement.name == "Two");
}

TEST_CASE("where it is not clear, nothing is chosen, and all are listed") {
  struct Row {
    const std::vector<Project>& projects;
    const char* name;
    const char* expected;
  };
  const Row table[] = {
      {kTwo, "",
       "2 projects are attached; choose one with --project FINGERPRINT: "
       "11111111 "
       "One at https://a:1, 22222222 Two at http://b:2"},
      {kTwins, "https://a:1",
       "2 projects are attached as \"https://a:1\"; choose one with --project "
       "FINGERPRINT: 11111111 One at https://a:1, 22222222 Two at "
       "https://a:1"},
      {kTwo, "c:3", "\"c:3\" is not an attached project; choose one with"},
      {kTwo, "1111111", "is not an attached project"},  // too short
      {kTwo, "http://b:2#11111111", "is not an attached project"},
  };
  for (const Row& row : table) {
    CAPTURE(row.name);
    CHECK_THROWS_WITH_AS(
        choose_project(row.projects, row.name, "--project FINGERPRINT"),
        doctest::Contains(row.expected), Error);
  }
  CHECK_THROWS_WITH_AS(choose_project({}, "", "X"),
                       doctest::Contains("no project is attached"), Error);
}

}  // namespace
}  // namespace quorate::client
