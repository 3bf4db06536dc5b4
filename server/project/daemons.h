// The server's daemons, wired: BOINC's scheduler, transitioner, validator,
// assimilator, with the work generator, on one thread and one store.
#pragma once

#include <optional>
#include <string>

#include "server/house/house_workers.h"
#include "server/judging/reports.h"
#include "server/judging/transitioner.h"
#include "server/judging/verdicts.h"
#include "server/merging/assimilator.h"
#include "server/merging/step_threads.h"
#include "server/objects/file_deleter.h"
#include "server/peers/peer_gossip.h"
#include "server/rechecking/reviser.h"
#include "server/sending/scheduler.h"
#include "server/sending/unit_maker.h"
#include "server/settings/roles.h"

namespace quorate {

// All members run on the writer's thread, except where their headers say
// otherwise. Order of settle(): units first, then what becomes of their
// updates, then work for hosts that wait, then the rows that changed.
class Daemons {
 public:
  Daemons(ProjectState& state, Writer& writer, Uploads& uploads,
          const Roles& roles);

  // Starts house workers and the clockwork; before that nothing happens by
  // itself.
  void start();
  void stop();

  // Call at the end of every job that changed something.
  void settle();
  // A job for the writer that ends with settle().
  void post(Job job);

  UnitMaker maker;
  Scheduler scheduler;
  Verdicts verdicts;
  Transitioner transitioner;
  Assimilator assimilator;
  Reports reports;
  Reviser reviser;
  FileDeleter file_deleter;
  PeerGossip gossip;

 private:
  // Ten times a second: leases, waiting hosts, and whatever is due by time.
  void tick();
  void make_house_host();
  void close_revoked_units();
  void order_evaluation(const EvaluationOrder& order);
  void store_evaluation(const EvaluationOrder& order,
                        const protocol::EvaluateDone& done);
  // These are the callbacks of house workers, on their threads.
  std::optional<HouseUnit> next_house_unit();
  void house_failed(const HouseUnit& unit, const HouseFailure& failure);
  void house_computed(const HouseUnit& unit, const protocol::ComputeDone& done,
                      const std::string& device);

  ProjectState& state_;
  Writer& writer_;
  Roles roles_;
  StepThreads step_threads_;
  std::unique_ptr<HouseWorkers> house_;
  std::uint64_t house_jobs_ = 0;
};

}  // namespace quorate
