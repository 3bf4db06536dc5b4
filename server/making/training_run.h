// A training run in memory: its row, its data, its model at the newest version.
// A cache: open_run() and load_model() rebuild it from the last snapshot in the
// ledger and the entries after it.
//
// The room server/making knows one run: which samples its next unit has, how
// long that is, and where its model stands. It owns the runs' models, the
// largest part of the server's memory, on the writer's thread. It may include
// what stands before it in ROOMS, not the project's state.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>

#include "base/clock.h"
#include "server/datasets/manifest.h"
#include "server/making/house_aborts.h"
#include "server/making/locality.h"
#include "server/making/peer_model.h"
#include "server/making/replica_snapshots.h"
#include "server/settings/project_folder.h"
#include "server/store/store.h"
#include "validator/model_state.h"
#include "validator/update_bound.h"
#include "validator/update_rules/update_rule.h"
#include "workunits/assignment.h"
#include "workunits/objects/object_store.h"

namespace quorate {

// The shards of the training part with the samples that they are for a model:
// of a text, windows of its context.
std::vector<ShardEntry> samples_for(const ModelSpec& model,
                                    const DatasetManifest& dataset);

struct TrainingRun {
  // stored: what is handed out of the cursor's epoch.
  TrainingRun(Run row, RunCursor at, std::span<const ShardProgress> stored,
              DatasetManifest data, std::unique_ptr<UpdateRule> update_rule,
              ModelState state);

  Run run;
  RunCursor cursor;
  DatasetManifest dataset;
  double operations_of_sample;  // training_operations() of its model
  // The training part, counted in samples of the model.
  std::vector<ShardEntry> shards;
  // Of a run that goes on: where it stands in them, and who is at which.
  ShardIndex shard_index;
  EpochProgress progress;
  ShardHosts shard_hosts;
  std::unique_ptr<UpdateRule> rule;
  ModelState model;

  // The end of the ledger.
  std::uint64_t next_seq = 0;
  Hash last_hash;

  // The version that the last SnapshotPublished entry names, and when.
  std::uint64_t published_version = 0;
  std::optional<Instant> published_at;
  Hash published_hash;  // zero before the first

  // Of published versions, by version.
  std::vector<Evaluation> evaluations;

  // Snapshot objects that only this run's live units may need, unless others
  // have put the same since: the ledger does not name them. See
  // server/objects/file_deleter.
  std::set<Hash> own_snapshots;

  // What leads to the newest snapshots, oldest first, while versions are
  // rounded: own objects, too.
  std::deque<SnapshotStep> deltas;

  // Of a rule whose replicas are exchanged among hosts.
  ReplicaSnapshots replicas;

  // How long a valid result takes, from sending to receipt: about the median of
  // the last ones; 0: none yet.
  Seconds typical_time{0};

  // Results that the model does not contain, because other assimilators have
  // overwritten them; since it was loaded.
  std::uint64_t overwritten = 0;

  // How large updates may be that no house worker has confirmed.
  UpdateBound bound;

  // A unit in which the training diverged, until it is known why.
  struct Divergence {
    std::uint64_t unit_index = 0;
    // Updates that may be the reason were given to recheck.
    bool is_looked_into = false;
  };
  std::optional<Divergence> divergence;

  HouseAborts aborts;

  // Assimilated units that are to be rechecked, and those that are to be
  // revoked: see server/rechecking. The run does not end before both are empty.
  std::set<WorkunitId> to_recheck;
  std::set<WorkunitId> to_revoke;
  // Models of peers that wait to be mixed in: the newest of each.
  std::map<PeerId, PeerModel> from_peers;

  // Why the run ends as soon as nothing is to be rechecked or revoked: what its
  // operator set as its end has come. Empty: it has not. No unit is made then.
  std::string end_reason;
  // Up to when its time at work is counted; nullopt: it was not at work.
  std::optional<Instant> at_work_until;
  double seconds_stored = 0;  // at work, when they were last stored for it

  // The model is being rebuilt without what is to be revoked: nothing is taken
  // in meanwhile.
  bool is_revising = false;

  // What the transitioner found of an object that units need, until the run was
  // paused for it; empty: nothing.
  std::string damage;
  Instant look_for_damage_at{};  // not before

  // An object that the assimilator needs is missing or changed on disk: nothing
  // more is taken in until the operator resumes the run.
  bool is_damaged = false;

  // Model and live units are in memory. Not so for a run that had ended when
  // the project was opened, nor for one whose objects were damaged: that one
  // shows as paused, with the reason, until the next start.
  bool is_loaded = true;

  // The object of the newest version's parameters, or of a replica's; the
  // former is written on first use.
  Hash snapshot(ObjectStore& objects,
                std::optional<std::uint32_t> replica = {});
  // The end of `deltas` that leads to this snapshot in fewer bytes than
  // `whole`; empty: none does.
  std::vector<SnapshotStep> deltas_to(const Hash& snapshot,
                                      std::uint64_t whole) const;
  // The last one that was written, since the server's start.
  std::optional<Hash> written_snapshot() const;
  // Every unit of every epoch has been made.
  bool is_handed_out() const;
  // All of this epoch has been made, and the next waits until it is closed.
  bool is_at_barrier() const { return run.epoch_barrier && progress.is_done(); }
  // All of this round has been made.
  bool is_round_made() const {
    return rule->in_rounds() && cursor.round_units != 0 &&
           cursor.round_made >= cursor.round_units;
  }
  // No unit can be made before one that is open is closed.
  bool waits_for_units() const {
    return is_handed_out() || is_at_barrier() || is_round_made();
  }
  bool is_active() const {
    return run.state == RunState::running || run.state == RunState::paused;
  }

 private:
  Hash put_snapshot(ObjectStore& objects, std::span<const float> parameters);
  void put_delta(ObjectStore& objects);

  std::optional<std::uint64_t> snapshot_version_;
  Hash snapshot_;
};

DatasetManifest load_manifest(const ProjectFolder& folder,
                              const std::string& name);

// Of an update that was screened. Throws corrupt if it is missing or damaged.
UpdateSize size_of_update(const TrainingTask& task, const ObjectStore& objects,
                          const Hash& update);

// All but model and live units. Throws corrupt, naming run and entry, if the
// ledger is damaged.
TrainingRun open_run(const Run& run, Store& store, const ProjectFolder& folder);
// Its model. Throws corrupt if an object is missing or damaged.
void load_model(TrainingRun& training, Store& store,
                const ObjectStore& objects);

}  // namespace quorate
