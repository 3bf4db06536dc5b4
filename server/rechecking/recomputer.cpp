#include "server/rechecking/recomputer.h"

#include <fcntl.h>
#include <fmt/format.h>

#include "base/error.h"
#include "workunits/objects/safetensors.h"

namespace quorate {
namespace {

// For the worker beside us; after a crash it is made anew.
void write_scratch(const fs::path& path, ByteView bytes) {
  fs::remove(path);
  FileDescriptor file = open_file(path, O_WRONLY | O_CREAT | O_EXCL);
  write_all(file.get(), bytes, path);
}

[[noreturn]] void fail(const ResultAtHand& result, ErrorKind kind,
                       const std::string& why) {
  throw Error(kind, fmt::format("ledger entry {}: recompute unit {}: {}",
                                result.at.seq, result.entry.unit_index, why));
}

bool is_claimed(const ResultAtHand& result, const Claim& computed) {
  return claim_hash(computed) == result.entry.claim &&
         computed.update == result.entry.update;
}

}  // namespace

Recomputer::Recomputer(const protocol::WorkerOptions& options,
                       const LedgerSources& sources,
                       const ObjectReader& objects, fs::path scratch,
                       std::function<void()> tick)
    : options_(options),
      sources_(sources),
      objects_(objects),
      scratch_(std::move(scratch)),
      tick_(std::move(tick)) {
  make_private_folder(scratch_);
}

std::optional<Stretch> Recomputer::check(const ResultAtHand& result,
                                         ByteView sealed,
                                         const std::optional<Claim>& claim) {
  protocol::ComputeRequest request = request_for(result, sealed);
  request.expected = claim;
  const protocol::WorkerReply reply = ask(request);
  if (const auto* differs = std::get_if<protocol::ComputeDiffers>(&reply)) {
    computing_seconds_ += differs->seconds;
    return Stretch{differs->first_step, differs->last_step};
  }
  if (const auto* done = std::get_if<protocol::ComputeDone>(&reply)) {
    computing_seconds_ += done->seconds;
    if (is_claimed(result, done->claim)) return std::nullopt;
    return Stretch{1, result.task.range.steps};
  }
  const auto* failed = std::get_if<protocol::WorkerFailed>(&reply);
  fail(
      result, ErrorKind::unavailable,
      failed != nullptr ? failed->why : "the worker sent an unexpected answer");
}

std::optional<Bytes> Recomputer::update_of(const ResultAtHand& result,
                                           ByteView sealed) {
  if (check(result, sealed, std::nullopt)) return std::nullopt;
  return read_file(scratch_ / "update");
}

const std::string& Recomputer::device() {
  return worker().ready().device;
}

protocol::ComputeRequest Recomputer::request_for(const ResultAtHand& result,
                                                 ByteView sealed) {
  const TrainingTask& task = result.task;
  if (base_ != task.snapshot) {
    write_scratch(scratch_ / "base",
                  write_parameters(result.run.model, result.base));
    base_ = task.snapshot;
  }
  write_scratch(scratch_ / "unit", sealed);
  protocol::ComputeRequest request;
  request.job = result.at.seq;
  request.project = sources_.keys.project;
  request.project_key = sealer_of(sealed, sources_.keys, "workunit").key;
  request.workunit = scratch_ / "unit";
  request.snapshot = scratch_ / "base";
  request.shard = objects_.path(task.shard);
  request.update = scratch_ / "update";
  if (!objects_.contains(task.shard)) {
    fail(result, ErrorKind::corrupt,
         fmt::format("shard {} is missing", task.shard.hex()));
  }
  return request;
}

protocol::WorkerReply Recomputer::ask(const protocol::ComputeRequest& request) {
  SystemClock clock;
  worker().send(request);
  Instant heard = clock.now();
  for (;;) {
    tick_();
    auto reply = worker().receive(Seconds(0.2));
    if (reply && !std::holds_alternative<protocol::WorkerProgress>(*reply)) {
      return std::move(*reply);
    }
    if (reply) heard = clock.now();
    if (clock.now() - heard > options_.silence) throw hang_of(options_);
  }
}

protocol::WorkerProcess& Recomputer::worker() {
  if (!worker_) worker_ = std::make_unique<protocol::WorkerProcess>(options_);
  return *worker_;
}

}  // namespace quorate
