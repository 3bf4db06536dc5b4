// GET /v1/runs/{run}/ledger: a run's ledger for everybody, in pages of the file
// that `quorate ledger` writes.
#pragma once

#include <cstdint>
#include <string>

#include "server/hosts/join_limit.h"
#include "server/http/router.h"
#include "server/project/project.h"

namespace quorate {

inline constexpr std::uint64_t kMostLedgerEntries = 256;

// Lines of the entries from this one on, at most `limit` of them and as many as
// fit a page; put together they are the ledger file, whose head line comes
// before entry 0. Empty beyond the end. The writer's thread.
std::string ledger_page(ProjectState& state, RunKey run, std::uint64_t from,
                        std::uint64_t limit = kMostLedgerEntries);

class LedgerRoute {
 public:
  explicit LedgerRoute(Project& project);
  void add_routes(Router& router);

 private:
  void get(const Request& request, Responder responder);

  Project& project_;
  JoinLimit pages_;  // by place; the writer's thread
};

}  // namespace quorate
