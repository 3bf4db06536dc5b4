#include "tests/fuzz/targets.h"

#include <cstdio>
#include <cstdlib>

namespace quorate::fuzz {

void expect(bool is_so, const char* what) {
  if (is_so) return;
  std::fprintf(stderr, "fuzz: expected otherwise: %s\n", what);
  std::abort();
}

std::vector<Target> targets() {
  std::vector<Target> all;
  for (auto part :
       {boinc_targets, client_targets, dataset_targets, http_targets,
        protocol_targets, server_targets, workunit_targets}) {
    for (Target& target : part()) all.push_back(std::move(target));
  }
  return all;
}

}  // namespace quorate::fuzz
