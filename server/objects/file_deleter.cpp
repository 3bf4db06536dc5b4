#include "server/objects/file_deleter.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <set>
#include <thread>

#include <fmt/format.h>

#include "base/error.h"
#include "base/log.h"

namespace quorate {
namespace {

constexpr Seconds kBetweenSweeps{3600};
constexpr Seconds kBetweenSweepsWhenFull{60};
constexpr Seconds kJump{60};  // far less than retention's hour
// Few at a time, so that a backup soon has its turn, and the disk, too.
constexpr std::size_t kAtOnce = 64;
constexpr std::chrono::milliseconds kPause{50};

fs::file_time_type before(fs::file_time_type time, Seconds passed) {
  return time -
         std::chrono::duration_cast<fs::file_time_type::duration>(passed);
}

// Thrown out of a sweep when the server stops.
struct Enough {};

std::optional<FileLock> lock_if_free(const fs::path& path) {
  try {
    return FileLock(path);
  } catch (const Error&) {
    // Taken, or the disk is full: what stays now is removed another time.
    return std::nullopt;
  }
}

}  // namespace

std::vector<Hash> take_old_snapshots(const ProjectState& state,
                                     TrainingRun& training) {
  std::set<Hash> needed;
  for (const auto& [id, live] : state.feeder.units()) {
    needed.insert(live.unit.snapshot);
  }
  for (const SnapshotStep& step : training.deltas) {
    needed.insert(step.delta.hash);
  }
  std::vector<Hash> old;
  std::erase_if(training.own_snapshots, [&](const Hash& hash) {
    if (needed.contains(hash)) return false;
    old.push_back(hash);
    return true;
  });
  return old;
}

std::optional<FileLock> right_to_remove(const ProjectFolder& folder) {
  return lock_if_free(folder.backup_lock());
}

FileDeleter::FileDeleter(ProjectState& state, Writer& writer, Uploads& uploads)
    : state_(state), writer_(writer), uploads_(uploads) {}

FileDeleter::~FileDeleter() {
  stop();
}

void FileDeleter::start() {
  thread_ = std::make_unique<JobThread>();
  upload_thread_ = std::make_unique<JobThread>();
}

void FileDeleter::stop() {
  is_stopping_ = true;
  // Not destroyed yet: the writer may be posting to it.
  if (thread_) thread_->stop();
  if (upload_thread_) upload_thread_->stop();
}

// A BOINC client never sends its files again: they stay until it is durable
// that they are not needed. Removing files may wait for the disk: the writer
// does not.
void FileDeleter::drop_closed_uploads() {
  std::vector<ResultId> closed = state_.open_results.take_removed();
  if (closed.empty() || !upload_thread_) return;
  writer_.after_commit([this, closed = std::move(closed)]() mutable {
    upload_thread_->post([this, closed = std::move(closed)] {
      for (ResultId id : closed) uploads_.forget(id);
    });
  });
}

void FileDeleter::pass() {
  drop_closed_uploads();
  if (!state_.roles.assimilator) return;
  if (!thread_ || is_busy_) return;
  const Instant now = state_.clock.now();
  const bool is_due = now >= not_before_ ||
                      (now >= not_before_when_full_ && uploads_.take_refusal());
  if (!is_due) return;
  is_busy_ = true;
  thread_->post([this] {
    try {
      sweep();
    } catch (const Enough&) {
    } catch (const std::exception& error) {
      log_error("sweep_failed", {{"why", error.what()}});
    }
    writer_.post([this] {
      is_busy_ = false;
      not_before_ = state_.clock.now() + kBetweenSweeps;
      not_before_when_full_ = state_.clock.now() + kBetweenSweepsWhenFull;
    });
  });
}

void FileDeleter::expect_going_on() const {
  if (is_stopping_) throw Enough();
}

void FileDeleter::sweep() {
  drop_uploads();
  const fs::file_time_type began = state_.objects.now();
  // Who adds a data set names its shards when all are there.
  const bool may_remove =
      !has_clock_jumped(began) && lock_if_free(state_.folder.datasets_lock());
  std::vector<std::pair<Hash, ObjectUse>> in_memory;
  std::map<HostId, Owner> senders;
  writer_.run([&] {
    give_up_updates();
    in_memory = names_in_memory();
    senders = owners();
  });
  auto names = read_sqlite_names(state_.folder.database());
  ObjectUses uses(state_.folder, *names, [this] { expect_going_on(); });
  for (const auto& [hash, use] : in_memory) uses.add(hash, use);
  Storage storage;
  std::vector<Doomed> doomed, payloads;
  std::vector<Evidence> evidence;
  state_.objects.list([&](const ObjectReader::Found& found) {
    expect_going_on();
    const ObjectUse use = uses.of(found.hash);
    storage.add_object(use, found.bytes);
    if (use.is_needed || !may_remove) return;
    const auto kept = time_kept(use, state_.settings);
    if (kept && found.used < before(began, *kept)) {
      doomed.push_back({found.hash, use, found.bytes, before(began, *kept)});
    } else if (use.what == ObjectClass::payload) {
      const Owner& owner = senders[use.host];
      payloads.push_back({found.hash, use, found.bytes, before(began, kInUse)});
      evidence.push_back({found.bytes, found.used, owner.user, owner.block});
    }
  });
  for (const Doomed& one : beyond_their_quota(payloads, evidence)) {
    doomed.push_back(one);
  }
  storage.add_other(state_.folder, *names);
  names.reset();  // while it reads, the store's log can only grow
  remove(doomed, storage);
  writer_.run([&] { state_.storage = storage.rows(); });
}

// A result that is closed stays so, once that is durable: as it is when run()
// returns. Had the server died before, its client would not send it again.
void FileDeleter::drop_uploads() {
  std::set<ResultId> left = uploads_.results();
  writer_.run([&] {
    std::erase_if(
        left, [&](ResultId id) { return !state_.open_results.is_closed(id); });
  });
  for (ResultId id : left) uploads_.forget(id);
}

bool FileDeleter::has_clock_jumped(fs::file_time_type now) {
  const std::pair then = last_.value_or(std::pair(state_.clock.now(), now));
  last_ = {state_.clock.now(), now};
  const Seconds passed = last_->first - then.first;
  const Seconds of_files = now - then.second;
  return std::abs((of_files - passed).count()) > kJump.count();
}

void FileDeleter::give_up_updates() {
  const Millis now = state_.clock.unix_ms();
  for (auto& [key, training] : state_.runs) {
    Run& run = training.run;
    if (!gives_up_updates(run, state_.settings, now)) continue;
    run.updates_removed = now;
    state_.store.update_run(run);
    state_.record(
        "updates_removed", key, 0,
        fmt::format(
            "run {}: its recorded updates are removed {} days after its end",
            run.name, state_.settings.keep_updates_days));
  }
}

std::map<HostId, FileDeleter::Owner> FileDeleter::owners() const {
  std::map<HostId, Owner> owners;
  for (const auto& [id, host] : state_.hosts.hosts()) {
    owners.emplace(id, Owner{host.user_id, state_.hosts.block(id)});
  }
  return owners;
}

std::vector<FileDeleter::Doomed> FileDeleter::beyond_their_quota(
    const std::vector<Doomed>& payloads,
    const std::vector<Evidence>& evidence) const {
  std::uint64_t bytes = 0;
  for (const Evidence& one : evidence) bytes += one.bytes;
  const std::uint64_t quota = evidence_quota(
      state_.settings, bytes, free_space(state_.folder.objects()));
  std::vector<Doomed> beyond;
  for (std::size_t i : beyond_quota(evidence, quota)) {
    beyond.push_back(payloads[i]);
  }
  return beyond;
}

std::vector<std::pair<Hash, ObjectUse>> FileDeleter::names_in_memory() const {
  std::vector<std::pair<Hash, ObjectUse>> names;
  for (const Hash& payload : state_.open_results.uploaded()) {
    names.push_back({payload, {ObjectClass::payload, 0, true}});
  }
  for (const auto& [key, training] : state_.runs) {
    if (auto snapshot = training.written_snapshot()) {
      names.push_back({*snapshot, {ObjectClass::snapshot, key, true}});
    }
    for (const SnapshotStep& step : training.deltas) {
      names.push_back({step.delta.hash, {ObjectClass::snapshot, key, true}});
    }
    for (const auto& [peer, model] : training.from_peers) {
      for (const Hash& hash : {model.offer.parameters, model.sealed_offer}) {
        names.push_back({hash, {ObjectClass::snapshot, key, true}});
      }
    }
  }
  return names;
}

void FileDeleter::remove(const std::vector<Doomed>& doomed, Storage& storage) {
  std::size_t count = 0;
  std::uint64_t bytes = 0;
  for (std::size_t first = 0; first < doomed.size(); first += kAtOnce) {
    expect_going_on();
    if (first > 0) std::this_thread::sleep_for(kPause);
    const auto right = right_to_remove(state_.folder);
    const auto nothing_is_added = lock_if_free(state_.folder.datasets_lock());
    if (!right || !nothing_is_added) break;  // another time
    const std::size_t end = std::min(first + kAtOnce, doomed.size());
    for (std::size_t i = first; i < end; ++i) {
      const Doomed& one = doomed[i];
      if (!state_.objects.remove_unused_since(one.hash, one.limit)) continue;
      storage.take_object(one.use, one.bytes);
      ++count;
      bytes += one.bytes;
    }
  }
  if (count == 0) return;
  log_info("objects_removed", {{"count", count}, {"bytes", bytes}});
}

}  // namespace quorate
