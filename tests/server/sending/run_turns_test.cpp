// Hosts' time goes to runs by their shares, as a table of marks has it.
#include "server/sending/run_turns.h"

#include <cmath>
#include <map>

#include <doctest/doctest.h>

namespace quorate {
namespace {

using Order = std::vector<RunKey>;

// Hosts that ask one after the other, each for a unit of so many seconds.
class Giver {
 public:
  explicit Giver(std::size_t hosts) : home_(hosts) {}

  void give(const std::vector<RunTurn>& with_work, int units,
            double seconds = 60) {
    for (int i = 0; i < units; ++i) {
      std::optional<RunKey>& home = home_[next_++ % home_.size()];
      const RunKey run = turns_.order(with_work, home, home_.size()).front();
      for (const RunTurn& turn : with_work) {
        if (turn.run == run) turns_.charge(run, turn.share, seconds);
      }
      got_[run] += seconds;
      if (home && home != run) ++changes_;
      home = run;
    }
  }

  double got(RunKey run) const {
    const auto found = got_.find(run);
    return found == got_.end() ? 0 : found->second;
  }
  int changes() const { return changes_; }
  void forget() { got_.clear(); }

 private:
  RunTurns turns_;
  std::vector<std::optional<RunKey>> home_;
  std::size_t next_ = 0;
  std::map<RunKey, double> got_;
  int changes_ = 0;
};

const std::vector<RunTurn> kOneToThree = {{1, 1, 0}, {2, 3, 0}};

}  // namespace

TEST_CASE("the lowest mark is first, of equals the older run") {
  CHECK(in_turn({{2, 1, 5}, {1, 1, 5}, {3, 1, 4}}, {}, 0) == Order{3, 1, 2});
  CHECK(in_turn({}, 7, 10).empty());
}

TEST_CASE("a host stays with its run as long as that is not far ahead") {
  // 10 marks are 10 seconds of the smaller share's hosts' time.
  const std::vector<RunTurn> runs = {{1, 1, 20}, {2, 3, 30}, {3, 1, 25}};
  CHECK(in_turn(runs, 2, 9) == Order{1, 3, 2});
  CHECK(in_turn(runs, 2, 10) == Order{2, 1, 3});
  CHECK(in_turn(runs, 3, 5) == Order{3, 1, 2});
  CHECK(in_turn(runs, 9, 1000) == Order{1, 3, 2});  // it has no work
  CHECK(in_turn({{1, 0.5, 0}, {2, 4, 10}}, 2, 5) == Order{2, 1});
}

TEST_CASE("a share stands for a part of the hosts, and for one at least") {
  CHECK(hosts_of_share(8, 1, 4) == 2);
  CHECK(hosts_of_share(8, 3, 4) == 6);
  CHECK(hosts_of_share(8, 5, 5) == 8);
  CHECK(hosts_of_share(0, 1, 1) == 1);
  CHECK(hosts_of_share(8, 0.001, 1000) == 1);
}

TEST_CASE("runs get hosts' time by their shares, and hosts seldom change") {
  for (std::size_t hosts : {1U, 4U, 7U, 100U}) {
    CAPTURE(hosts);
    Giver giver(hosts);
    const int units = 4000;
    giver.give(kOneToThree, units);
    CHECK(std::abs(giver.got(2) / giver.got(1) / 3 - 1) < 0.05);
    // One by one they would change half of the time.
    CHECK(giver.changes() < units / 4);
  }
}

TEST_CASE("a run that pauses has its share when it comes back, and no more") {
  Giver giver(8);
  giver.give(kOneToThree, 400);
  giver.forget();
  giver.give({kOneToThree[0]}, 1000);
  CHECK(giver.got(2) == 0);
  giver.forget();
  giver.give(kOneToThree, 400);
  CHECK(std::abs(giver.got(2) / (400 * 60) - 0.75) < 0.05);
}

TEST_CASE("a run that has taken much while it was alone is not made to pay") {
  Giver giver(8);
  giver.give({kOneToThree[0]}, 1000);
  giver.forget();
  giver.give(kOneToThree, 400);
  CHECK(std::abs(giver.got(1) / (400 * 60) - 0.25) < 0.05);
}

TEST_CASE("units of different lengths count by their length") {
  RunTurns turns;
  std::map<RunKey, double> got;
  for (int i = 0; i < 4000; ++i) {
    const RunKey run = turns.order({{1, 1, 0}, {2, 1, 0}}, {}, 4).front();
    const double seconds = run == 1 ? 600 : 20;
    turns.charge(run, 1, seconds);
    got[run] += seconds;
  }
  CHECK(std::abs(got[1] / got[2] - 1) < 0.05);
}

TEST_CASE("what a run was sent out of its turn is made up for") {
  RunTurns turns;
  std::map<RunKey, double> got;
  for (int i = 0; i < 2000; ++i) {
    RunKey run = turns.order({{1, 1, 0}, {2, 1, 0}}, {}, 4).front();
    if (i % 4 == 0) run = 1;  // a replica that waited
    turns.charge(run, 1, 60);
    got[run] += 60;
  }
  CHECK(std::abs(got[1] / got[2] - 1) < 0.05);
}

}  // namespace quorate
