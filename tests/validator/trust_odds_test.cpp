// The promises of docs/validation.md, "What follows", against the decisions
// themselves: a host that is false now and then meets them unit by unit, 1,000
// times, and what happens is as often as the formulas say (99 % confidence).
#include <cmath>
#include <random>
#include <vector>

#include <doctest/doctest.h>

#include "validator/quorum.h"
#include "validator/replication.h"
#include "validator/trust.h"

namespace quorate {
namespace {

constexpr int kSeeds = 1000;
constexpr double kConfidence99 = 2.576;  // standard deviations

struct Story {
  std::uint64_t found_after = 0;  // units; 0: never
  std::uint64_t false_taken_in = 0;
};

// One host in a project with a house worker.
class Scene {
 public:
  Scene(const TrustPolicy& policy, std::uint64_t seed)
      : policy_(policy), random_(seed) {}

  // share: of its units that are false. proven: from the start.
  Story live(double share, std::uint64_t units, bool proven) {
    validated_ = proven ? policy_.proven_after : 0;
    Story story;
    for (std::uint64_t unit = 1; unit <= units; ++unit) {
      const bool is_false = chance() < share;
      const bool taken_in = decide(is_false);
      if (is_false && !taken_in) {
        story.found_after = unit;
        return story;
      }
      if (is_false) ++story.false_taken_in;
    }
    return story;
  }

 private:
  double chance() { return std::uniform_real_distribution<double>()(random_); }

  // Whether the host's result is valid at the end of its unit.
  bool decide(bool is_false) {
    const bool is_proven =
        standing_of(policy_, HostMark::none, validated_) == Standing::proven;
    const QuorumRule rule{is_proven ? 1U : 2U, true};
    std::vector<Replica> replicas = {replica(1, 10, is_false, is_proven)};
    QuorumDecision decision = decide_quorum(replicas, rule);
    if (decision.decided()) {
      if (!draws_check(policy_, random_())) return true;
      replicas.push_back(house());
    } else {
      // Nobody else is proven: only a house worker can be the anchor.
      REQUIRE(decision.wants_anchor);
      replicas.push_back(house());
    }
    decision = decide_quorum(replicas, rule);
    REQUIRE(decision.decided());
    const bool is_valid = decision.invalid.empty();
    if (is_valid) ++validated_;
    return is_valid;
  }

  static Replica replica(ResultId id, UserId user, bool is_false,
                         bool is_anchor) {
    Replica one;
    one.id = id;
    one.user = user;
    one.anchor = is_anchor;
    one.claim = sha256(as_bytes(is_false ? "false" : "true"));
    return one;
  }
  static Replica house() {
    Replica one = replica(2, kHouseUser, false, true);
    one.house = true;
    return one;
  }

  TrustPolicy policy_;
  std::mt19937_64 random_;
  std::uint64_t validated_ = 0;
};

template <class Visit>
void live_often(const TrustPolicy& policy, double share, std::uint64_t units,
                bool proven, Visit visit) {
  for (int seed = 0; seed < kSeeds; ++seed) {
    Scene scene(policy, static_cast<std::uint64_t>(seed));
    visit(scene.live(share, units, proven));
  }
}

double share_found(const TrustPolicy& policy, double share, std::uint64_t units,
                   bool proven) {
  int found = 0;
  live_often(policy, share, units, proven, [&](const Story& story) {
    if (story.found_after > 0) ++found;
  });
  return static_cast<double>(found) / kSeeds;
}

void check_share(double measured, double expected) {
  const double deviation = std::sqrt(expected * (1 - expected) / kSeeds);
  CAPTURE(measured);
  CAPTURE(expected);
  CHECK(std::abs(measured - expected) <= kConfidence99 * deviation);
}

}  // namespace

TEST_CASE("a new host's first false result is found") {
  TrustPolicy policy;
  check_share(share_found(policy, 0.05, 20, false), 1 - std::pow(0.95, 20));
  policy.proven_after = 60;
  check_share(share_found(policy, 0.05, 60, false), 1 - std::pow(0.95, 60));
}

TEST_CASE("none of a new host's false results is taken in") {
  TrustPolicy policy;
  live_often(policy, 0.05, 20, false,
             [](const Story& story) { CHECK(story.false_taken_in == 0); });
}

TEST_CASE("a proven host is found after about 1 / (q f) units") {
  TrustPolicy policy;
  check_share(share_found(policy, 0.05, 400, true),
              1 - std::pow(1 - 0.05 * 0.05, 400));
  check_share(share_found(policy, 0.05, 1200, true),
              1 - std::pow(1 - 0.05 * 0.05, 1200));
  double sum = 0;
  live_often(policy, 0.05, 100000, true, [&](const Story& story) {
    REQUIRE(story.found_after > 0);
    sum += static_cast<double>(story.found_after);
  });
  // Geometric: mean 1 / (q f), and as much deviation.
  const double mean = 1 / (0.05 * 0.05);
  CHECK(std::abs(sum / kSeeds - mean) <=
        kConfidence99 * mean / std::sqrt(kSeeds));
}

TEST_CASE(
    "until it is found, a proven host gets in (1 - q) / q false results") {
  TrustPolicy policy;
  double sum = 0;
  live_often(policy, 0.05, 100000, true, [&](const Story& story) {
    sum += static_cast<double>(story.false_taken_in);
  });
  const double mean = 0.95 / 0.05;
  CHECK(std::abs(sum / kSeeds - mean) <=
        kConfidence99 * std::sqrt(0.95) / 0.05 / std::sqrt(kSeeds));
}

TEST_CASE("what stays in of hosts that are never found is bounded") {
  TrustPolicy policy;
  const double q = policy.spot_check;
  for (double f : {0.01, 0.05, 0.2, 1.0}) {
    // The length of a run that is worst for this share.
    const auto units = static_cast<std::uint64_t>(1 / (q * f));
    double sum = 0, squares = 0;
    live_often(policy, f, units, true, [&](const Story& story) {
      if (story.found_after > 0) return;  // rechecked and revoked
      const auto stays = static_cast<double>(story.false_taken_in);
      sum += stays;
      squares += stays * stays;
    });
    const double expected = static_cast<double>(units) * f * (1 - q) *
                            std::pow(1 - q * f, static_cast<double>(units - 1));
    const double mean = sum / kSeeds;
    const double deviation =
        std::sqrt((squares / kSeeds - mean * mean) / kSeeds);
    CAPTURE(f);
    CAPTURE(mean);
    CAPTURE(expected);
    CHECK(std::abs(mean - expected) <= kConfidence99 * deviation);
    CHECK(expected <= (1 - q) / q / std::exp(1.0) * 1.03);
  }
}

}  // namespace quorate
