// Taking a result out of a model that is trained.
#pragma once

#include <utility>
#include <vector>

#include "tests/server/project_fixture.h"
#include "validator/rebuild.h"

namespace quorate::test {

inline void revoke(ProjectFixture& project, ResultId result) {
  const LedgerSources sources = project.ledger_sources();
  Rebuild rebuild(sources, {result}, ReplayOptions{});
  rebuild.go_on(project.ledger().size());
  Revoked entry;
  entry.results = {result};
  entry.host = project.host({.host = project.result(result).host}).key;
  entry.reason = "for this test";
  project.job([&] {
    project.daemons().assimilator.revoke(project.run(), entry,
                                         rebuild.take_model());
  });
}

}  // namespace quorate::test
