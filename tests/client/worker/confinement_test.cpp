#include <algorithm>

#include <doctest/doctest.h>
#include <unistd.h>

#include "client/worker/confinement/escapes.h"
#include "tests/support/sanitized.h"
#include "tests/support/temporary_folder.h"

using namespace quorate;
using namespace quorate::worker;

namespace {

constexpr std::uint32_t kMemoryMb = 512;

std::vector<std::string> names_of_refused(bool is_gpu, const Walls& walls) {
  const test::TemporaryFolder folder;
  std::vector<std::string> names;
  for (const Escape& escape :
       try_escapes(folder.path(), is_gpu, kMemoryMb, walls)) {
    if (escape.is_refused) names.push_back(escape.name);
  }
  return names;
}

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string why_no_landlock() {
  const test::TemporaryFolder folder;
  for (const Escape& escape : try_escapes(folder.path(), false, kMemoryMb)) {
    if (!escape.is_refused) return escape.found;
  }
  return "";
}

}  // namespace

TEST_CASE("a worker gets out of its folder by no way that we know" *
          doctest::skip(test::kIsSanitized)) {
  const std::string why = why_no_landlock();
  if (why == "the process could not be confined") {
    MESSAGE("skipped: this kernel has no Landlock");
    return;
  }
  CHECK(names_of_refused(false, {}).size() == 28);
  CHECK(names_of_refused(true, {}).size() == 26);
}

TEST_CASE("each wall stops what the other lets through" *
          doctest::skip(test::kIsSanitized)) {
  if (!why_no_landlock().empty()) {
    MESSAGE("skipped: this kernel has no Landlock");
    return;
  }
  const auto by_files =
      names_of_refused(false, {.files = true, .calls = false});
  const auto by_calls =
      names_of_refused(false, {.files = false, .calls = true});
  CHECK(has(by_files, "read a file beside its folder"));
  CHECK_FALSE(has(by_calls, "read a file beside its folder"));
  CHECK(has(by_calls, "make processes"));
  CHECK_FALSE(has(by_files, "make processes"));
  CHECK(has(by_calls, "ask the kernel by a ring"));
}

TEST_CASE("without walls the attempts get through" *
          doctest::skip(test::kIsSanitized)) {
  const auto refused =
      names_of_refused(false, {.files = false, .calls = false});
  for (const char* name :
       {"read a file beside its folder", "write to it",
        "make a file beside its folder", "remove a file beside its folder",
        "move a file out of its folder", "read it through a symbolic link",
        "link it into its folder", "truncate it",
        "read the users of the machine", "change the mode of a file",
        "make a device", "open a raw socket", "signal the parent process",
        "take twice its memory", "run another program", "make processes"}) {
    CHECK_MESSAGE(!has(refused, name), name);
  }
}
