// The assimilator's part with several assimilators for a run (StepLine): what
// begins when, and how a step that is done becomes the next version.
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "server/merging/assimilator.h"
#include "server/merging/step_files.h"
#include "server/units/states.h"

namespace quorate {

bool Assimilator::is_helped(const TrainingRun& training) const {
  return helpers_ != nullptr && !training.rule->in_rounds() &&
         helpers_->help(training.run);
}

void Assimilator::take_in_line(TrainingRun& training) {
  StepLine& line = lines_[training.run.key];
  line.leave_if([&](const StepSlot& slot) {
    const LiveUnit* live = state_.feeder.find(slot.unit);
    return live == nullptr || live->unit.state != WorkunitState::validated;
  });
  write_done(training, line);
  if (must_drain(training) && !line.is_stepping()) {
    mix_peers(training);
    publish_if_due(training);
  }
  for (WorkunitId id :
       state_.feeder.units_in(training.run.key, WorkunitState::validated)) {
    if (!line.has_room(training.run)) break;
    if (!line.contains(id)) prepare(training, line.add(id));
  }
  while (StepSlot* slot = line.next_to_begin(training.run.consistency)) {
    if (must_drain(training)) break;
    begin_step(training, *slot);
  }
}

// A published version, and a peer's model, must not be overwritten.
bool Assimilator::must_drain(const TrainingRun& training) const {
  if (training.run.consistency == Consistency::strong) return false;
  return is_publish_due(training) ||
         (!training.from_peers.empty() && may_mix(training));
}

bool Assimilator::is_stepping(const TrainingRun& training) const {
  const auto line = lines_.find(training.run.key);
  return training.run.consistency == Consistency::eventual &&
         line != lines_.end() && line->second.is_stepping();
}

// The rest of a job of the helpers: `slot` is what it was begun for, unless
// that has left the line since.
void Assimilator::on_helped(RunKey run, std::uint64_t number,
                            StepSlot::Stage stage) {
  const auto line = lines_.find(run);
  if (line == lines_.end()) return;
  if (StepSlot* slot = line->second.find(number)) slot->stage = stage;
}

void Assimilator::prepare(const TrainingRun& training, const StepSlot& slot) {
  LiveUnit& live = *state_.feeder.find(slot.unit);
  helpers_->start(
      StepPart::prepare, training.run, slot.unit,
      [&objects = state_.objects, work = slot.work,
       files = step_files_of(live)] {
        try {
          work->base = map_base(objects, files);
          work->update = map_update(objects, files);
        } catch (...) {
          work->error = std::current_exception();
        }
      },
      [this, run = training.run.key, number = slot.number] {
        on_helped(run, number, StepSlot::Stage::ready);
      });
}

namespace {

// On any thread: the run may get another rule, or another model, meanwhile.
void step(StepWork& work, std::size_t trainable) {
  try {
    const auto rule = make_update_rule(work.entry.rule, "");
    apply_step(work.entry, *rule, work.base.all(), work.update, trainable,
               work.stepped);
  } catch (...) {
    work.error = std::current_exception();
  }
}

}  // namespace

void Assimilator::begin_step(TrainingRun& training, StepSlot& slot) {
  StepWork& work = *slot.work;
  if (work.error) {
    const std::exception_ptr error = work.error;
    lines_[training.run.key].leave(slot.unit);
    std::rethrow_exception(error);
  }
  work.entry =
      new_entry(training, training.model, *state_.feeder.find(slot.unit), true);
  slot.version_read = training.model.version();
  slot.stage = StepSlot::Stage::stepping;
  // Others change with the state of the rule: that is done when it is written.
  const bool is_beside = training.rule->may_overwrite();
  if (is_beside) work.stepped = training.model.parameters();
  helpers_->start(
      StepPart::step, training.run, slot.unit,
      [is_beside, work = slot.work, trainable = training.model.trainable()] {
        if (is_beside) step(*work, trainable);
      },
      [this, run = training.run.key, number = slot.number] {
        on_helped(run, number, StepSlot::Stage::done);
      });
}

void Assimilator::write_done(TrainingRun& training, StepLine& line) {
  while (StepSlot* slot = line.next_to_write()) {
    const std::uint64_t newest = training.model.version();
    const bool is_strong = training.run.consistency == Consistency::strong;
    if (slot->version_read < (is_strong ? newest : line.readable_from())) {
      line.step_again(*slot);
      return;
    }
    const StepSlot done = *slot;
    line.leave(done.unit);
    write(training, *state_.feeder.find(done.unit), *done.work);
    training.overwritten =
        line.count_overwritten(training.model.version(), done.version_read);
  }
}

void Assimilator::write(TrainingRun& training, LiveUnit& live, StepWork& work) {
  ResultAssimilated& entry = work.entry;
  const std::uint64_t newest = training.model.version();
  if (work.error) std::rethrow_exception(work.error);
  if (entry.version_before != newest) entry.read_version = entry.version_before;
  entry.version_before = newest;
  entry.version_after = newest + 1;
  entry.staleness = newest - entry.base_version;
  if (work.stepped.empty()) {
    training.model.apply(entry, *training.rule, work.base.all(),
                         std::move(work.update));
  } else {
    training.model.take(entry, *training.rule, std::move(work.stepped));
  }
  record(training, live, std::move(entry));
  look_after(training, live);
}

}  // namespace quorate
