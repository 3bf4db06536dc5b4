#include "validator/quorum.h"

#include <doctest/doctest.h>

namespace quorate {
namespace {

Hash claim(char letter) {
  return sha256(as_bytes({&letter, 1}));
}

Replica volunteer(ResultId id, UserId user, char letter) {
  return {.id = id, .user = user, .claim = claim(letter)};
}
Replica house(ResultId id, char letter) {
  return {.id = id,
          .user = kHouseUser,
          .house = true,
          .anchor = true,
          .claim = claim(letter)};
}

Replica proven(ResultId id, UserId user, char letter) {
  Replica replica = volunteer(id, user, letter);
  replica.anchor = true;
  return replica;
}
Replica witness(Replica replica) {
  replica.has_payload = false;
  return replica;
}

using Ids = std::vector<ResultId>;

struct Row {
  const char* name;
  std::vector<Replica> replicas;
  std::uint32_t min_quorum;
  ResultId canonical;
  std::uint32_t missing;
  Ids valid;
  Ids invalid;
};

const Row kRows[] = {
    {"nothing yet", {}, 2, 0, 2, {}, {}},
    {"quorum of one", {volunteer(7, 10, 'a')}, 1, 7, 0, {7}, {}},
    {"one of two", {volunteer(7, 10, 'a')}, 2, 0, 1, {}, {}},
    {"two agree",
     {volunteer(7, 10, 'a'), volunteer(8, 11, 'a')},
     2,
     7,
     0,
     {7, 8},
     {}},
    {"two disagree",
     {volunteer(7, 10, 'a'), volunteer(8, 11, 'b')},
     2,
     0,
     1,
     {},
     {}},
    {"the third settles it",
     {volunteer(7, 10, 'a'), volunteer(8, 11, 'b'), volunteer(9, 12, 'b')},
     2,
     8,
     0,
     {8, 9},
     {7}},
    {"one user with two hosts counts once",
     {volunteer(7, 10, 'a'), volunteer(8, 10, 'a')},
     2,
     0,
     1,
     {},
     {}},
    {"one user's crowd does not outvote two users",
     {volunteer(5, 10, 'x'), volunteer(6, 10, 'x'), volunteer(7, 10, 'x'),
      volunteer(8, 11, 'a'), volunteer(9, 12, 'a')},
     2,
     8,
     0,
     {8, 9},
     {5, 6, 7}},
    {"three camps of a quorum of three",
     {volunteer(1, 10, 'a'), volunteer(2, 11, 'b'), volunteer(3, 12, 'b'),
      volunteer(4, 13, 'c')},
     3,
     0,
     1,
     {},
     {}},
    {"canonical is the lowest id, not the oldest report",
     {volunteer(9, 10, 'a'), volunteer(8, 11, 'a')},
     2,
     8,
     0,
     {9, 8},
     {}},
    {"of two full camps the one with the lowest id",
     {volunteer(4, 10, 'b'), volunteer(3, 11, 'a'), volunteer(5, 12, 'b'),
      volunteer(6, 13, 'a')},
     2,
     3,
     0,
     {3, 6},
     {4, 5}},
    {"the house decides alone", {house(3, 'a')}, 2, 3, 0, {3}, {}},
    {"the house decides against an agreeing pair",
     {volunteer(1, 10, 'x'), volunteer(2, 11, 'x'), house(3, 'a')},
     2,
     3,
     0,
     {3},
     {1, 2}},
    {"the house confirms a volunteer, whose result stands",
     {volunteer(1, 10, 'x'), volunteer(2, 11, 'a'), house(3, 'a')},
     3,
     2,
     0,
     {2, 3},
     {1}},
    {"of two houses that disagree the oldest",
     {house(4, 'b'), house(3, 'a')},
     1,
     4,
     0,
     {4},
     {3}},
};

TEST_CASE("a quorum is decided by different users or by the house") {
  for (const Row& row : kRows) {
    CAPTURE(row.name);
    const QuorumDecision decision =
        decide_quorum(row.replicas, {row.min_quorum, false});
    CHECK(decision.decided() == (row.canonical != 0));
    CHECK(decision.canonical == row.canonical);
    CHECK(decision.missing == row.missing);
    CHECK(decision.valid == row.valid);
    CHECK(decision.invalid == row.invalid);
  }
}

TEST_CASE("free keys do not vouch for each other where anchors are needed") {
  struct Anchored {
    const char* name;
    std::vector<Replica> replicas;
    std::uint32_t min_quorum;
    ResultId canonical;
    std::uint32_t missing;
    bool wants_anchor;
  };
  const Anchored rows[] = {
      {"nothing yet", {}, 2, 0, 2, true},
      {"a stranger", {volunteer(1, 10, 'a')}, 1, 0, 1, true},
      {"two strangers",
       {volunteer(1, 10, 'a'), volunteer(2, 11, 'a')},
       2,
       0,
       1,
       true},
      {"seven strangers",
       {volunteer(1, 10, 'x'), volunteer(2, 11, 'x'), volunteer(3, 12, 'x'),
        volunteer(4, 13, 'x'), volunteer(5, 14, 'x'), volunteer(6, 15, 'x'),
        volunteer(7, 16, 'x')},
       2,
       0,
       1,
       true},
      {"a proven one alone", {proven(1, 10, 'a')}, 1, 1, 0, false},
      {"a proven one waits for the second",
       {proven(1, 10, 'a')},
       2,
       0,
       1,
       false},
      {"a stranger and a proven one",
       {volunteer(1, 10, 'a'), proven(2, 11, 'a')},
       2,
       1,
       0,
       false},
      {"two hosts of one proven user",
       {volunteer(1, 10, 'a'), proven(2, 10, 'a')},
       2,
       0,
       1,
       false},
      {"strangers against a proven one",
       {volunteer(1, 10, 'x'), volunteer(2, 11, 'x'), proven(3, 12, 'a')},
       2,
       0,
       1,
       false},
      {"the house", {volunteer(1, 10, 'x'), house(2, 'a')}, 2, 2, 0, false},
  };
  for (const Anchored& row : rows) {
    CAPTURE(row.name);
    const QuorumDecision decision =
        decide_quorum(row.replicas, {row.min_quorum, true});
    CHECK(decision.canonical == row.canonical);
    CHECK(decision.missing == row.missing);
    CHECK(decision.wants_anchor == row.wants_anchor);
  }
}

TEST_CASE("what an update rests on") {
  auto valid = [](UserId user, bool was_anchor) {
    Result result;
    result.user = user;
    result.was_anchor = was_anchor;
    result.validate_state = ValidateState::valid;
    return result;
  };
  Result rejected = valid(12, true);
  rejected.validate_state = ValidateState::invalid;
  using Results = std::vector<Result>;
  CHECK(basis_of(Results{rejected, valid(10, true)}) == "proven");
  CHECK(basis_of(Results{valid(10, false)}) == "quorum");  // of one
  CHECK(basis_of(Results{valid(10, true), valid(11, false)}) == "quorum");
  CHECK(basis_of(Results{valid(10, true), valid(kHouseUser, true)}) == "house");
  CHECK(basis_of(Results{valid(kHouseUser, true), rejected}) == "house");
}

TEST_CASE("a claim of which nobody has sent the payload waits for it") {
  const std::vector<Replica> two = {witness(proven(1, 10, 'a')),
                                    witness(volunteer(2, 11, 'a'))};
  QuorumDecision decision = decide_quorum(two, {2, true});
  CHECK_FALSE(decision.decided());
  CHECK(decision.missing == 1);
  std::vector<Replica> three = two;
  three.push_back(volunteer(3, 12, 'a'));
  decision = decide_quorum(three, {2, true});
  CHECK(decision.canonical == 3);  // whose payload is there
  CHECK(decision.valid == Ids{1, 2, 3});
  three.back() = volunteer(3, 12, 'b');
  decision = decide_quorum(three, {2, true});
  CHECK_FALSE(decision.decided());
  CHECK(decision.is_disputed);
}

}  // namespace
}  // namespace quorate
