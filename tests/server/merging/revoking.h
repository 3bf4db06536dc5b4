// Taking a result out of a model that is trained.
#pragma once

#include <utility>
#include <vector>

#include "tests/server/project_fixture.h"
#include "validator/replay.h"

namespace quorate::test {

inline void revoke(ProjectFixture& project, ResultId result) {
  const std::vector<LedgerEntry> ledger = project.ledger();
  ModelState rebuilt =
      rebuild_without(project.ledger_sources(), {result}, ledger.size());
  Revoked entry;
  entry.results = {result};
  entry.host = project.host({.host = project.result(result).host}).key;
  entry.reason = "for this test";
  project.job([&] {
    project.daemons().assimilator.revoke(project.run(), entry,
                                         std::move(rebuilt));
  });
}

}  // namespace quorate::test
