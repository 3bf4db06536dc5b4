// Real gradients, by the workers that a server trusts.
#include <fmt/format.h>

#include "base/error.h"
#include "server/house/compute_request.h"
#include "server/simulator/gradients.h"
#include "server/units/sealed_tasks.h"

namespace quorate {
namespace {

class RealGradients final : public Gradients {
 public:
  RealGradients(ProjectState& state, std::uint32_t workers,
                const protocol::WorkerOptions& options)
      : state_(state), pool_(workers, options) {}

  void begin(const Hash& workunit, Seconds due) override;
  void end(const Hash& workunit) override;
  const Finding& of(const Hash& workunit) override;
  void begin_evaluation(const TrainingRun& training,
                        const Hash& published) override;
  std::optional<protocol::EvaluateDone> evaluation() override;

 private:
  struct Unit {
    int hosts = 0;
    protocol::ComputeRequest request;
    WorkerPool::Job job;
    std::optional<Finding> finding;
  };

  Finding take_in(const protocol::ComputeRequest& request,
                  const protocol::WorkerReply& reply);

  ProjectState& state_;
  WorkerPool pool_;
  std::map<Hash, Unit> units_;
  std::optional<WorkerPool::Job> evaluation_;
};

[[noreturn]] void fail(const protocol::WorkerReply& reply) {
  const auto* failed = std::get_if<protocol::WorkerFailed>(&reply);
  throw Error(
      ErrorKind::unavailable,
      fmt::format("a worker of the simulation: {}",
                  failed ? failed->why : "it sent an unexpected answer"));
}

void RealGradients::begin(const Hash& workunit, Seconds due) {
  Unit& unit = units_[workunit];
  if (++unit.hosts > 1) return;
  unit.request = compute_request(
      state_.objects, state_.keys,
      sealed_task_of(state_.store, state_.objects, workunit), workunit);
  unit.job = pool_.run(unit.request, due);
}

void RealGradients::end(const Hash& workunit) {
  auto unit = units_.find(workunit);
  if (unit == units_.end() || --unit->second.hosts > 0) return;
  pool_.drop(unit->second.job.id);
  for (const std::string& path :
       {unit->second.request.workunit, unit->second.request.checkpoint}) {
    std::error_code ignored;  // the whole folder goes at the end
    fs::remove(path, ignored);
  }
  units_.erase(unit);
}

const Finding& RealGradients::of(const Hash& workunit) {
  Unit& unit = units_.at(workunit);
  if (!unit.finding) {
    unit.finding = take_in(unit.request, unit.job.reply.get());
  }
  return *unit.finding;
}

Finding RealGradients::take_in(const protocol::ComputeRequest& request,
                               const protocol::WorkerReply& reply) {
  const auto* done = std::get_if<protocol::ComputeDone>(&reply);
  if (done == nullptr) fail(reply);
  Finding finding{done->claim, 0, "cpu"};
  if (done->claim.outcome == ComputeOutcome::success) {
    finding.update_bytes = fs::file_size(request.update);
    state_.objects.adopt(request.update, done->claim.update);
  }
  return finding;
}

void RealGradients::begin_evaluation(const TrainingRun& training,
                                     const Hash& published) {
  protocol::EvaluateRequest request;
  request.model = to_json(training.run.model);
  request.parameters = state_.objects.path(published).string();
  for (const ShardEntry& shard : training.dataset.test) {
    request.shards.push_back(state_.objects.path(shard.hash).string());
  }
  evaluation_ = pool_.run(request, Seconds(0));
}

std::optional<protocol::EvaluateDone> RealGradients::evaluation() {
  if (!evaluation_) return std::nullopt;
  const protocol::WorkerReply reply = evaluation_->reply.get();
  evaluation_.reset();
  const auto* done = std::get_if<protocol::EvaluateDone>(&reply);
  if (done == nullptr) fail(reply);
  return *done;
}

}  // namespace

std::unique_ptr<Gradients> real_gradients(
    ProjectState& state, std::uint32_t workers,
    const protocol::WorkerOptions& options) {
  return std::make_unique<RealGradients>(state, workers, options);
}

}  // namespace quorate
