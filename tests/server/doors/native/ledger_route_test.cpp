#include "server/doors/native/ledger_route.h"

#include <algorithm>

#include <doctest/doctest.h>

#include "tests/server/project_fixture.h"
#include "workunits/ledger/ledger_file.h"
#include "workunits/ledger/ledger_verifier.h"

namespace quorate {

TEST_CASE("pages of a ledger, put together, are the ledger file") {
  test::ProjectOptions options;
  options.quorum = 1;
  test::ProjectFixture project(options);
  const test::Volunteer ann = project.join();
  for (int i = 0; i < 4; ++i) project.report(ann, project.take(ann));
  ProjectState& state = project.state();
  const RunKey run = state.runs.begin()->first;
  const std::uint64_t entries = state.runs.at(run).next_seq;
  REQUIRE(entries > 4);

  const std::string whole = ledger_page(state, run, 0);
  LedgerFile file(whole, "page");
  CHECK(file.keys() == state.keys.ring);
  LedgerVerifier verifier(file.keys());
  std::uint64_t read = 0;
  for (; const auto record = file.next(); ++read) verifier.next(*record);
  CHECK(read == entries);
  const std::string rest = ledger_page(state, run, 2);
  CHECK(whole.ends_with(rest));
  CHECK(std::count(rest.begin(), rest.end(), '\n') ==
        static_cast<std::ptrdiff_t>(entries - 2));
  CHECK(ledger_page(state, run, entries).empty());
  CHECK(ledger_page(state, run, std::uint64_t{1} << 53).empty());

  std::string pages;
  for (std::uint64_t from = 0; from < entries; from += 2) {
    const std::string page = ledger_page(state, run, from, 2);
    CHECK(std::count(page.begin(), page.end(), '\n') <= (from == 0 ? 3 : 2));
    pages += page;
  }
  CHECK(pages == whole);
}

TEST_CASE("a page has a bounded number of entries, whatever is asked for") {
  test::ProjectOptions options;
  options.quorum = 1;
  options.epochs = 60;
  test::ProjectFixture project(options);
  const test::Volunteer ann = project.join();
  ProjectState& state = project.state();
  const RunKey run = state.runs.begin()->first;
  while (state.runs.at(run).next_seq < kMostLedgerEntries + 3) {
    project.report(ann, project.take(ann));
  }
  const std::string page = ledger_page(state, run, 1, std::uint64_t{1} << 53);
  CHECK(std::count(page.begin(), page.end(), '\n') ==
        static_cast<std::ptrdiff_t>(kMostLedgerEntries));
  CHECK(page == ledger_page(state, run, 1));
}

}  // namespace quorate
