#include "server/rechecking/reviser.h"

#include <algorithm>
#include <limits>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "server/house/house_workers.h"
#include "server/rechecking/ledger_reader.h"
#include "validator/rebuild.h"
#include "workunits/claim_difference.h"
#include "workunits/objects/safetensors.h"

namespace quorate {
namespace {

constexpr Seconds kBetween{0.2};
constexpr Seconds kAfterFailure{30};
constexpr std::uint64_t kMostMemory = std::uint64_t{1} << 30;

// Thrown out of a walk through the ledger when the rest of it does not matter.
struct Enough {};

void expect_fits(const LedgerReport& report) {
  if (!report.ok()) throw Error(ErrorKind::corrupt, report.first_difference);
}

// What the ledger says of it.
std::string reason_of_revoking(const Result& merged) {
  return merged.reason.starts_with(kRevokedByOperator)
             ? merged.reason
             : "its results were false";
}

std::string of_hosts(std::size_t count) {
  return count == 1 ? "" : fmt::format(" of {} hosts", count);
}

// What units that are not in the ledger yet began from. A unit that an operator
// takes in by hand may be missing: then the rebuilding fails, and the next one
// knows it from the ledger.
LastUses uses_to_come(const ProjectState& state, const TrainingRun& training) {
  LastUses uses;
  for (const auto& [id, live] : state.feeder.units()) {
    if (live.unit.run != training.run.key) continue;
    uses[{live.unit.base_version, live.task->replica}] = {
        std::numeric_limits<std::uint64_t>::max(),
        std::string(training.rule->name())};
  }
  return uses;
}

}  // namespace

struct Reviser::Revision {
  Revision(ProjectState& state, Writer& writer, RunKey key)
      : run(key), ledger(state, writer, key), sources(ledger.sources()) {}

