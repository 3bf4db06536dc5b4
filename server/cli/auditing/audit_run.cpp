#include "server/cli/auditing/audit_run.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/clock.h"
#include "base/error.h"
#include "server/cli/support/interrupt.h"
#include "server/cli/support/ledger_pages.h"
#include "server/cli/support/progress_line.h"
#include "server/rechecking/recomputer.h"
#include "server/settings/operation_lock.h"

namespace quorate {
namespace {

constexpr Seconds kSaveEvery{1};
constexpr Seconds kShowEvery{0.1};

// What audits with these options share, and no other.
std::string name_of(const AuditOptions& options) {
  const std::string text =
      fmt::format("{} {} {} {}", options.device, options.share,
                  options.host ? options.host->hex() : "",
                  options.seed ? std::to_string(*options.seed) : "");
  return options.run + "-" + sha256(as_bytes(text)).hex().substr(0, 12);
}

protocol::WorkerOptions worker_of(const AuditOptions& options) {
  protocol::WorkerOptions worker;
  worker.program = protocol::find_worker_program();
  worker.device = options.device;
  worker.threads = options.threads;
  worker.niceness = 5;  // as house workers: the server goes first
  return worker;
}

class Audit {
 public:
  Audit(AdminClient& client, const AuditOptions& options)
      : options_(options),
        folder_(client.root() / "audit" / name_of(options)),
        objects_(ProjectFolder{client.root()}.objects()),
        pages_(client, options.run),
        sources_(sources_of(ProjectFolder{client.root()}, pages_, objects_)),
        lock_((make_private_folder(folder_),
               lock_for("audit", folder_ / "lock",
                        "the same audit is already running"))),
        recomputer_(worker_of(options), sources_, objects_, folder_,
                    [this] { tick(); }) {
    make_private_folder(kept_updates());
    load();
    sources_.records = [this](std::uint64_t seq) {
      std::optional<LedgerRecord> record = pages_.record(seq);
      if (record) record_ = record->hash;
      return record;
    };
    sources_.objects = [this](const Hash& hash) { return read(hash); };
    sources_.progress = [this](std::uint64_t entries) { walked(entries); };
  }

  AuditReport run() {
    ReplayOptions replaying;
    replaying.see = [this](const ResultAtHand& result, bool is_revoked) {
      see(result, is_revoked);
    };
    AuditReport report;
    report.replay = replay(sources_, replaying);
    report.state = state_;
    if (has_computed_) report.device = recomputer_.device();
    report.computing_seconds = recomputer_.computing_seconds();
    fs::remove_all(folder_);
    return report;
  }

 private:
  fs::path file() const { return folder_ / "progress.json"; }
  fs::path kept_updates() const { return folder_ / "updates"; }
  fs::path kept(const Hash& update) const {
    return kept_updates() / update.hex();
  }

  void load();
  void save();
  Bytes read(const Hash& hash) const;
  void see(const ResultAtHand& result, bool is_revoked);
  void check(const ResultAtHand& result);
  void restore_update(const ResultAtHand& result, bool is_revoked);
  bool is_chosen(const ResultAtHand& result) const;
  // The entry is done.
  void note(const ResultAtHand& result);
  void walked(std::uint64_t entries);
  void tick();
  void show_progress();

