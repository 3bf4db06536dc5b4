// Changes of a project's run, as an operator orders them.
#pragma once

#include <string>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "server/orders/runs/change_run.h"
#include "tests/server/project_fixture.h"

namespace quorate::test {

inline void change(ProjectFixture& project, const nlohmann::json& wishes) {
  project.job([&] {
    change_run(project.state(), project.daemons(), project.run(), wishes);
  });
}

// What it says of what it refuses.
inline std::string refusal_of_change(ProjectFixture& project,
                                     const nlohmann::json& wishes) {
  try {
    change(project, wishes);
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::usage);
    return error.what();
  }
  return "not refused";
}

}  // namespace quorate::test
