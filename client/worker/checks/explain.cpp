#include "client/worker/checks/explain.h"

#include <fmt/format.h>

#include "base/arithmetic.h"
#include "base/error.h"
#include "client/worker/units/verified_files.h"
#include "workunits/objects/safetensors.h"
#include "workunits/sealed.h"
#include "workunits/task.h"
#include "workunits/training/trainer.h"

namespace quorate::worker {
namespace {

TrainingTask task_in(const fs::path& workunit) {
  constexpr std::uint64_t kMaxSealedBytes = 1 << 20;
  const Bytes sealed = read_file(workunit, kMaxSealedBytes);
  if (sealed.size() < kSealBytes) {
    throw Error(ErrorKind::corrupt,
                fmt::format("workunit {}: expected a task and its seal, found "
                            "{} bytes",
                            workunit.string(), sealed.size()));
  }
  return decode_task(ByteView(sealed).first(sealed.size() - kSealBytes));
}

}  // namespace

Explanation explain(const UnitFilesToExplain& files, PairBackend& devices) {
  const TrainingTask task = task_in(files.workunit);
  VerifiedFiles verified;
  const std::vector<float> base = read_parameters(
      task.model, verified.get(files.snapshot, task.snapshot, "snapshot"),
      "snapshot " + files.snapshot.string());
  const Samples samples =
      Samples::read(task.model, verified.get(files.shard, task.shard, "shard"),
                    "shard " + files.shard.string());
  Explanation explanation;
  explanation.devices = devices.device().name;
  Trainer trainer(task, base, samples, devices);
  std::uint64_t before = 0;
  while (!trainer.is_finished() && !devices.difference()) {
    before = devices.operations();
    trainer.step();
    ++explanation.steps;
  }
  if (!devices.difference()) {
    before = devices.operations();
    trainer.finish();
  }
  explanation.operations = devices.operations();
  explanation.in_step = devices.operations() - before;
  explanation.difference = devices.difference();
  return explanation;
}

std::string text_of(const Explanation& explanation) {
  if (!explanation.difference) {
    return fmt::format(
        "no difference: {} steps, {} operations, the same bits "
        "on {}",
        explanation.steps, explanation.operations, explanation.devices);
  }
  const OperationDifference& found = *explanation.difference;
  return fmt::format(
      "step {}, operation {} of it, {}: {}[{}] is {:08x} ({:.9g}) on the one "
      "and {:08x} ({:.9g}) on the other of {}",
      explanation.steps, explanation.in_step, found.operation, found.output,
      found.element, bits(found.first), found.first, bits(found.second),
      found.second, explanation.devices);
}

}  // namespace quorate::worker