  AuditOptions options_;
  fs::path folder_;
  ObjectReader objects_;
  LedgerPages pages_;
  LedgerSources sources_;
  FileLock lock_;
  Interrupt interrupt_;
  Recomputer recomputer_;
  AuditState state_;
  Hash record_;  // hash of the record at hand
  bool has_computed_ = false;
  std::uint64_t entries_ = 0;   // of the whole ledger
  std::uint64_t position_ = 0;  // entries of it that are replayed
  bool is_surveyed_ = false;
  SystemClock clock_;
  Instant saved_at_ = clock_.now();
  Instant shown_at_ = clock_.now();
  Instant began_ = clock_.now();
  std::uint64_t began_at_ = 0;  // entries, once recomputing began
  std::uint64_t recomputed_before_ = 0;
  ProgressLine line_;
};

void Audit::load() {
  state_.seed = options_.seed.value_or(secret_random_u64());
  if (!fs::exists(file())) return;
  const std::string again =
      fmt::format("remove {} to start again", folder_.string());
  try {
    state_ = parse_audit_state(read_text_file(file(), 64 << 20));
  } catch (const Error& error) {
    throw Error(error.kind(), fmt::format("{}: {}: {}", file().string(),
                                          error.what(), again));
  }
  recomputed_before_ = state_.recomputed;
  if (state_.entries == 0) return;
  const auto last = pages_.record(state_.entries - 1);
  if (last && last->hash == state_.last) return;
  throw Error(ErrorKind::corrupt,
              fmt::format("{} of run {}: ledger entry {} is not the one "
                          "that was audited before, {}: {}",
                          options_.command, options_.run, state_.entries - 1,
                          state_.last.hex(), again));
}

void Audit::save() {
  write_file_durably(file(), as_bytes(write_audit_state(state_)), 0600);
  saved_at_ = clock_.now();
}

Bytes Audit::read(const Hash& hash) const {
  if (!objects_.contains(hash) && fs::exists(kept(hash))) {
    return read_file(kept(hash));
  }
  return objects_.read(hash);
}

void Audit::see(const ResultAtHand& result, bool is_revoked) {
  const Hash& update = result.entry.update;
  if (!objects_.contains(update) && !fs::exists(kept(update))) {
    restore_update(result, is_revoked);
  } else if (result.at.seq >= state_.entries && !is_revoked &&
             is_chosen(result)) {
    check(result);
  }
  note(result);
}

bool Audit::is_chosen(const ResultAtHand& result) const {
  return (!options_.host || result.entry.host == *options_.host) &&
         (result.entry.is_unverified() ||
          is_drawn(state_.seed, result.at.seq, options_.share));
}

void Audit::check(const ResultAtHand& result) {
  const ResultAssimilated& entry = result.entry;
  const std::optional<Claim> claim = pages_.claim(entry.claim);
  if (claim && claim->update != entry.update) {
    throw Error(
        ErrorKind::corrupt,
        fmt::format(
            "result {}: the ledger names update {}, but its host claimed {}",
            entry.result, entry.update.hex(), claim->update.hex()));
  }
  has_computed_ = true;
  const auto stretch =
      recomputer_.check(result, pages_.task(entry.workunit), claim);
  ++state_.recomputed;
  if (!stretch) return;
  state_.found.push_back({result.at.seq, entry.result, entry.unit_index,
                          entry.host, stretch->first_step, stretch->last_step});
}

void Audit::restore_update(const ResultAtHand& result, bool is_revoked) {
  const ResultAssimilated& entry = result.entry;
  auto refuse = [&](const char* why) {
    throw Error(ErrorKind::corrupt,
                fmt::format("update of result {} {}: it is no longer kept, {}",
                            entry.result, entry.update.hex(), why));
  };
  if (is_revoked) {
    refuse(
        "and it was revoked as false, so that recomputing gives a different "
        "one");
  }
  has_computed_ = true;
  const auto update =
      recomputer_.update_of(result, pages_.task(entry.workunit));
  if (!update) refuse("and recomputing its unit gives a different one");
  write_file_durably(kept(entry.update), *update);
  if (result.at.seq >= state_.entries) ++state_.recomputed;
}

void Audit::note(const ResultAtHand& result) {
  if (result.at.seq < state_.entries) return;
  state_.entries = result.at.seq + 1;
  state_.last = record_;
  if (clock_.now() - saved_at_ >= kSaveEvery) save();
}

// The first walk only verifies; it says how long the ledger is.
void Audit::walked(std::uint64_t entries) {
  if (!is_surveyed_ && entries > entries_) {
    entries_ = entries;
  } else {
    if (!is_surveyed_) began_ = clock_.now();
    is_surveyed_ = true;
    position_ = std::max(position_, entries);
    if (position_ <= state_.entries && !has_computed_) began_at_ = position_;
  }
  tick();
}

void Audit::tick() {
  show_progress();
  if (!interrupt_.is_requested()) return;
  save();
  throw Error(
      ErrorKind::unavailable,
      fmt::format("{} of run {}: interrupted at entry {} of {}, {} "
                  "results recomputed: the same command continues from there",
                  options_.command, options_.run, state_.entries, entries_,
                  state_.recomputed));
}

void Audit::show_progress() {
  if (clock_.now() - shown_at_ < kShowEvery) return;
  shown_at_ = clock_.now();
  if (!is_surveyed_) {
    line_.write(fmt::format("{}: {} entries verified", options_.run, entries_));
    return;
  }
  const double seconds = (clock_.now() - began_).count();
  const auto done = static_cast<double>(position_ - began_at_);
  std::string text =
      fmt::format("{}: entry {} of {}, {} results recomputed", options_.run,
                  position_, entries_, state_.recomputed);
  if (seconds > 2 && done > 0) {
    const double left =
        seconds * static_cast<double>(entries_ - position_) / done;
    text += fmt::format(
        ", {:.1f} a second, {:.0f} s left",
        static_cast<double>(state_.recomputed - recomputed_before_) / seconds,
        left);
  }
  line_.write(text);
}

}  // namespace

AuditReport audit(AdminClient& client, const AuditOptions& options) {
  return Audit(client, options).run();
}

}  // namespace quorate