  RunKey run;
  std::set<HostId> hosts;
  std::set<PublicKey> keys;  // that signed them: a host's may change
  std::set<ResultId> results;
  std::set<WorkunitId> units;
  std::string reason;  // of all of them
  LedgerReader ledger;
  LedgerSources sources;
  Stretches stretches;
  std::optional<Rebuild> rebuild;
  std::optional<ModelState> rebuilt;  // when the last stretch is done
};

Reviser::Reviser(ProjectState& state, Writer& writer, Assimilator& assimilator,
                 std::function<void(Job)> post)
    : state_(state),
      writer_(writer),
      assimilator_(assimilator),
      consequences_(state),
      post_(std::move(post)) {}

Reviser::~Reviser() {
  stop();
}

void Reviser::start() {
  thread_ = std::make_unique<JobThread>();
  aside_ = [this](Job job) { thread_->post(std::move(job)); };
}

void Reviser::stop() {
  is_stopping_ = true;
  // Not destroyed yet: the writer may be posting to it.
  if (thread_) thread_->stop();
}

void Reviser::pass() {
  if (!aside_ || is_busy_ || state_.clock.now() < not_before_) return;
  std::vector<RevisionStep> waiting;
  for (const auto& [key, training] : state_.runs) {
    if (!training.is_active() || !training.is_loaded) continue;
    if (has_recheck(training)) waiting.push_back({key, RevisionKind::recheck});
    if (!training.to_revoke.empty()) {
      waiting.push_back({key, RevisionKind::revoke});
    }
  }
  const std::optional<RevisionStep> step = next_step(waiting, last_);
  if (step) begin(*step);
}

void Reviser::begin(const RevisionStep& step) {
  last_ = step;
  is_busy_ = true;
  TrainingRun& training = state_.run(step.run);
  if (step.kind == RevisionKind::recheck) {
    work(
        step.run, [this, order = recheck_of(training)] { recheck(order); },
        [this, run = step.run] { end(run, ""); });
  } else {
    rebuild(revision_of(training));
  }
}

void Reviser::work(RunKey run, std::function<void()> what,
                   std::function<void()> next) {
  aside_([this, run, what = std::move(what), next = std::move(next)] {
    std::function<void()> then = next;
    try {
      what();
    } catch (const Enough&) {
      then = [this, run] { end(run, ""); };
    } catch (const std::exception& error) {
      then = [this, run, failure = std::string(error.what())] {
        end(run, failure);
      };
    }
    post_(std::move(then));
  });
}

void Reviser::end(RunKey run, const std::string& failure) {
  state_.run(run).is_revising = false;
  is_busy_ = false;
  not_before_ =
      state_.clock.now() + (failure.empty() ? kBetween : kAfterFailure);
  if (failure.empty() || failure == failure_) return;
  failure_ = failure;  // once, not every time that it is tried again
  state_.record("revision_failed", run, 0,
                failure + "; the server tries again until it succeeds");
}

void Reviser::expect_going_on() const {
  if (is_stopping_) throw Enough();
}

bool Reviser::has_recheck(const TrainingRun& training) const {
  return std::any_of(training.to_recheck.begin(), training.to_recheck.end(),
                     [&](WorkunitId id) {
                       // Of an open round: not in the ledger yet.
                       return state_.store.workunit(id).value().state ==
                              WorkunitState::assimilated;
                     });
}

Reviser::Recheck Reviser::recheck_of(const TrainingRun& training) {
  Recheck order;
  order.run = training.run.key;
  for (WorkunitId id : training.to_recheck) {
    Workunit unit = state_.store.workunit(id).value();
    if (unit.state != WorkunitState::assimilated) continue;
    Result result = state_.store.result(unit.canonical_result).value();
    order.units[result.id] = {id,
                              decode_result_header(result.header.bytes).claim};
  }
  return order;
}

void Reviser::recheck(const Recheck& order) {
  LedgerReader ledger(state_, writer_, order.run);
  LedgerSources sources = ledger.sources();
  sources.progress = [this](std::uint64_t) { expect_going_on(); };
  Recomputer recomputer(house_worker_options(state_.settings), sources,
                        state_.objects, state_.folder.temporary() / "recheck",
                        [this] { expect_going_on(); });
  std::size_t left = order.units.size();
  ReplayOptions options = replay_options();
  options.see = [&](const ResultAtHand& at, bool) {
    auto found = order.units.find(at.entry.result);
    if (found == order.units.end()) return;
    std::optional<Stretch> stretch = recomputer.check(
        at, ledger.task(at.entry.workunit), found->second.claim);
    post_([this, unit = found->second.id, stretch] {
      store_verdict(unit, stretch);
    });
    if (--left == 0) throw Enough();
  };
  expect_fits(replay(sources, options).ledger);
}

// However many versions units are based on: a server goes on serving meanwhile.
ReplayOptions Reviser::replay_options() const {
  ReplayOptions options;
  options.max_memory_bytes = kMostMemory;
  options.past_folder = state_.folder.temporary() / "past_versions";
  make_private_folder(options.past_folder);
  return options;
}

void Reviser::store_verdict(WorkunitId id,
                            const std::optional<Stretch>& stretch) {
  Workunit unit = state_.store.workunit(id).value();
  if (unit.check != UnitCheck::recheck) return;  // it was purged meanwhile
  if (!stretch) {
    consequences_.found_sound(unit);
    return;
  }
  consequences_.found_false(unit,
                            "rechecked: it is wrong " + text_of(*stretch));
}

std::shared_ptr<Reviser::Revision> Reviser::revision_of(
    const TrainingRun& training) {
  auto order = std::make_shared<Revision>(state_, writer_, training.run.key);
  std::vector<Doomed> waiting;
  for (WorkunitId id : training.to_revoke) {
    Workunit unit = state_.store.workunit(id).value();
    Result merged = state_.store.result(unit.canonical_result).value();
    waiting.push_back({id, merged.id, merged.host,
                       decode_result_header(merged.header.bytes).host,
                       reason_of_revoking(merged)});
  }
  for (const Doomed& one : revoked_together(waiting, kMaxRevoked)) {
    order->results.insert(one.result);
    order->units.insert(one.unit);
    order->hosts.insert(one.host);
    order->keys.insert(one.key);
  }
  order->reason = waiting.front().reason;
  order->sources.progress = [this](std::uint64_t) { expect_going_on(); };
  return order;
}

void Reviser::rebuild(const std::shared_ptr<Revision>& order) {
  TrainingRun& training = state_.run(order->run);
  if (!training.is_active()) return end(order->run, "");
  Stretches& stretches = order->stretches;
  // Assimilators side by side hold versions that no unit names.
  const bool is_last = training.run.assimilators > 1 ||
                       is_last_stretch(stretches, training.next_seq);
  training.is_revising = is_last;
  stretches.done = training.next_seq;
  ++stretches.made;
  work(
      order->run,
      [this, order, is_last, entries = stretches.done,
       to_come = uses_to_come(state_, training)] {
        if (!order->rebuild) {
          order->rebuild.emplace(order->sources, order->results,
                                 replay_options());
        }
        order->rebuild->go_on(entries, to_come);
        if (is_last) order->rebuilt = order->rebuild->take_model();
      },
      [this, order, is_last] {
        if (!is_last) return rebuild(order);
        store_revision(*order);
        end(order->run, "");
      });
}

// The host of all that is revoked, if the ledger has it by the same key in each
// of its entries: not if it got a new one.
std::optional<PublicKey> Reviser::only_host(const Revision& order) const {
  if (order.hosts.size() != 1) return std::nullopt;
  const PublicKey& key = state_.hosts.host(*order.hosts.begin())->key;
  return order.keys == std::set{key} ? std::optional(key) : std::nullopt;
}

void Reviser::store_revision(Revision& order) {
  TrainingRun& training = state_.run(order.run);
  training.is_revising = false;
  // Stopped meanwhile: its ledger has ended.
  if (!training.is_active() || training.next_seq != order.stretches.done) {
    return;
  }
  Revoked entry;
  entry.results.assign(order.results.begin(), order.results.end());
  entry.host = only_host(order);
  entry.reason = order.reason;
  assimilator_.revoke(training, std::move(entry), std::move(*order.rebuilt));
  for (WorkunitId id : order.units) {
    consequences_.revoked(state_.store.workunit(id).value());
  }
  state_.record("results_revoked", order.run,
                order.hosts.size() == 1 ? *order.hosts.begin() : 0,
                fmt::format("{} updates{} have been taken out of the model, in "
                            "version {}",
                            order.results.size(), of_hosts(order.hosts.size()),
                            training.model.version()));
}

}  // namespace quorate
