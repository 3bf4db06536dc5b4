#include "tests/server/project_fixture.h"

#include <cstdlib>
#include <string_view>

#include <doctest/doctest.h>

#include "base/arithmetic.h"
#include "kernels/devices/backends.h"
#include "server/datasets/dataset.h"
#include "server/units/sealed_tasks.h"
#include "workunits/objects/safetensors.h"

namespace quorate::test {
namespace {

ProjectKeys new_keys() {
  return keys_of(PrivateKey::generate(), PrivateKey::generate());
}

// As the server has it, or with QUORATE_TEST_STORE=memory that of simulations.
std::unique_ptr<Store> store_of_test() {
  const char* kind = std::getenv("QUORATE_TEST_STORE");
  return kind != nullptr && std::string_view(kind) == "memory"
             ? open_memory_store()
             : open_sqlite_store(":memory:");
}

}  // namespace

DatasetManifest tiny_dataset(ObjectStore& objects, std::uint32_t shards) {
  const std::uint32_t samples = shards == 1 ? 300 : 11'370 * shards;
  DatasetSource source;
  source.kind = "glyphs";
  source.shape = {4, 4, 1};
  source.classes = 2;
  for (std::uint32_t i = 0; i < samples; ++i) {
    std::uint32_t label = i % 2;
    for (std::uint32_t pixel = 0; pixel < 16; ++pixel) {
      bool is_bright = pixel % 2 == label;
      source.train.images.push_back(static_cast<std::uint8_t>(
          (is_bright ? 180 : 20) + (i * 7 + pixel * 13) % 50));
    }
    source.train.labels.push_back(static_cast<std::uint8_t>(label));
  }
  return build_dataset(source, {"tiny"}, objects);
}

Forgery lie(std::uint8_t salt) {
  Forgery forgery;
  forgery.result = [salt](TrainingResult& result) {
    // The lowest bits of the last element: finite, and close to the truth.
    result.update.at(result.update.size() - 4) ^= salt;
    result.claim.update = sha256(result.update);
  };
  return forgery;
}

Forgery divergence() {
  Forgery forgery;
  forgery.result = [](TrainingResult& result) {
    result.claim = {};
    result.claim.outcome = ComputeOutcome::diverged;
    result.claim.diverged_step = 1;
    result.update.clear();
  };
  return forgery;
}

ProjectFixture::ProjectFixture(ProjectOptions options)
    : options_(std::move(options)), folder_{root_.path()}, keys_(new_keys()) {
  settings.lease = Seconds(20);
  settings.heartbeat = Seconds(5);
  settings.disk_reserve_mb = 0;
  settings.reservation = Seconds(2);
  settings.house_workers = options_.house_workers;
  settings.trust_proven_after = options_.proven_after;
  settings.trust_proven_time = options_.proven_time;
  settings.trust_spot_check = options_.spot_check;
  settings.trust_anchor = options_.anchor;
  settings.evaluate_every = Seconds(0);
  settings.evaluate_every_versions = options_.evaluate_every_versions;
  make_project_folders(folder_);
  open();
  create_run();
  lift_bound();
}

void ProjectFixture::open() {
  // Not started: every job runs on the test's own thread.
  core_ = std::make_unique<ProjectCore>(
      ProjectParts{folder_, settings, keys_, clock},
      options_.on_disk ? open_sqlite_store(folder_.database())
                       : store_of_test(),
      options_.roles, options_.on_disk, [](const std::string&) {});
  lift_bound();
}

void ProjectFixture::lift_bound() {
  if (options_.is_bounded) return;
  for (auto& [key, training] : state().runs) {
    UpdateSize huge;
    huge.norms.assign(parameters_of(training.run.model).size(), 1e30);
    for (std::size_t i = 0; i < UpdateBound::kWindow; ++i) {
      training.bound.add_confirmed(huge);
    }
  }
}

void ProjectFixture::reopen() {
  REQUIRE(options_.on_disk);
  core_.reset();
  open();
  if (options_.roles.validator) {
    job([this] { daemons().transitioner.look_at_all(); });
  }
}

void ProjectFixture::crash_during(const std::function<void()>& what) {
  store().begin();
  what();
  daemons().settle();
  reopen();
}

void ProjectFixture::create_run() {
  DatasetManifest dataset = tiny_dataset(objects(), options_.shards);
  write_file_durably(folder_.datasets() / "tiny.json",
                     as_bytes(to_json(dataset)));
  Run run;
  fill_secret_random(run.id.bytes);
  run.name = "digits";
  run.dataset = dataset.name;
  run.model = parse_model(options_.model, dataset.shape, dataset.classes);
  run.seed = 7;
  run.batch = 8;
  run.local_steps = options_.local_steps;
  run.epochs = options_.epochs;
  run.optimizer = {0.05F, 0.9F, 0.0F};
  run.rule = options_.rule;
  run.rule_settings = options_.rule_settings;
  run.quorum = options_.quorum;
  run.round_units = options_.round_units;
  run.assimilators = options_.assimilators;
  run.consistency = options_.consistency;
  job([&] {
    std::vector<float> initial = initial_parameters(run.model, run.seed);
    RunCreated created;
    created.run = run.id;
    created.name = run.name;
    created.model = run.model;
    created.dataset = run.dataset;
    for (const ShardEntry& shard : dataset.train) {
      created.shards.push_back(shard.hash);
    }
    created.seed = run.seed;
    created.rule = run.rule;
    created.settings = "{}";
    created.initial = objects().put(write_parameters(run.model, initial));
    run.key = store().insert_run(run, {});
    TrainingRun& training =
        state()
            .runs
            .emplace(run.key,
                     TrainingRun(run, {}, {}, dataset,
                                 make_update_rule(run.rule, run.rule_settings),
                                 ModelState(std::move(initial), run.model)))
            .first->second;
    LedgerEntry first;
    first.body = created;
    daemons().assimilator.begin(training, first);
  });
}

Volunteer ProjectFixture::join() {
  Volunteer fresh;
  job([&] {
    fresh.user =
        state().hosts.register_user(fresh.account.public_key(), "", 0).id;
  });
  return join(fresh);
}

Volunteer ProjectFixture::join(const Volunteer& same_user) {
  Volunteer fresh = same_user;
  fresh.key = PrivateKey::generate();
  job([&] {
    Host host;
    host.key = fresh.key.public_key();
    host.name = "machine";
    host.door = "native";
    fresh.host =
        state().hosts.register_host(host, fresh.account.public_key(), 0).id;
  });
  heartbeat(fresh, {});  // from now on it is active
  return fresh;
}

void ProjectFixture::job(const std::function<void()>& what) {
  core_->job(what);
}

void ProjectFixture::pass(Seconds time) {
  clock.advance(time);
  core_->tick();
}

ProjectFixture::Answer ProjectFixture::ask_later(const Volunteer& who,
                                                 const WorkWish& request) {
  auto answer = std::make_shared<std::optional<WorkAnswer>>();
  job([&] {
    daemons().scheduler.request_work(
        who.host, request,
        [answer](WorkAnswer reply) { *answer = std::move(reply); });
  });
  return answer;
}

WorkAnswer ProjectFixture::ask(const Volunteer& who, std::uint32_t want,
                               const std::vector<ResultId>& holding) {
  WorkWish request;
  request.want = want;
  request.device = "reference";
  request.holding = holding;
  Answer answer = ask_later(who, request);
  REQUIRE(answer->has_value());
  return **answer;
}

Assignment ProjectFixture::ask_with(const Volunteer& who,
                                    const std::vector<Hash>& shards) {
  WorkWish request;
  request.want = 1;
  request.device = "reference";
  for (ResultId id : state().feeder.in_progress(who.host)) {
    request.holding.push_back(id);
  }
  request.shards = shards;
  Answer answer = ask_later(who, request);
  REQUIRE(answer->has_value());
  REQUIRE((*answer)->assignments.size() == 1);
  return (*answer)->assignments.front();
}

Assignment ProjectFixture::take(const Volunteer& who) {
  for (ResultId id : state().feeder.unsent()) state().reservations.release(id);
  WorkAnswer reply = ask(who);
  REQUIRE(reply.assignments.size() == 1);
  return reply.assignments.front();
}

Volunteer ProjectFixture::house() {
  return {PrivateKey::generate(), keys_.house, kHouseUser, state().house_host};
}

Assignment ProjectFixture::take_as_house() {
  std::optional<Assignment> assignment;
  job([&] { assignment = daemons().scheduler.work_for_house(); });
  REQUIRE(assignment.has_value());
  return *assignment;
}

bool ProjectFixture::has_house_work() {
  bool has = false;
  job([&] { has = daemons().scheduler.work_for_house().has_value(); });
  return has;
}

WorkAnswer ProjectFixture::heartbeat(const Volunteer& who,
                                     const std::vector<ResultId>& holding) {
  WorkWish request;
  request.holding = holding;
  std::optional<WorkAnswer> answer;
  job([&] {
    daemons().scheduler.heartbeat(who.host, request, [&](WorkAnswer reply) {
      answer = std::move(reply);
    });
  });
  return answer.value();
}

void ProjectFixture::give_up(const Volunteer& who, ResultId result,
                             const std::string& why) {
  job([&] { daemons().transitioner.on_failed(who.host, result, why); });
}

TrainingResult ProjectFixture::compute(const Assignment& assignment) {
  Hash workunit = assignment.objects.at(0).hash;
  auto known = computed_.find(workunit);
  if (known != computed_.end()) return known->second;
  Bytes sealed = sealed_task_of(store(), objects(), workunit);
  TrainingTask task =
      decode_task(open_sealed(sealed, SealKind::workunit, keys_.id,
                              keys_.project.public_key(), "workunit"));
  std::vector<float> base = read_parameters(
      task.model, objects().read(assignment.objects.at(1).hash), "snapshot");
  Bytes shard = objects().read(assignment.objects.at(2).hash);
  auto backend = make_backend("reference");
  Trainer trainer(task, base, read_shard(shard, 2, "shard"), *backend);
  while (!trainer.is_finished()) trainer.step();
  return computed_.emplace(workunit, trainer.finish()).first->second;
}

SignedHeader ProjectFixture::upload(const Volunteer& who,
                                    const Assignment& assignment,
                                    const Forgery& forgery) {
  TrainingResult result = compute(assignment);
  if (forgery.result) forgery.result(result);
  ResultHeader header;
  header.result_id = static_cast<std::uint64_t>(assignment.result);
  header.nonce = assignment.nonce;
  header.workunit = assignment.objects.at(0).hash;
  header.host = who.key.public_key();
  header.claim = result.claim;
  header.device = "reference";
  header.arithmetic = kArithmeticVersion;
  header.proof = update_proof(header.nonce, header.host, result.update,
                              header.claim.digests);
  if (forgery.header) forgery.header(header);
  Bytes payload = forgery.upload.value_or(result.update);
  if (!payload.empty()) {
    state().open_results.set_uploaded(assignment.result, objects().put(payload),
                                      payload.size());
  }
  return sign_header(header, keys_.id,
                     forgery.wrong_key ? PrivateKey::generate() : who.key);
}

Acknowledgement ProjectFixture::send(const Volunteer& who, ResultId result,
                                     const SignedHeader& header) {
  std::optional<OpenResult> open = state().open_results.find(result);
  Acknowledgement reply;
  if (!open || open->host != who.host) {
    job([&] { reply = daemons().reports.repeat(who.host, result, header); });
    return reply;
  }
  ScreenedReport screened = daemons().reports.screen(*open, header);
  job([&] { reply = daemons().reports.store(who.host, result, screened); });
  return reply;
}

Acknowledgement ProjectFixture::report(const Volunteer& who,
                                       const Assignment& assignment,
                                       const Forgery& forgery) {
  return send(who, assignment.result, upload(who, assignment, forgery));
}

void ProjectFixture::train_to_end(const std::vector<Volunteer>& volunteers) {
  // After a restart what is held for absent hosts is drawn anew.
  for (const Volunteer& who : volunteers) heartbeat(who, {});
  pass(settings.heartbeat);
  for (bool any = true; any;) {
    any = false;
    for (const Volunteer& who : volunteers) {
      for (const Assignment& assignment : ask(who).assignments) {
        any = true;
        report(who, assignment);
      }
    }
  }
}

std::vector<LedgerEntry> ProjectFixture::ledger() {
  std::vector<LedgerEntry> entries;
  for (const LedgerRecord& record : store().ledger(run().run.key, 0, 10000)) {
    entries.push_back(parse_entry(record.line));
  }
  return entries;
}

std::vector<ResultAssimilated> ProjectFixture::assimilated() {
  std::vector<ResultAssimilated> results;
  for (const LedgerEntry& entry : ledger()) {
    if (const auto* one = std::get_if<ResultAssimilated>(&entry.body)) {
      results.push_back(*one);
    }
  }
  return results;
}

std::size_t ProjectFixture::events(const std::string& kind) {
  std::size_t count = 0;
  for (const Event& event : store().events({10000})) {
    if (event.kind == kind) ++count;
  }
  return count;
}

LedgerSources ProjectFixture::ledger_sources() {
  LedgerSources sources;
  sources.records = [this](std::uint64_t seq) -> std::optional<LedgerRecord> {
    std::vector<LedgerRecord> found = store().ledger(run().run.key, seq, 1);
    if (found.empty()) return std::nullopt;
    return found.front();
  };
  sources.objects = [this](const Hash& hash) { return objects().read(hash); };
  sources.tasks = [this](const Hash& hash) {
    return sealed_task_of(store(), objects(), hash);
  };
  sources.keys = keys_.ring;
  return sources;
}

void check_memory(ProjectFixture& project) {
  ProjectState& state = project.state();
  for (const auto& [id, live] : state.feeder.units()) {
    CHECK(live.unit.state == state.store.workunit(id).value().state);
    for (const Result& result : live.results) {
      const Result stored = state.store.result(result.id).value();
      CAPTURE(result.id);
      CHECK(result.server_state == stored.server_state);
      CHECK(result.outcome == stored.outcome);
      CHECK(result.validate_state == stored.validate_state);
      CHECK(result.host == stored.host);
      CHECK(result.claim == stored.claim);
      CHECK(result.reason == stored.reason);
      CHECK(result.credit == stored.credit);
    }
  }
}

void check_ledger(ProjectFixture& project) {
  check_memory(project);
  CHECK(verify_ledger(project.ledger_sources()).first_difference == "");
  ReplayReport replayed = replay(project.ledger_sources());
  CHECK(replayed.ledger.first_difference == "");
  REQUIRE(replayed.model.has_value());
  const ModelState& model = project.run().model;
  CHECK(replayed.model->version() == model.version());
  if (!project.run().is_loaded) return;  // it had ended before a restart
  CHECK(replayed.model->parameters() == model.parameters());
  CHECK(replayed.model->published() == model.published());
}

}  // namespace quorate::test
