#include "server/serving/descriptors.h"

#include <initializer_list>

#include <doctest/doctest.h>
#include <sys/resource.h>

namespace quorate {

// Without this an attacker's slow downloads, of two descriptors each, leave
// none for the store, and its first failure ends the server.
TEST_CASE("connections leave descriptors to the store") {
  struct Row {
    std::uint64_t open_files;
    std::size_t wanted, taken;
  };
  for (const Row& row : {
           Row{1024, 10000, 384}, Row{65536, 10000, 10000},
           Row{20256, 10000, 10000}, Row{20255, 10000, 9999}, Row{1024, 20, 20},
           Row{200, 100, 8}, Row{0, 100, 8},
           Row{~std::uint64_t{0}, 1000000, 1000000},  // RLIM_INFINITY
       }) {
    CAPTURE(row.open_files);
    CHECK(connections_within(row.open_files, row.wanted) == row.taken);
  }
}

TEST_CASE("the limit of open files is raised as far as it may") {
  std::uint64_t open_files = raise_open_files();
  rlimit limit{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &limit) == 0);
  CHECK(limit.rlim_cur == limit.rlim_max);
  CHECK(open_files == limit.rlim_cur);
}

}  // namespace quorate
