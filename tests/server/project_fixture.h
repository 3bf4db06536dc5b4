// A project in one process, without sockets, threads or real time: the daemons
// on a store, an object store and a clock that the test moves, one tiny data
// set, and volunteers who compute real results.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "server/datasets/manifest.h"
#include "server/project/project_core.h"
#include "tests/support/temporary_folder.h"
#include "validator/replay.h"
#include "workunits/training/trainer.h"

namespace quorate::test {

// Training samples of 4x4 pixels in 2 classes, and some for the test. One shard
// has 270, several have 10,240 each and the last one a few less.
DatasetManifest tiny_dataset(ObjectStore& objects, std::uint32_t shards = 1);

// A user's machine: its keys and what the server calls it.
struct Volunteer {
  PrivateKey account = PrivateKey::generate();
  PrivateKey key = PrivateKey::generate();
  UserId user = 0;
  HostId host = 0;
};

// What a volunteer does differently from an honest one.
struct Forgery {
  std::function<void(TrainingResult&)> result;  // before the header is made
  std::function<void(ResultHeader&)> header;    // before it is signed
  std::optional<Bytes> upload;                  // instead of the update
  bool wrong_key = false;                       // signs with another key
};
// A plausible update that is not the unit's: another for every salt.
Forgery lie(std::uint8_t salt = 1);
// The training was no longer finite at the first step: as every honest host
// would say.
Forgery divergence();

struct ProjectOptions {
  std::string rule = "vc-asgd";
  std::string rule_settings{};
  std::uint32_t quorum = 2;
  std::uint32_t local_steps = 8;  // of 33 in an epoch: 5 units
  std::uint32_t epochs = 1;
  std::uint32_t round_units = 0;
  std::uint32_t assimilators = 1;
  Consistency consistency = Consistency::strong;
  std::uint32_t house_workers = 0;
  // As a project without trust: every quorum counts, nobody becomes proven.
  std::uint32_t proven_after = 0;
  Seconds proven_time{0};
  double spot_check = 0;
  bool anchor = false;
  // Else every update is a usual one: as if a very large one were confirmed.
  bool is_bounded = false;
  std::uint32_t evaluate_every_versions = 2;
  Roles roles{};
  bool on_disk = false;  // else the store is in memory and cannot be reopened
  std::string model = "mlp:3";
  std::uint32_t shards = 1;
};

class ProjectFixture {
 public:
  explicit ProjectFixture(ProjectOptions options = {});

  // Everything in memory is lost and loaded again. Requires on_disk.
  void reopen();
  // Does `what` in a transaction that is never committed, then reopens.
  void crash_during(const std::function<void()>& what);

  Volunteer join();
  // Another machine of the same user.
  Volunteer join(const Volunteer& same_user);

  // A job of the writer, settled and committed.
  void job(const std::function<void()>& what);
  // Lets time pass, and the daemons notice it.
  void pass(Seconds time);

  using Answer = std::shared_ptr<std::optional<WorkAnswer>>;
  // The answer is empty as long as the host waits.
  Answer ask_later(const Volunteer& who, const WorkWish& request);
  // Asks without waiting; holding: results that the host names.
  WorkAnswer ask(const Volunteer& who, std::uint32_t want = 1,
                 const std::vector<ResultId>& holding = {});
  // The same of a host that says which shards it has.
  Assignment ask_with(const Volunteer& who, const std::vector<Hash>& shards);
  // The one assignment that the host is expected to get now: the oldest replica
  // that suits, whichever host was drawn for it, else of a new unit.
  Assignment take(const Volunteer& who);
  // The server's own workers as a host.
  Volunteer house();
  // The unit that a house worker is expected to get now.
  Assignment take_as_house();
  bool has_house_work();  // takes it, if there is any
  WorkAnswer heartbeat(const Volunteer& who,
                       const std::vector<ResultId>& holding);
  void give_up(const Volunteer& who, ResultId result, const std::string& why);

  // Computes a unit as every honest host does.
  TrainingResult compute(const Assignment& assignment);
  SignedHeader upload(const Volunteer& who, const Assignment& assignment,
                      const Forgery& forgery = {});
  Acknowledgement send(const Volunteer& who, ResultId result,
                       const SignedHeader& header);
  // upload() and send().
  Acknowledgement report(const Volunteer& who, const Assignment& assignment,
                         const Forgery& forgery = {});
  // Asks and reports until nobody gets work any more.
  void train_to_end(const std::vector<Volunteer>& volunteers);

  ProjectState& state() { return core_->state(); }
  Daemons& daemons() { return core_->daemons(); }
  Writer& writer() { return core_->writer(); }
  Uploads& uploads() { return core_->uploads(); }
  TrainingRun& run() { return state().runs.begin()->second; }
  Result result(ResultId id) { return store().result(id).value(); }
  Workunit unit_of(ResultId id) {
    return store().workunit(result(id).workunit).value();
  }
  std::vector<Result> results_of_unit(WorkunitId id) {
    return store().results_of({&id, 1});
  }
  const Host& host(const Volunteer& who) {
    return *state().hosts.host(who.host);
  }
  std::vector<LedgerEntry> ledger();
  std::vector<ResultAssimilated> assimilated();
  std::size_t events(const std::string& kind);
  LedgerSources ledger_sources();

  ManualClock clock;
  // Published versions that were to be evaluated are not: no house worker runs.
  ServerSettings settings;

 private:
  void open();
  Store& store() { return core_->store(); }
  ObjectStore& objects() { return core_->objects(); }
  void create_run();
  void lift_bound();

  ProjectOptions options_;
  TemporaryFolder root_;
  ProjectFolder folder_;
  ProjectKeys keys_;
  std::unique_ptr<ProjectCore> core_;
  std::map<Hash, TrainingResult> computed_;  // by workunit
};

// What memory has of open units is what the store has.
void check_memory(ProjectFixture& project);

// That, chain, seals and objects fit, and a replay gives the server's own
// model.
void check_ledger(ProjectFixture& project);

}  // namespace quorate::test
