// Entries that are changed by hand, and what is found then.
#pragma once

#include <cstddef>
#include <string>
#include <variant>

#include <doctest/doctest.h>

#include "tests/validator/synthetic_run.h"

namespace quorate {

template <class Body>
Body& body(SyntheticRun& run, std::size_t entry) {
  return std::get<Body>(run.entries.at(entry).body);
}

inline void check_finding(const std::string& found, const char* expected) {
  CAPTURE(found);
  CHECK(found.find(expected) != std::string::npos);
}

}  // namespace quorate
