#include <doctest/doctest.h>

#include "base/error.h"
#include "client/worker/units/unit_runner.h"
#include "kernels/devices/backends.h"
#include "tests/client/worker/unit_files.h"
#include "tests/support/samples.h"
#include "workunits/claim_difference.h"

namespace quorate::worker {
namespace {

// 12 steps, a digest after every second.
struct Checked {
  UnitFiles files;
  std::unique_ptr<Backend> backend = make_backend("reference");
  SystemClock clock;
  UnitRunner runner{*backend, clock};
  Claim honest = std::get<protocol::ComputeDone>(compute(std::nullopt)).claim;

  protocol::WorkerReply compute(const std::optional<Claim>& expected,
                                std::optional<std::uint32_t> stop_at = {}) {
    auto request = files.request(1, expected ? "checked" : "update");
    request.expected = expected;
    ScriptedJob job(stop_at);
    return runner.compute(request, job);
  }
  void check_differs(const Claim& claim, std::uint32_t digest,
                     std::uint32_t first_step, std::uint32_t last_step) {
    const auto reply = compute(claim);
    REQUIRE(std::holds_alternative<protocol::ComputeDiffers>(reply));
    const auto& differs = std::get<protocol::ComputeDiffers>(reply);
    CHECK(differs.job == 1);
    CHECK(differs.digest == digest);
    CHECK(differs.first_step == first_step);
    CHECK(differs.last_step == last_step);
    // No further than to the digest that differs.
    CHECK(differs.steps == last_step);
  }
};

}  // namespace

TEST_CASE("a true claim is computed to its end, and no update is written") {
  Checked unit;
  const auto reply = unit.compute(unit.honest);
  REQUIRE(std::holds_alternative<protocol::ComputeDone>(reply));
  CHECK(std::get<protocol::ComputeDone>(reply).claim == unit.honest);
  CHECK(std::get<protocol::ComputeDone>(reply).steps == 12);
  CHECK_FALSE(fs::exists(unit.files.folder() / "checked"));
}

TEST_CASE("a check stops at the first state that is not the claimed one") {
  Checked unit;
  REQUIRE(unit.honest.digests.size() == 6);
  for (std::uint32_t i = 0; i < 6; ++i) {
    CAPTURE(i);
    Claim claim = unit.honest;
    for (std::uint32_t later = i; later < 6; ++later) {
      claim.digests[later].bytes[0] ^= 1;
    }
    unit.check_differs(claim, i, 2 * i + 1, 2 * i + 2);
  }
}

TEST_CASE("what follows from the last state is compared, too") {
  Checked unit;
  Claim claim = unit.honest;
  SUBCASE("update") {
    claim.update.bytes[31] ^= 1;
  }
  SUBCASE("loss") {
    claim.loss_bits ^= 1;
  }
  SUBCASE("samples") {
    claim.samples += 1;
  }
  SUBCASE("more digests than there are") {
    claim.digests.push_back(claim.digests.back());
  }
  unit.check_differs(claim, 6, 12, 12);
}

TEST_CASE("a claim that ends early differs after its last digest") {
  Checked unit;
  Claim claim = unit.honest;
  claim.digests.resize(3);
  claim.outcome = ComputeOutcome::diverged;
  claim.diverged_step = 7;
  claim.update = Hash{};
  unit.check_differs(claim, 3, 7, 8);
}

TEST_CASE("a claim that goes on where the training diverges is false") {
  Checked unit;
  const Claim honest = unit.honest;
  UnitFiles diverging({.learning_rate = 1e30F});
  auto request = diverging.request(1);
  request.expected = honest;
  ScriptedJob job;
  const auto reply = unit.runner.compute(request, job);
  REQUIRE(std::holds_alternative<protocol::ComputeDiffers>(reply));
  CHECK(std::get<protocol::ComputeDiffers>(reply).digest == 0);
}

TEST_CASE("a check that was stopped goes on from its checkpoint") {
  Checked unit;
  Claim claim = unit.honest;
  claim.digests[5].bytes[0] ^= 1;
  CHECK(
      std::holds_alternative<protocol::WorkerStopped>(unit.compute(claim, 4)));
  const auto reply = unit.compute(claim);
  REQUIRE(std::holds_alternative<protocol::ComputeDiffers>(reply));
  CHECK(std::get<protocol::ComputeDiffers>(reply).steps == 8);
  CHECK(std::get<protocol::ComputeDiffers>(reply).digest == 5);
  CHECK_FALSE(fs::exists(unit.files.folder() / "checked.checkpoint"));
}

}  // namespace quorate::worker
