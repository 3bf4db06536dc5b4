// Trust through the daemons: who is believed alone, who is checked, and what
// follows for a host that was false.
#include <algorithm>

#include <doctest/doctest.h>

#include "tests/server/judging/trust_scene.h"
#include "tests/server/project_fixture.h"

namespace quorate {
namespace {

using test::check_ledger;
using test::house_works;
using test::lie;
using test::ProjectFixture;
using test::ProjectOptions;
using test::trusting;
using test::Volunteer;

// One unit of this host, with the house's help where it is wanted.
Assignment work(ProjectFixture& project, const Volunteer& who,
                const test::Forgery& forgery = {}) {
  Assignment assignment = project.take(who);
  project.report(who, assignment, forgery);
  house_works(project);
  return assignment;
}

Standing standing(ProjectFixture& project, const Volunteer& who) {
  return project.state().trust.standing(project.host(who));
}

}  // namespace

TEST_CASE(
    "a new host's word counts with a house worker's, a proven one's alone") {
  ProjectFixture project(trusting(3, 0));
  Volunteer ann = project.join();
  for (int i = 0; i < 3; ++i) {
    CHECK(standing(project, ann) == Standing::fresh);
    Assignment mine = project.take(ann);
    project.report(ann, mine);
    CHECK(project.unit_of(mine.result).state == WorkunitState::open);
    house_works(project);
    CHECK(project.unit_of(mine.result).state == WorkunitState::assimilated);
    CHECK(project.results_of_unit(project.unit_of(mine.result).id).size() == 2);
  }
  CHECK(standing(project, ann) == Standing::proven);
  CHECK(project.events("host_proven") == 1);

  Assignment alone = project.take(ann);
  CHECK_FALSE(project.has_house_work());
  project.report(ann, alone);
  CHECK(project.unit_of(alone.result).state == WorkunitState::assimilated);
  CHECK(project.results_of_unit(project.unit_of(alone.result).id).size() == 1);
  CHECK(project.assimilated().front().basis == "house");
  CHECK(project.assimilated().back().basis == "proven");
  check_ledger(project);
}

TEST_CASE("strangers who agree make no quorum, with a proven host they do") {
  ProjectFixture project(trusting(2, 0));
  Volunteer ann = project.join();
  work(project, ann);
  work(project, ann);
  REQUIRE(standing(project, ann) == Standing::proven);
  Volunteer eve = project.join(), mallory = project.join();
  // The draw keeps the second result for Ann, who alone can vouch.
  Assignment hers = project.take(eve);
  WorkunitId unit = project.unit_of(hers.result).id;
  for (const Assignment& other : project.ask(mallory, 4).assignments) {
    CHECK(project.unit_of(other.result).id != unit);
  }
  Assignment anns = project.take(ann);
  CHECK(project.unit_of(anns.result).id == unit);
  CHECK_FALSE(anns.upload);  // a witness: Eve has the payload
  project.report(eve, hers);
  CHECK(project.unit_of(hers.result).state == WorkunitState::open);
  project.report(ann, anns);
  CHECK(project.unit_of(hers.result).state == WorkunitState::assimilated);
  CHECK(project.state().trust.validated(eve.host) == 1);
  check_ledger(project);
}

TEST_CASE("a witness sends no payload and is believed by its proof") {
  for (bool witness_first : {false, true}) {
    CAPTURE(witness_first);
    ProjectFixture project;
    Volunteer ann = project.join(), bob = project.join();
    Assignment first = project.take(ann);
    Assignment second = project.take(bob);
    CHECK(first.upload);
    CHECK_FALSE(second.upload);
    test::Forgery header_only;
    header_only.upload = Bytes();
    if (witness_first) {
      CHECK(project.report(bob, second, header_only).accepted);
      CHECK(project.unit_of(second.result).state == WorkunitState::open);
      CHECK(project.report(ann, first).accepted);
    } else {
      CHECK(project.report(ann, first).accepted);
      CHECK(project.report(bob, second, header_only).accepted);
    }
    CHECK(project.unit_of(first.result).state == WorkunitState::assimilated);
    CHECK(project.unit_of(first.result).canonical_result == first.result);
    CHECK(project.result(second.result).validate_state == ValidateState::valid);
    check_ledger(project);
  }
}

TEST_CASE("a witness with a copied proof is found, whenever it reports") {
  for (bool witness_first : {false, true}) {
    CAPTURE(witness_first);
    ProjectFixture project;
    Volunteer ann = project.join(), eve = project.join(), bob = project.join();
    Assignment first = project.take(ann);
    Assignment second = project.take(eve);
    test::Forgery copied;
    copied.upload = Bytes();
    // What Ann's proof would be: she passed on her header, not her update.
    copied.header = [&](ResultHeader& header) {
      header.proof =
          update_proof(first.nonce, ann.key.public_key(),
                       project.compute(first).update, header.claim.digests);
    };
    if (!witness_first) project.report(ann, first);
    bool accepted = project.report(eve, second, copied).accepted;
    CHECK(accepted == witness_first);  // nothing to compare it with yet
    if (witness_first) project.report(ann, first);
    CHECK(project.unit_of(first.result).state == WorkunitState::open);
    CHECK(project.result(second.result).validate_state ==
          ValidateState::invalid);
    CHECK(project.result(second.result).reason.find("wrong proof") == 0);
    // A third user settles it.
    Assignment third = project.take(bob);
    project.report(bob, third);
    CHECK(project.unit_of(first.result).state == WorkunitState::assimilated);
    check_ledger(project);
  }
}

TEST_CASE("witnesses who agree wait for somebody who sends the payload") {
  ProjectOptions options;
  options.quorum = 3;
  ProjectFixture project(options);
  Volunteer ann = project.join(), bob = project.join(), carol = project.join(),
            dave = project.join();
  test::Forgery header_only;
  header_only.upload = Bytes();
  Assignment first = project.take(ann);
  project.report(bob, project.take(bob), header_only);
  project.report(carol, project.take(carol), header_only);
  project.give_up(ann, first.result, "out of memory");
  Assignment again = project.take(dave);
  CHECK(again.upload);
  project.report(dave, again);
  Workunit unit = project.unit_of(again.result);
  CHECK(unit.state == WorkunitState::assimilated);
  check_ledger(project);
}

TEST_CASE("who settles a dispute sends the payload") {
  ProjectFixture project;
  Volunteer ann = project.join(), eve = project.join(), bob = project.join();
  const Assignment first = project.take(ann), second = project.take(eve);
  REQUIRE_FALSE(second.upload);
  project.report(ann, first);
  test::Forgery lie = test::lie();
  lie.upload = Bytes();
  project.report(eve, second, lie);
  REQUIRE(project.unit_of(first.result).state == WorkunitState::open);
  const Assignment third = project.take(bob);
  CHECK(project.unit_of(third.result).id == project.unit_of(first.result).id);
  CHECK(third.upload);
  project.report(bob, third);
  CHECK(project.unit_of(first.result).state == WorkunitState::assimilated);
  check_ledger(project);
}

TEST_CASE("waiting witnesses outlive a restart") {
  ProjectOptions options;
  options.on_disk = true;
  ProjectFixture project(options);
  Volunteer ann = project.join(), bob = project.join();
  Assignment first = project.take(ann);
  Assignment second = project.take(bob);
  test::Forgery header_only;
  header_only.upload = Bytes();
  project.report(bob, second, header_only);
  project.reopen();
  project.report(ann, first);
  CHECK(project.unit_of(first.result).state == WorkunitState::assimilated);
  CHECK(project.result(second.result).validate_state == ValidateState::valid);
}

TEST_CASE("a proven host's work is checked by a draw, and a lie shows") {
  ProjectFixture project(trusting(2, 1));  // every unit is drawn
  Volunteer eve = project.join();
  work(project, eve);
  work(project, eve);
  REQUIRE(standing(project, eve) == Standing::proven);
  Assignment honest = project.take(eve);
  project.report(eve, honest);
  CHECK(project.unit_of(honest.result).check == UnitCheck::spot);
  CHECK(project.unit_of(honest.result).state == WorkunitState::open);
  house_works(project);
  CHECK(project.unit_of(honest.result).check == UnitCheck::sound);
  CHECK(project.unit_of(honest.result).canonical_result == honest.result);

  Assignment mine = work(project, eve, lie());
  CHECK(project.result(mine.result).validate_state == ValidateState::invalid);
  CHECK(project.unit_of(mine.result).state == WorkunitState::assimilated);
  CHECK(project.unit_of(mine.result).canonical_result != mine.result);
  CHECK(standing(project, eve) == Standing::watched);
  CHECK(project.host(eve).false_results == 1);
  CHECK(project.events("host_watched") == 1);
  CHECK(project.state().trust.validated(eve.host) == 0);
  check_ledger(project);
}

TEST_CASE("a proven host that vouches for an accomplice is checked, too") {
  ProjectFixture project(trusting(2, 1));  // every unit is drawn
  Volunteer eve = project.join();
  work(project, eve);
  work(project, eve);
  REQUIRE(standing(project, eve) == Standing::proven);
  Volunteer mallory = project.join();
  Assignment his = project.take(mallory);
  Assignment hers = project.take(eve);
  REQUIRE(project.unit_of(hers.result).id == project.unit_of(his.result).id);
  project.report(mallory, his, lie(7));
  project.report(eve, hers, lie(7));
  CHECK(project.unit_of(his.result).check == UnitCheck::spot);
  CHECK(project.unit_of(his.result).state == WorkunitState::open);
  house_works(project);
  CHECK(project.result(his.result).validate_state == ValidateState::invalid);
  CHECK(project.result(hers.result).validate_state == ValidateState::invalid);
  CHECK(standing(project, eve) == Standing::watched);
  CHECK(standing(project, mallory) == Standing::watched);
  check_ledger(project);
}

TEST_CASE("what a false host did with another's vouching is rechecked, too") {
  ProjectFixture project(trusting(2, 0));
  Volunteer eve = project.join();
  work(project, eve);
  work(project, eve);
  Volunteer mallory = project.join();
  Assignment his = project.take(mallory);
  Assignment hers = project.take(eve);
  project.report(mallory, his, lie(7));
  project.report(eve, hers, lie(7));
  WorkunitId agreed = project.unit_of(his.result).id;
  REQUIRE(project.unit_of(his.result).state == WorkunitState::assimilated);
  // Alone he is found, who never was believed alone; she is not.
  Assignment next = project.take(mallory);
  Assignment honest = project.take(eve);
  project.report(mallory, next, lie(8));
  project.report(eve, honest);
  house_works(project);
  CHECK(standing(project, mallory) == Standing::watched);
  CHECK(standing(project, eve) == Standing::proven);
  CHECK(project.run().to_recheck == std::set<WorkunitId>{agreed});
}

TEST_CASE("what was taken in on a false host's word is to be rechecked") {
  ProjectFixture project(trusting(2, 0));
  Volunteer eve = project.join();
  work(project, eve);
  work(project, eve);
  Assignment alone = work(project, eve);
  Assignment false_one = work(project, eve, lie());
  REQUIRE(project.unit_of(false_one.result).state ==
          WorkunitState::assimilated);
  CHECK(project.run().to_recheck.empty());
  // As a witness of a new host she is found.
  Volunteer ann = project.join();
  Assignment anns = project.take(ann);
  Assignment hers = project.take(eve);
  REQUIRE(project.unit_of(hers.result).id == project.unit_of(anns.result).id);
  project.report(eve, hers, lie(2));
  project.report(ann, anns);
  house_works(project);
  CHECK(standing(project, eve) == Standing::watched);
  CHECK(project.run().to_recheck ==
        std::set<WorkunitId>{project.unit_of(alone.result).id,
                             project.unit_of(false_one.result).id});
  CHECK(project.events("recheck_begun") == 1);
}

TEST_CASE("what is validated for an open round is cancelled with its host") {
  ProjectOptions options = trusting(1, 0);
  options.rule = "diloco";
  options.round_units = 6;
  ProjectFixture project(options);
  Volunteer eve = project.join(), ann = project.join();
  Assignment hers = work(project, eve);
  REQUIRE(project.unit_of(hers.result).state == WorkunitState::validated);
  project.job([&] {
    CHECK(Consequences(project.state())
              .purge(*project.state().hosts.host(eve.host), "a drill") == 0);
  });
  CHECK(project.unit_of(hers.result).state == WorkunitState::cancelled);
  project.pass(Seconds(0));
  CHECK(project.state().feeder.find(project.unit_of(hers.result).id) ==
        nullptr);
  for (int i = 0; i < 12; ++i) work(project, ann);
  CHECK(project.run().model.version() > 0);
  for (const ResultAssimilated& entry : project.assimilated()) {
    CHECK(entry.host != eve.key.public_key());
  }
  check_ledger(project);
}

TEST_CASE("a device with another driver begins with half of its trust") {
  ProjectFixture project(trusting(4, 0));
  Volunteer ann = project.join();
  auto on = [](const std::string& device) {
    test::Forgery forgery;
    forgery.header = [device](ResultHeader& header) { header.device = device; };
    return forgery;
  };
  auto is_believed_on = [&](const std::string& device) {
    Assignment assignment = project.take(ann);
    project.report(ann, assignment, on(device));
    const bool is_believed =
        project.unit_of(assignment.result).state == WorkunitState::assimilated;
    house_works(project);
    return is_believed;
  };
  for (int i = 0; i < 4; ++i) work(project, ann, on("cuda:0 A100; CUDA 12"));
  CHECK(is_believed_on("cuda:0 A100; CUDA 12"));
  CHECK_FALSE(is_believed_on("cuda:1 A100; CUDA 13"));
  CHECK_FALSE(is_believed_on("cuda:0 A100; CUDA 13"));  // 2, now 3
  CHECK_FALSE(is_believed_on("cuda:0 A100; CUDA 13"));
  CHECK(is_believed_on("cuda:0 A100; CUDA 13"));
}

TEST_CASE("who disagrees late with one that was believed has it rechecked") {
  ProjectFixture project(trusting(1, 0));
  Volunteer eve = project.join(), ann = project.join();
  work(project, eve);
  project.pass(Seconds(25));  // so that the house is Ann's partner, not Eve
  project.heartbeat(ann, {});
  work(project, ann);
  REQUIRE(standing(project, ann) == Standing::proven);
  project.heartbeat(eve, {});
  Assignment hers = project.take(eve);
  project.pass(Seconds(15));
  project.heartbeat(ann, {});
  project.pass(Seconds(6));
  REQUIRE(project.result(hers.result).outcome == ResultOutcome::no_reply);
  Assignment anns = project.take(ann);
  REQUIRE(project.unit_of(anns.result).id == project.unit_of(hers.result).id);
  project.report(eve, hers, lie());  // late, and believed all the same
  REQUIRE(project.unit_of(hers.result).state == WorkunitState::assimilated);
  project.report(ann, anns);
  CHECK(project.unit_of(hers.result).check == UnitCheck::recheck);
  CHECK(project.run().to_recheck.size() == 1);
  CHECK(project.result(anns.result).validate_state == ValidateState::too_late);
  CHECK(standing(project, ann) == Standing::proven);
}

TEST_CASE("a host is banned after so many false results, and gets no work") {
  ProjectFixture project(trusting(2, 0));
  Volunteer eve = project.join(), ann = project.join();
  for (int i = 0; i < 3; ++i) {
    work(project, eve, lie());
    project.pass(Seconds(10));  // she has to rest in between
    project.heartbeat(eve, {});
    project.heartbeat(ann, {});
  }
  CHECK(project.host(eve).mark == HostMark::banned);
  CHECK(project.host(eve).mark_reason.find("disagrees") != std::string::npos);
  CHECK(project.events("host_banned") == 1);
  CHECK(project.ask(eve).assignments.empty());
  CHECK(project.ask(ann).assignments.size() == 1);
}

TEST_CASE("what a banned host has goes to others at once") {
  ProjectOptions options = trusting(2, 0);
  options.on_disk = true;
  ProjectFixture project(options);
  Volunteer eve = project.join();
  std::vector<Assignment> hers = project.ask(eve, 2).assignments;
  REQUIRE(hers.size() == 2);
  project.job([&] {
    Consequences consequences(project.state());
    while (project.host(eve).mark != HostMark::banned) {
      consequences.on_false(eve.host, 0, "it lied");
    }
  });
  SUBCASE("") {}
  SUBCASE("also after the server died") {
    project.reopen();
  }
  CHECK(project.state().feeder.in_progress(eve.host).empty());
  for (const Assignment& one : hers) {
    CHECK(project.result(one.result).outcome == ResultOutcome::client_error);
    const WorkunitId unit = project.unit_of(one.result).id;
    const std::vector<Result> results = project.results_of_unit(unit);
    CHECK(std::count_if(results.begin(), results.end(), [](const Result& r) {
            return r.server_state == ServerState::unsent;
          }) >= 1);
  }
  project.pass(Seconds(1));  // nothing is taken back twice
  CHECK(project.host(eve).errors == 2);
}

TEST_CASE("what a host has that is not proven any more gets partners at once") {
  ProjectOptions options = trusting(1, 0);
  options.on_disk = true;
  ProjectFixture project(options);
  Volunteer eve = project.join();
  work(project, eve);
  REQUIRE(standing(project, eve) == Standing::proven);
  const Assignment hers = project.take(eve);
  const WorkunitId unit = project.unit_of(hers.result).id;
  REQUIRE(project.results_of_unit(unit).size() == 1);
  project.job(
      [&] { Consequences(project.state()).on_false(eve.host, 0, "it lied"); });
  SUBCASE("") {}
  SUBCASE("also after the server died") {
    project.reopen();
  }
  CHECK(project.unit_of(hers.result).min_quorum == 2);
  const std::vector<Result> results = project.results_of_unit(unit);
  REQUIRE(results.size() == 2);
  CHECK(results[0].server_state == ServerState::in_progress);
  CHECK(results[1].server_state == ServerState::unsent);
  const Assignment partner = project.take_as_house();
  CHECK(project.unit_of(partner.result).id == unit);
  project.report(eve, hers);
  project.report(project.house(), partner);
  CHECK(project.unit_of(hers.result).state == WorkunitState::assimilated);
}

TEST_CASE("disagreement goes to a house worker at once") {
  ProjectFixture project(trusting(2, 0));
  Volunteer ann = project.join();
  work(project, ann);
  work(project, ann);
  Volunteer eve = project.join();
  Assignment hers = project.take(eve);
  Assignment anns = project.take(ann);
  REQUIRE(project.unit_of(anns.result).id == project.unit_of(hers.result).id);
  project.report(eve, hers, lie());
  project.report(ann, anns);
  CHECK(project.unit_of(hers.result).state == WorkunitState::open);
  Assignment referee = project.take_as_house();
  CHECK(project.unit_of(referee.result).id == project.unit_of(hers.result).id);
  project.report(project.house(), referee);
  CHECK(project.result(hers.result).validate_state == ValidateState::invalid);
  CHECK(project.result(anns.result).validate_state == ValidateState::valid);
  CHECK(standing(project, ann) == Standing::proven);
  CHECK(standing(project, eve) == Standing::watched);
}

TEST_CASE("trust and marks outlive a restart") {
  ProjectOptions options = trusting(2, 0);
  options.on_disk = true;
  ProjectFixture project(options);
  Volunteer ann = project.join(), eve = project.join();
  work(project, ann);
  work(project, ann);
  project.pass(Seconds(25));  // Ann is gone: the house is Eve's partner
  project.heartbeat(eve, {});
  work(project, eve, lie());
  project.reopen();
  CHECK(standing(project, ann) == Standing::proven);
  CHECK(standing(project, eve) == Standing::watched);
  CHECK(project.host(eve).false_results == 1);
}

}  // namespace quorate
