#include "server/sending/eligibility.h"

#include <cmath>
#include <map>
#include <random>

#include <doctest/doctest.h>

#include "server/sending/host_draw.h"

namespace quorate {
namespace {

Result result_of(UserId user, ServerState state,
                 ResultOutcome outcome = ResultOutcome::init) {
  Result result;
  result.user = user;
  result.server_state = state;
  result.outcome = outcome;
  return result;
}

// How often each host is drawn when every pair of words below `n` comes once.
std::map<HostId, int> draws(std::span<const Candidate> candidates,
                            std::uint64_t n) {
  std::map<HostId, int> count;
  for (std::uint64_t a = 0; a < n; ++a) {
    for (std::uint64_t b = 0; b < n; ++b) {
      if (auto host = draw_host(candidates, a, b)) ++count[*host];
    }
  }
  return count;
}

}  // namespace

TEST_CASE("a user never gets two results of a unit, whatever became of one") {
  struct Row {
    ServerState state;
    ResultOutcome outcome;
  };
  for (const Row& row :
       {Row{ServerState::in_progress, ResultOutcome::init},
        Row{ServerState::over, ResultOutcome::success},
        Row{ServerState::over, ResultOutcome::no_reply},
        Row{ServerState::over, ResultOutcome::client_error},
        Row{ServerState::over, ResultOutcome::validate_error}}) {
    std::vector<Result> results = {result_of(7, row.state, row.outcome)};
    CHECK_FALSE(suits(results, 7));
    CHECK(suits(results, 8));
    CHECK(suits_again(results, 7) == (row.outcome == ResultOutcome::no_reply));
    CHECK(suits_again(results, 8));
  }
  CHECK(suits(
      std::vector{result_of(7, ServerState::over, ResultOutcome::didnt_need)},
      7));
}

TEST_CASE("results that nobody has do not stand in the way") {
  std::vector<Result> results = {result_of(0, ServerState::unsent),
                                 result_of(0, ServerState::unsent)};
  CHECK(suits(results, 7));
  CHECK(suits({}, 7));
}

TEST_CASE("users are drawn alike, however many hosts they register") {
  std::vector<Candidate> candidates = {{10, 1}};
  for (HostId id = 20; id < 28; ++id) candidates.push_back({id, 2});
  std::map<HostId, int> count = draws(candidates, 16);
  CHECK(count[10] == 128);
  for (HostId id = 20; id < 28; ++id) CHECK(count[id] == 16);
}

TEST_CASE("nobody is drawn of none") {
  CHECK_FALSE(draw_host({}, 0, 0).has_value());
}

// docs/validation.md, "Accomplices".
TEST_CASE("one of k accomplices among p proven users is drawn k times in p") {
  constexpr int kDraws = 20000;
  std::mt19937_64 random(1);
  for (int accomplices : {1, 2, 7}) {
    constexpr int kUsers = 20;
    std::vector<Candidate> proven;
    for (int user = 0; user < kUsers; ++user) {
      // Accomplices have more hosts, which does not help them.
      for (int host = 0; host < (user < accomplices ? 5 : 1); ++host) {
        proven.push_back({100 * user + host, user});
      }
    }
    int drawn = 0;
    for (int i = 0; i < kDraws; ++i) {
      if (*draw_host(proven, random(), random()) / 100 < accomplices) ++drawn;
    }
    const double expected = static_cast<double>(accomplices) / kUsers;
    const double deviation = std::sqrt(expected * (1 - expected) / kDraws);
    CHECK(std::abs(static_cast<double>(drawn) / kDraws - expected) <=
          2.576 * deviation);  // 99 %
  }
}

}  // namespace quorate
