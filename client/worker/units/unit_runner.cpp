#include "client/worker/units/unit_runner.h"

#include <optional>
#include <system_error>

#include <fmt/format.h>

#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "workunits/claim_difference.h"
#include "workunits/objects/safetensors.h"
#include "workunits/objects/shard.h"
#include "workunits/task.h"
#include "workunits/training/checkpoint.h"
#include "workunits/training/evaluator.h"
#include "workunits/training/trainer.h"

namespace quorate::worker {
namespace {

using protocol::ComputeRequest;
using protocol::EvaluateRequest;
using protocol::WorkerReply;

// A task whose seal was checked, and the hash that names the sealed bytes.
struct Unit {
  TrainingTask task;
  Hash hash;
};

Unit open_unit(const ComputeRequest& request) {
  constexpr std::uint64_t kMaxSealedBytes = 1 << 20;
  std::string what = "workunit " + request.workunit;
  Bytes sealed = read_file(request.workunit, kMaxSealedBytes);
  ByteView payload = open_sealed(sealed, SealKind::workunit, request.project,
                                 request.project_key, what);
  return {decode_task(payload), sha256(sealed)};
}

// Whether the file would leave so much free.
bool has_room(const fs::path& file, std::uint64_t bytes,
              std::uint64_t keep_free) {
  if (keep_free == 0) return true;
  const std::uint64_t room = free_space(file.parent_path());
  return room >= bytes && room - bytes >= keep_free;
}

std::uint64_t bytes_of_state(const TrainerState& state) {
  return sizeof(float) * (state.parameters.size() + state.optimizer.size());
}

// The file where a unit keeps its state between stops; none if the path is
// empty.
class CheckpointFile {
 public:
  CheckpointFile(const ComputeRequest& request, const Unit& unit)
      : path_(request.checkpoint), keep_free_(request.keep_free), unit_(unit) {}

  // A file that does not fit is no reason to fail: the unit begins anew.
  void restore_into(Trainer& trainer) const {
    if (path_.empty()) return;
    try {
      auto state = load_checkpoint(path_, unit_.hash, unit_.task);
      if (state) trainer.restore(*state);
    } catch (const Error& error) {
      log_warning("checkpoint ignored", {{"why", error.what()}});
      remove();
    }
  }
  // Before the first step there is nothing to keep. A disk that is too full
  // costs what this would save, and no more.
  void save(Trainer& trainer) const {
    if (path_.empty() || trainer.steps_done() == 0) return;
    const TrainerState state = trainer.state();
    const std::uint64_t bytes = bytes_of_state(state);
    if (!has_room(path_, bytes, keep_free_)) {
      log_warning("checkpoint left out",
                  {{"bytes", bytes}, {"kept_free", keep_free_}});
      return;
    }
    save_checkpoint(path_, unit_.hash, state);
  }
  void remove() const {
    std::error_code missing;
    if (!path_.empty()) fs::remove(path_, missing);
  }

 private:
  fs::path path_;
  std::uint64_t keep_free_;
  const Unit& unit_;
};

enum class StepsEnd { finished, stopped, differs };

// `expected`: the claim to check on the way, or null.
StepsEnd run_steps(Trainer& trainer, std::uint32_t steps, const Claim* expected,
                   const CheckpointFile& checkpoint, Job& job) {
  auto differs = [&] {
    return expected != nullptr &&
           differing_digest(*expected, trainer.digests());
  };
  while (!trainer.is_finished() && !differs()) {
    if (job.should_stop()) {
      checkpoint.save(trainer);
      return StepsEnd::stopped;
    }
    trainer.step();
    if (job.is_checkpoint_due()) checkpoint.save(trainer);
    job.step_done(trainer.steps_done(), steps);
  }
  return differs() ? StepsEnd::differs : StepsEnd::finished;
}

}  // namespace

WorkerReply UnitRunner::compute(const ComputeRequest& request, Job& job) {
  Unit unit = open_unit(request);
  const TrainingTask& task = unit.task;
  std::string snapshot = "snapshot " + request.snapshot;
  std::string shard = "shard " + request.shard;
  std::vector<float> base = read_parameters(
      task.model, files_.get(request.snapshot, task.snapshot, "snapshot"),
      snapshot);
  Trainer trainer(
      task, base,
      Samples::read(task.model, files_.get(request.shard, task.shard, "shard"),
                    shard),
      backend_);
  CheckpointFile checkpoint(request, unit);
  checkpoint.restore_into(trainer);
  const std::uint32_t resumed_at = trainer.steps_done();
  const Instant start = clock_.now();
  auto seconds = [&] { return (clock_.now() - start).count(); };
  auto steps = [&] { return trainer.steps_done() - resumed_at; };
  auto false_claim = [&](std::uint32_t digest) {
    checkpoint.remove();
    const Stretch stretch = stretch_of(digest, task);
    protocol::ComputeDiffers differs;
    differs.digest = digest;
    differs.first_step = stretch.first_step;
    differs.last_step = stretch.last_step;
    differs.job = request.job;
    differs.seconds = seconds();
    differs.steps = steps();
    return differs;
  };
  const Claim* expected = request.expected ? &*request.expected : nullptr;
  switch (run_steps(trainer, task.range.steps, expected, checkpoint, job)) {
    case StepsEnd::stopped:
      return protocol::WorkerStopped{request.job};
    case StepsEnd::differs:
      return false_claim(*differing_digest(*expected, trainer.digests()));
    case StepsEnd::finished:
      break;
  }
  TrainingResult result = trainer.finish();
  if (expected != nullptr) {
    if (auto digest = difference(*expected, result.claim)) {
      return false_claim(*digest);
    }
  } else if (!result.update.empty()) {
    write_file_durably(request.update, result.update);
  }
  checkpoint.remove();
  return protocol::ComputeDone{request.job, result.claim, seconds(), steps()};
}

WorkerReply UnitRunner::evaluate(const EvaluateRequest& request, Job& job) {
  ModelSpec model = model_from_json(request.model);
  MappedFile file(request.parameters);
  std::vector<float> parameters =
      read_parameters(model, file.bytes(), "parameters " + request.parameters);
  protocol::EvaluateDone done{request.job};
  double loss = 0;
  std::uint32_t shards = 0;
  for (const std::string& path : request.shards) {
    if (job.should_stop()) return protocol::WorkerStopped{request.job};
    MappedFile mapped(path);
    Samples samples = Samples::read(model, mapped.bytes(), "shard " + path);
    Score score = quorate::evaluate(model, parameters, samples, backend_);
    done.correct += score.correct;
    done.samples += score.samples;
    loss +=
        static_cast<double>(score.loss) * static_cast<double>(score.samples);
    job.step_done(++shards, static_cast<std::uint32_t>(request.shards.size()));
  }
  if (done.samples > 0) done.loss = loss / static_cast<double>(done.samples);
  return done;
}

}  // namespace quorate::worker
