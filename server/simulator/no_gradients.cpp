// No gradients: every update of a unit's model is the same, all zeros.
#include "server/sealed_tasks.h"
#include "server/simulator/gradients.h"
#include "workunits/update.h"

namespace quorate {
namespace {

class NoGradients final : public Gradients {
 public:
  explicit NoGradients(ProjectState& state) : state_(state) {}

  void begin(const Hash& workunit, Seconds due) override;
  void end(const Hash& workunit) override;
  const Finding& of(const Hash& workunit) override;
  void begin_evaluation(const TrainingRun& training,
                        const Hash& published) override;
  std::optional<protocol::EvaluateDone> evaluation() override {
    return std::nullopt;
  }

 private:
  ProjectState& state_;
  Finding finding_;
};

void NoGradients::begin(const Hash& workunit, Seconds /*due*/) {
  if (finding_.update_bytes != 0) return;
  const TrainingTask task = task_of(state_.store, state_.objects, workunit);
  const Bytes update = encode_update(
      task, std::vector<float>(parameter_count(task.model), 0.0F));
  finding_.claim.update = state_.objects.put(update);
  finding_.update_bytes = update.size();
  finding_.device = "none";
}

void NoGradients::end(const Hash& /*workunit*/) {}

// Claims of different units must differ, or any would vouch for any.
const Finding& NoGradients::of(const Hash& workunit) {
  finding_.claim.digests = {workunit};
  return finding_;
}

void NoGradients::begin_evaluation(const TrainingRun& /*training*/,
                                   const Hash& /*published*/) {}

}  // namespace

std::unique_ptr<Gradients> no_gradients(ProjectState& state) {
  return std::make_unique<NoGradients>(state);
}

}  // namespace quorate
