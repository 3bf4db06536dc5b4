// The rows of the project's life in BOINC's words: runs, workunits and results
// (instances). Data only, and longer than other headers because it is all of
// it; server/ and validator/ decide who changes them when.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/crypto.h"
#include "workunits/consistency.h"
#include "workunits/host.h"
#include "workunits/result_header.h"
#include "workunits/task.h"

namespace quorate {

using RunKey = std::int64_t;  // row of a run
using WorkunitId = std::int64_t;
using ResultId = std::int64_t;

enum class RunState { running, paused, finished, stopped };

// When a run ends before its samples are used up: as soon as one of these
// holds. 0: not one of them.
struct RunUntil {
  double accuracy = 0;  // of the last evaluated version
  double seconds = 0;   // at work: see RunUsage
  double cost = 0;      // of hosts' time, in the project's currency

  bool is_empty() const { return accuracy == 0 && seconds == 0 && cost == 0; }
};

// A training run and its settings; fixed at creation but for `state`.
struct Run {
  RunKey key = 0;
  RunId id;
  std::string name;
  RunState state = RunState::running;
  std::string state_reason;  // advice when paused by the server
  ModelSpec model;
  std::string dataset;
  std::uint64_t seed = 0;
  std::uint32_t batch = 64;
  std::uint32_t micro_batch = 0;  // 0: the whole batch at a time
  std::uint32_t local_steps = 0;  // 0: auto
  std::uint32_t epochs = 20;
  OptimizerOptions optimizer;          // learning_rate: at the start
  std::string lr_schedule = "linear";  // or "constant"
  Codec codec = Codec::fp32;           // of updates
  std::string rule = "vc-asgd";
  std::string rule_settings;  // JSON, see validator/update_rules
  std::uint32_t quorum = 2;
  std::uint32_t round_units = 0;  // 0: auto; rules in rounds only
  double round_share = 0.6;
  // Nothing of the next epoch is made before all of this one is closed.
  bool epoch_barrier = false;
  // Of hosts' time, beside the shares of other runs; 0: only what no other run
  // has work for.
  double share = 1;
  RunUntil until;
  // That work on its results at the same time; of rules that take them one by
  // one.
  std::uint32_t assimilators = 1;
  Consistency consistency = Consistency::strong;
  Millis created = 0;
  Millis ended = 0;
  // When its recorded updates were given up, as the operator's settings say: an
  // update that is not there was removed then. 0: they are all kept, and one
  // that is not there is damage.
  Millis updates_removed = 0;
};

// What a run has taken so far. Hosts' time is estimated when a result is sent:
// the unit's operations, at the speed that the host says its device has.
struct RunUsage {
  double seconds_at_work = 0;  // running, since its first result was sent
  double host_seconds = 0;
  double cost = 0;  // of host_seconds, by the prices of when they were sent
};

// Where the work generator stands; one per run.
struct RunCursor {
  std::uint64_t next_unit = 0;
  std::uint32_t epoch = 0;
  std::uint64_t steps_before = 0;  // over all epochs
  std::uint64_t round = 0;         // the open round
  std::uint32_t round_made = 0;    // units made for it so far
  std::uint32_t round_units = 0;   // units it is to have; 0: not begun
  RunUsage used;
};

// Of one shard of a run: its first `steps` steps were handed out in `epoch`.
// None of a shard without such a row, or with one of an earlier epoch.
struct ShardProgress {
  RunKey run = 0;
  std::uint32_t place = 0;  // in the epoch's order of shards
  std::uint32_t epoch = 0;
  std::uint32_t steps = 0;
};

enum class WorkunitState {
  open,       // results are out or wanted
  validated,  // a canonical result is chosen, not yet assimilated
  assimilated,
  credited,   // validated too late for its round: credited, not merged
  cancelled,  // its round closed, or the run stopped
  diverged,   // validated, and the training diverged in it
  failed,     // too many errors or results without agreement
};

// Whether a trusted worker computes a unit again, and what it found.
enum class UnitCheck {
  none = 0,
  spot = 1,     // drawn: decided only with a house worker's result
  recheck = 2,  // assimilated; a member's other work was false since
  sound = 3,    // rechecked: the same claim
  unsound = 4,  // another claim: to be revoked
  revoked = 5,  // its update is out of the model
};

struct Workunit {
  WorkunitId id = 0;
  RunKey run = 0;
  std::uint64_t unit_index = 0;
  Hash object;  // the sealed task
  Hash snapshot;
  Hash shard;
  std::uint64_t base_version = 0;
  std::uint64_t round = 0;
  std::uint32_t epoch = 0;
  std::uint64_t samples = 0;
  double operations = 0;
  std::uint32_t min_quorum = 1;
  std::uint32_t target_results = 1;
  std::uint32_t max_error_results = 10;
  std::uint32_t max_total_results = 20;
  WorkunitState state = WorkunitState::open;
  ResultId canonical_result = 0;
  Millis created = 0;
  UnitCheck check = UnitCheck::none;
  // Too late for the model; it goes on to find who was honest.
  bool is_late = false;
  // The operator accepted a result of it that nobody recomputed: its ledger
  // entry says so for ever.
  bool is_unverified = false;
  // When it left `open`, when it reached a state that is final, and when a
  // check of it was drawn, begun or done last; 0: not yet, or before that was
  // recorded.
  Millis judged = 0;
  Millis closed = 0;
  Millis checked = 0;
};

// BOINC's RESULT_SERVER_STATE.
enum class ServerState { unsent = 2, in_progress = 4, over = 5 };

// BOINC's RESULT_OUTCOME, as far as we have them.
enum class ResultOutcome {
  init = 0,
  success = 1,
  client_error = 3,
  no_reply = 4,
  didnt_need = 5,
  validate_error = 6,
};

// BOINC's VALIDATE_STATE.
enum class ValidateState {
  init = 0,
  valid = 1,
  invalid = 2,
  error = 4,
  inconclusive = 5,
  too_late = 6,
};

struct Result {
  ResultId id = 0;
  WorkunitId workunit = 0;
  RunKey run = 0;
  ServerState server_state = ServerState::unsent;
  ResultOutcome outcome = ResultOutcome::init;
  ValidateState validate_state = ValidateState::init;
  HostId host = 0;
  UserId user = 0;
  Nonce nonce;
  // Sends a header with a proof, no payload: another result of the unit has it.
  bool is_witness = false;
  // When its unit was decided it came from a proven host or a house worker.
  bool was_anchor = false;
  Hash update;  // object; zero until reported
  Hash claim;   // claim_hash; zero until reported
  ComputeOutcome computed = ComputeOutcome::success;
  SignedHeader header;  // empty until reported
  double credit = 0;
  std::string reason;  // why it was rejected, in words
  Millis sent = 0;
  Millis received = 0;
};

// A published model: evaluated on the held-out part.
struct Evaluation {
  RunKey run = 0;
  std::uint64_t version = 0;
  Hash published;  // object: the averaged parameters
  Millis time = 0;
  std::uint64_t samples = 0;  // assimilated so far
  double loss = 0;
  double accuracy = 0;  // fraction
};

// Something that people should be able to read later.
struct Event {
  std::int64_t id = 0;
  Millis time = 0;
  std::string kind;  // "result_rejected", "run_finished", ...
  RunKey run = 0;
  HostId host = 0;
  std::string text;
};

std::string_view name_of(RunState state);
std::string_view name_of(WorkunitState state);
std::string_view name_of(ServerState state);
std::string_view name_of(ResultOutcome outcome);
std::string_view name_of(ValidateState state);
std::string_view name_of(UnitCheck check);

}  // namespace quorate
