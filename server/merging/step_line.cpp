#include "server/merging/step_line.h"

#include <algorithm>

namespace quorate {
namespace {

bool has_begun(const StepSlot& slot) {
  return slot.stage == StepSlot::Stage::stepping ||
         slot.stage == StepSlot::Stage::done;
}

}  // namespace

// Lines come and go, and an answer may be for one that is gone.
std::uint64_t StepLine::new_number() {
  static std::uint64_t last = 0;  // of the writer's thread
  return ++last;
}

bool StepLine::contains(WorkunitId unit) const {
  return std::any_of(slots_.begin(), slots_.end(),
                     [&](const StepSlot& slot) { return slot.unit == unit; });
}

StepSlot& StepLine::add(WorkunitId unit) {
  StepSlot& slot = slots_.emplace_back();
  slot.unit = unit;
  slot.number = new_number();
  return slot;
}

StepSlot* StepLine::find(std::uint64_t number) {
  const auto found =
      std::find_if(slots_.begin(), slots_.end(),
                   [&](const StepSlot& slot) { return slot.number == number; });
  return found == slots_.end() ? nullptr : &*found;
}

StepSlot* StepLine::next_to_begin(Consistency consistency) {
  if (consistency == Consistency::strong && is_stepping()) return nullptr;
  const auto next = std::find_if_not(slots_.begin(), slots_.end(), has_begun);
  if (next == slots_.end() || next->stage != StepSlot::Stage::ready)
    return nullptr;
  return &*next;
}

StepSlot* StepLine::next_to_write() {
  if (slots_.empty() || slots_.front().stage != StepSlot::Stage::done)
    return nullptr;
  return &slots_.front();
}

bool StepLine::is_stepping() const {
  return std::any_of(slots_.begin(), slots_.end(), has_begun);
}

void StepLine::step_again(StepSlot& slot) {
  slot.stage = StepSlot::Stage::ready;
  slot.number = new_number();
}

void StepLine::protect(std::uint64_t version) {
  readable_from_ = version;
  overwritten_[version] = last_overwritten_;
}

std::uint64_t StepLine::count_overwritten(std::uint64_t made,
                                          std::uint64_t read) {
  const auto found = overwritten_.find(read);  // else: older than the line
  last_overwritten_ =
      (found == overwritten_.end() ? 0 : found->second) + (made - 1 - read);
  overwritten_[made] = last_overwritten_;
  if (overwritten_.size() > kMaxAssimilators) {
    overwritten_.erase(overwritten_.begin());
  }
  return last_overwritten_;
}

void StepLine::leave(WorkunitId unit) {
  leave_if([&](const StepSlot& slot) { return slot.unit == unit; });
}

}  // namespace quorate
