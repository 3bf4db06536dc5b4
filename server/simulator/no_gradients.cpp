// No gradients: every update of the runs' model is the same, all zeros.
#include "base/bytes.h"
#include "server/simulator/gradients.h"
#include "workunits/objects/update.h"

namespace quorate {
namespace {

class NoGradients final : public Gradients {
 public:
  explicit NoGradients(ProjectState& state);

  void begin(const Hash& workunit, Seconds due) override;
  void end(const Hash& workunit) override;
  const Finding& of(const Hash& workunit) override;
  void begin_evaluation(const TrainingRun& training,
                        const Hash& published) override;
  std::optional<protocol::EvaluateDone> evaluation() override {
    return std::nullopt;
  }

 private:
  Finding finding_;
};

NoGradients::NoGradients(ProjectState& state) {
  const Run& run = state.runs.begin()->second.run;
  TrainingTask task;
  task.model = run.model;
  task.codec = run.codec;
  const Bytes update = encode_update(
      task, std::vector<float>(parameter_count(task.model), 0.0F));
  finding_.claim.update = state.objects.put(update);
  finding_.update_bytes = update.size();
  finding_.device = "none";
}

void NoGradients::begin(const Hash& /*workunit*/, Seconds /*due*/) {}

void NoGradients::end(const Hash& /*workunit*/) {}

// Claims of different units must differ, or any would vouch for any.
const Finding& NoGradients::of(const Hash& workunit) {
  finding_.claim.digests = {workunit};
  return finding_;
}

void NoGradients::begin_evaluation(const TrainingRun& /*training*/,
                                   const Hash& /*published*/) {}

// A unit is known by its run and index alone.
class NoNotary final : public Notary {
 public:
  Bytes sealed(const TrainingTask& task) const override {
    ByteWriter out;
    out.put(task.unit_index);
    out.put_bytes(task.run.bytes);
    return out.take();
  }
  LedgerRecord record(const LedgerEntry& entry) const override {
    LedgerRecord record;
    record.seq = entry.seq;
    record.kind = kind_of(entry.body);
    return record;
  }
};

}  // namespace

std::unique_ptr<Gradients> no_gradients(ProjectState& state) {
  return std::make_unique<NoGradients>(state);
}

std::unique_ptr<const Notary> no_notary() {
  return std::make_unique<NoNotary>();
}

}  // namespace quorate
