#include "bench/attacks/attacks.h"

#include <array>
#include <cstring>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/arithmetic.h"
#include "protocol/native/messages.h"
#include "tests/support/attacker/attacks.h"

namespace quorate::bench {
namespace {

using test::Change;

std::uint64_t number_of(const Hash& hash) {
  std::uint64_t number = 0;
  std::memcpy(&number, hash.bytes.data(), sizeof number);
  return number;
}

// What was computed is reported: false unless it is the honest result.
void report_result(Report& report, const TrainingResult& result,
                   const Scene& scene) {
  report.header.claim = result.claim;
  report.update = report.payload = result.update;
  report.is_false = result.claim != scene.unit.honest.claim;
}

// A changed update, and a last digest that nobody can check without computing.
void change_values(Report& report, Change change, std::uint64_t seed) {
  if (report.update.empty()) return;
  test::change_update(report.update, change, seed);
  report.payload = report.update;
  Claim& claim = report.header.claim;
  claim.update = sha256(report.update);
  if (!claim.digests.empty()) claim.digests.back() = claim.update;
  report.is_false = true;
}

void random_bits(Report& report, const Scene&) {
  change_values(report, Change::random, report.header.result_id);
}
void scaled(Report& report, const Scene&) {
  change_values(report, Change::scaled, 0);
}
void large(Report& report, const Scene&) {
  change_values(report, Change::large, 0);
}
void growing(Report& report, const Scene& scene) {
  change_values(report, Change::growing, ++scene.notes.grown[scene.who.id]);
}
void huge(Report& report, const Scene&) {
  change_values(report, Change::huge, 0);
}
void sign_flipped(Report& report, const Scene&) {
  change_values(report, Change::sign_flip, 0);
}
void agreed(Report& report, const Scene& scene) {
  change_values(report, Change::random, number_of(scene.unit.hash));
}

// The right update with made-up digests: of use to who hides where it left
// the path.
void false_digests(Report& report, const Scene& scene) {
  for (Hash& digest : report.header.claim.digests) {
    digest = sha256(digest.bytes);
  }
  report.is_false = report.header.claim != scene.unit.honest.claim;
}

void skipped_steps(Report& report, const Scene& scene) {
  report_result(report, test::skip_steps(scene.unit.work, scene.backend),
                scene);
}
void cheap_optimizer(Report& report, const Scene& scene) {
  report_result(report, test::optimize_cheaply(scene.unit.work, scene.backend),
                scene);
}
void wrong_samples(Report& report, const Scene& scene) {
  report_result(
      report, test::take_other_samples(scene.unit.work, scene.backend), scene);
}

void stale_snapshot(Report& report, const Scene& scene) {
  constexpr std::uint64_t kVersions = 100;  // then an old one is dropped
  Notes& notes = scene.notes;
  std::uint64_t version = scene.unit.work.task.base_version;
  if (!notes.old_parameters || version > notes.old_version + kVersions) {
    notes.old_parameters = scene.unit.base;
    notes.old_version = version;
  }
  report_result(
      report,
      test::start_from(*notes.old_parameters, scene.unit.work, scene.backend),
      scene);
}

// The work of a unit that this host did before.
void other_unit(Report& report, const Scene& scene) {
  auto mine = scene.notes.sent.find(scene.who.id);
  if (mine == scene.notes.sent.end() ||
      mine->second.workunit == scene.unit.hash) {
    return;
  }
  Claim honest = report.header.claim;
  SignedHeader old = protocol::parse_signed_header(mine->second.signed_bytes);
  report.header.claim = decode_result_header(old.bytes).claim;
  report.update = report.payload = mine->second.update;
  report.is_false = report.header.claim != honest;
}

// Of another host, best of the same unit.
const SentReport* report_of_another(const Scene& scene) {
  auto same = scene.notes.by_unit.find(scene.unit.hash);
  if (same != scene.notes.by_unit.end()) return &same->second;
  for (const auto& [host, sent] : scene.notes.sent) {
    if (host != scene.who.id) return &sent;
  }
  return nullptr;
}

void copied_result(Report& report, const Scene& scene) {
  const SentReport* other = report_of_another(scene);
  if (other == nullptr) return;
  report.signed_bytes = other->signed_bytes;
  report.payload = other->update;
  report.is_false = true;
}

void copied_proof(Report& report, const Scene& scene) {
  const SentReport* other = report_of_another(scene);
  if (other == nullptr) return;
  report.proof = other->proof;
  report.is_false = true;
}

void wrong_payload(Report& report, const Scene&) {
  test::change_update(report.payload, Change::sign_flip, 0);
  report.is_pushed = true;
  report.is_false = true;
}

void not_finite(Report& report, const Scene&) {
  change_values(report, Change::not_finite, 0);
}

std::string result_path(ResultId id, std::string_view rest = "") {
  return fmt::format("/v1/results/{}{}", id, rest);
}

// The last report again under this result; again where it was; and another
// payload for it after it was believed.
void replayed(Report& report, const Scene& scene) {
  auto mine = scene.notes.sent.find(scene.who.id);
  if (mine == scene.notes.sent.end()) return;
  const SentReport& old = mine->second;
  Bytes changed = old.update;
  test::change_update(changed, Change::sign_flip, 0);
  report.victim = old.result;
  report.victim_update = sha256(changed);
  report.extra = {
      {"PUT", result_path(old.result, "/update"), std::move(changed)},
      {"POST", result_path(old.result), old.signed_bytes}};
  report.signed_bytes = old.signed_bytes;
  report.payload = old.update;
  report.is_false = true;
}

// A heartbeat that gives one result up and keeps others.
Request give_up(ResultId result, std::vector<protocol::Progress> holding) {
  protocol::WorkRequest request;
  request.failed.push_back({result, "given up"});
  request.holding = std::move(holding);
  std::string message = protocol::write(request);
  ByteView body = as_bytes(message);
  return {"POST", "/v1/heartbeat", Bytes(body.begin(), body.end())};
}

// Uploads that are never reported, to fill the disk: each is given up instead.
void unsigned_upload(Report& report, const Scene&) {
  auto mine = static_cast<ResultId>(report.header.result_id);
  test::change_update(report.payload, Change::random,
                      static_cast<std::uint64_t>(mine));
  report.victim = mine;
  report.victim_update = sha256(report.payload);
  report.extra = {
      {"PUT", result_path(mine, "/update"), std::exchange(report.payload, {})},
      give_up(mine, {})};
  report.is_false = true;
}

// A unit of the attacker's own making, computed and reported as the project's.
void forged_seal(Report& report, const Scene& scene) {
  test::Work work = scene.unit.work;
  work.task.optimizer.learning_rate *= 2;
  report_result(report, test::compute(work, scene.backend), scene);
  report.header.workunit = sha256(seal(encode(work.task), SealKind::workunit,
                                       scene.project, scene.who.host));
  report.is_false = true;
}

// False payload and report for a result that another host holds, with its
// nonce; the other's work given up in its name.
void stolen_lease(Report& report, const Scene& scene) {
  for (const auto& [host, held] : scene.notes.held) {
    if (host == scene.who.id || held.workunit == scene.unit.hash) continue;
    Report stolen = report;
    change_values(stolen, Change::sign_flip, 0);
    stolen.header.result_id = static_cast<std::uint64_t>(held.result);
    stolen.header.nonce = held.nonce;
    stolen.header.workunit = held.workunit;
    auto mine = static_cast<ResultId>(report.header.result_id);
    report.victim = held.result;
    report.victim_update = stolen.header.claim.update;
    report.extra = {
        {"PUT", result_path(held.result, "/update"), stolen.payload},
        {"POST", result_path(held.result), signed_report(stolen, scene)},
        give_up(held.result, {{mine, 0, 1}})};
    return;
  }
}

void honest(Report&, const Scene&) {}

constexpr std::array kAttacks = {
    Attack{"none", "no attack", honest},
    Attack{"random", "floats drawn anew, alone", random_bits},
    Attack{"scaled", "the update times 1.5", scaled},
    Attack{"large", "the update times 30", large},
    Attack{"growing", "times 1.3 more with each", growing},
    Attack{"huge", "every value 1e37", huge},
    Attack{"sign-flip", "the update times -1", sign_flipped},
    Attack{"agreed", "floats drawn anew, the same by all attackers", agreed},
    Attack{"false-digests", "right update, digests made up", false_digests},
    Attack{"skipped-steps", "half of the steps", skipped_steps},
    Attack{"cheap-optimizer", "SGD without momentum", cheap_optimizer},
    Attack{"stale-snapshot", "up to 100 versions old", stale_snapshot},
    Attack{"wrong-samples", "the samples that follow", wrong_samples},
    Attack{"other-unit", "what this host sent last", other_unit},
    Attack{"copied-result", "another host's report, whole", copied_result},
    Attack{"copied-proof", "another host's proof", copied_proof},
    Attack{"wrong-payload", "right header, sign-flipped body", wrong_payload},
    Attack{"non-finite", "one element is NaN", not_finite},
    Attack{"replayed", "an old report; a new body for it", replayed},
    Attack{"forged-seal", "a unit sealed by the attacker", forged_seal},
    Attack{"unsigned", "uploads, and reports nothing", unsigned_upload},
    Attack{"stolen-lease", "reports for what others hold", stolen_lease},
};

}  // namespace

std::span<const Attack> attacks() {
  return kAttacks;
}

const Attack* find_attack(std::string_view name) {
  for (const Attack& attack : kAttacks) {
    if (attack.name == name) return &attack;
  }
  return nullptr;
}

Report honest_report(const Unit& unit, const Assignment& assignment,
                     const Volunteer& who) {
  Report report;
  report.header.result_id = static_cast<std::uint64_t>(assignment.result);
  report.header.nonce = assignment.nonce;
  report.header.workunit = unit.hash;
  report.header.host = who.host.public_key();
  report.header.claim = unit.honest.claim;
  report.header.device = "cpu:bench";
  report.header.arithmetic = kArithmeticVersion;
  report.update = report.payload = unit.honest.update;
  return report;
}

Bytes signed_report(const Report& report, const Scene& scene) {
  if (report.signed_bytes) return *report.signed_bytes;
  ResultHeader header = report.header;
  header.proof = report.proof.value_or(update_proof(
      header.nonce, header.host, report.update, header.claim.digests));
  return protocol::write_signed_header(
      sign_header(header, scene.project, scene.who.host));
}

}  // namespace quorate::bench
