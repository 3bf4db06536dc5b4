// How large an update may be for a host's word to be enough. Updates that a
// house worker has confirmed show what is usual in a run; one that is far
// larger in any tensor is looked at by a house worker before it counts. Pure.
// docs/validation.md, "Bounded updates", has the reasons and what it bounds.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "workunits/task.h"

namespace quorate {

// How far a unit moved each tensor of the model, and how far it was to go.
struct UpdateSize {
  std::vector<double> norms;  // Euclidean, in declared order
  double steps = 0;
  double learning_rate = 0;

  double norm() const;  // of all of them together
};

// update: parameter_count() values, all finite.
UpdateSize size_of(const TrainingTask& task, std::span<const float> update);

class UpdateBound {
 public:
  // An update may be so many times as large as the largest confirmed one.
  static constexpr double kMostTimes = 4;
  // Confirmed updates that are compared with: the last ones, since updates
  // become smaller as training goes on.
  static constexpr std::size_t kWindow = 16;

  void add_confirmed(UpdateSize size);
  // Before that there is nothing to compare with.
  bool is_known() const { return !confirmed_.empty(); }
  // More than one is confirmed: nobody waits for the first any more.
  bool is_settled() const { return confirmed_.size() > 1; }

  struct Excess {
    std::size_t tensor = 0;  // in declared order
    double times = 0;        // as large as the largest confirmed one
  };
  // Where the update is furthest beyond the bound; nullopt: nowhere. Units of
  // more steps or a higher learning rate may go as much further. A tensor that
  // hardly moved in the confirmed updates may move by a hundredth of what all
  // of them did. To be asked once the bound is known.
  std::optional<Excess> excess_of(const UpdateSize& size) const;

 private:
  // By tensor: the largest of the confirmed ones, for a unit like this.
  std::vector<double> usual_norms(const UpdateSize& size) const;

  std::deque<UpdateSize> confirmed_;
};

}  // namespace quorate
