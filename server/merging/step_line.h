// The results of one run that its assimilators are at work on, in the order in
// which they took them. Decides which begins, and which is next to be written;
// what a step computes, and who computes it, is others' (Assimilator,
// StepHelpers).
//
// Each result goes through these stages:
//
//   preparing   its base and update are read from their files
//   ready       it waits for its turn
//   stepping    it has read the model; its step is computed
//   done        the step is computed; it waits to be written
//
// Steps begin in the line's order, and results are written in it, so at most
// `assimilators` - 1 others are written while one steps: that is what bounds
// how far back a version read may lie. strong: a step begins once nothing else
// steps; that is a transaction of reading, step and writing. eventual: it
// begins at once.
#pragma once

#include <cstdint>
#include <deque>
#include <exception>
#include <map>
#include <memory>
#include <vector>

#include "workunits/ledger/ledger.h"
#include "workunits/objects/parameter_values.h"
#include "workunits/workunit.h"

namespace quorate {

// What is known of a step, shared with whoever helps with it.
struct StepWork {
  ParameterValues base;
  ParameterValues update;
  ResultAssimilated entry;  // but for what only its writing decides
  // The parameters of the model at entry.version_before; then what the step
  // makes of them. Empty: the step is made when it is written.
  std::vector<float> stepped;
  std::exception_ptr error;
};

struct StepSlot {
  enum class Stage { preparing, ready, stepping, done };

  WorkunitId unit = 0;
  std::uint64_t number = 0;  // of this attempt: no two have the same
  Stage stage = Stage::preparing;
  std::uint64_t version_read = 0;  // from stepping on
  std::shared_ptr<StepWork> work = std::make_shared<StepWork>();
};

class StepLine {
 public:
  bool contains(WorkunitId unit) const;
  bool has_room(const Run& run) const {
    return slots_.size() < run.assimilators;
  }
  StepSlot& add(WorkunitId unit);
  // Null: it left the line meanwhile.
  StepSlot* find(std::uint64_t number);
  // The one whose step may begin now; null: none.
  StepSlot* next_to_begin(Consistency consistency);
  // The one that is to be written now; null: none.
  StepSlot* next_to_write();
  // Whether a step has read the model and is not written.
  bool is_stepping() const;
  // It reads the model again, as if it had not yet.
  void step_again(StepSlot& slot);
  void leave(WorkunitId unit);
  // Of units that `is_gone` says of.
  template <class F>
  void leave_if(F is_gone) {
    std::erase_if(slots_, [&](const StepSlot& slot) { return is_gone(slot); });
  }

  void leave_all() { slots_.clear(); }
  // A step that read an older version than this is not written: this one is
  // published, or made of no result.
  void protect(std::uint64_t version);
  std::uint64_t readable_from() const { return readable_from_; }
  // How many results are not in the version that a step has made which read
  // this one: those that are not in what it read, and those since. Counts from
  // the line's beginning.
  std::uint64_t count_overwritten(std::uint64_t made, std::uint64_t read);

 private:
  static std::uint64_t new_number();

  std::deque<StepSlot> slots_;
  std::uint64_t readable_from_ = 0;
  std::map<std::uint64_t, std::uint64_t> overwritten_;  // by recent version
  std::uint64_t last_overwritten_ = 0;
};

}  // namespace quorate
