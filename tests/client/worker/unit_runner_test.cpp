#include "client/worker/units/unit_runner.h"

#include <doctest/doctest.h>

#include "base/error.h"
#include "kernels/devices/backends.h"
#include "tests/client/worker/unit_files.h"
#include "tests/support/samples.h"
#include "workunits/models/model_spec.h"
#include "workunits/objects/safetensors.h"

namespace quorate::worker {
namespace {

// A runner on plain loops, which every machine has.
struct Runner {
  std::unique_ptr<Backend> backend = make_backend("reference");
  SystemClock clock;
  UnitRunner runner{*backend, clock};

  protocol::WorkerReply compute(const protocol::ComputeRequest& request) {
    ScriptedJob job;
    return runner.compute(request, job);
  }
  Claim claim(const protocol::ComputeRequest& request) {
    return std::get<protocol::ComputeDone>(compute(request)).claim;
  }
  std::string refusal(const protocol::ComputeRequest& request,
                      ErrorKind kind = ErrorKind::corrupt) {
    try {
      compute(request);
    } catch (const Error& error) {
      CHECK(error.kind() == kind);
      return error.what();
    }
    return "no error";
  }
};

bool mentions(const std::string& text, const std::string& part) {
  CAPTURE(text);
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a unit gives a claim and the update that it names") {
  UnitFiles files;
  Runner runner;

  auto done = std::get<protocol::ComputeDone>(runner.compute(files.request(7)));

  CHECK(done.job == 7);
  CHECK(done.steps == 12);
  CHECK(done.claim.outcome == ComputeOutcome::success);
  CHECK(done.claim.samples == 48);
  CHECK(done.claim.digests.size() == 6);
  Bytes update = read_file(files.folder() / "update");
  CHECK(sha256(update) == done.claim.update);
  CHECK(read_parameters(files.task().model, update, "update").size() ==
        parameter_count(files.task().model));
  CHECK_FALSE(fs::exists(files.folder() / "update.checkpoint"));
}

TEST_CASE("a sealed unit with fewer symbols than its text is refused") {
  UnitFiles files;
  TrainingTask task = files.task();
  task.model = {"layers", {11}, {1, 8, 1}};
  task.model.list = R"([{"channels":4,"layer":"embedding","symbols":10},)"
                    R"({"layer":"linear","outputs":11}])";
  files.seal_task(task);
  CHECK(mentions(Runner().refusal(files.request(1)),
                 "the embedding has 10 symbols, and the text 11"));
}

TEST_CASE("stopping at any step and going on changes nothing of the claim") {
  UnitFiles files;
  Runner runner;
  Claim expected = runner.claim(files.request(1));
  for (std::uint32_t stop_at = 0; stop_at < 12; ++stop_at) {
    CAPTURE(stop_at);
    ScriptedJob job(stop_at);
    auto request = files.request(2, "resumed");

    auto stopped = runner.runner.compute(request, job);
    CHECK(std::get<protocol::WorkerStopped>(stopped).job == 2);
    CHECK_FALSE(fs::exists(request.update));
    auto done = std::get<protocol::ComputeDone>(runner.compute(request));

    CHECK(done.claim == expected);
    CHECK(done.steps == 12 - stop_at);
    fs::remove(request.update);
  }
}

TEST_CASE("a checkpoint that was due serves after a kill") {
  UnitFiles files;
  Runner runner;
  Claim expected = runner.claim(files.request(1));
  auto request = files.request(2, "killed");
  ScriptedJob job(5);
  job.checkpoints = true;
  runner.runner.compute(request, job);  // its own last save is of step 5 too

  auto done = std::get<protocol::ComputeDone>(runner.compute(request));

  CHECK(done.claim == expected);
  CHECK(done.steps == 7);
}

TEST_CASE("a checkpoint that does not fit is ignored and goes") {
  UnitFiles files;
  Runner runner;
  Claim expected = runner.claim(files.request(1));
  auto request = files.request(2, "spoilt");
  write_file_durably(request.checkpoint, as_bytes("not a checkpoint"));

  auto done = std::get<protocol::ComputeDone>(runner.compute(request));

  CHECK(done.claim == expected);
  CHECK(done.steps == 12);
  CHECK_FALSE(fs::exists(request.checkpoint));
}

TEST_CASE("a checkpoint of another unit is not taken for this one") {
  UnitFiles files;
  Runner runner;
  auto request = files.request(1);
  ScriptedJob job(4);
  runner.runner.compute(request, job);
  TrainingTask other = files.task();
  other.unit_index += 1;
  other.unit_seed = unit_seed(other.run, other.unit_index);
  files.seal_task(other);

  auto done = std::get<protocol::ComputeDone>(runner.compute(request));

  CHECK(done.steps == 12);
}

TEST_CASE("without a checkpoint path nothing is kept") {
  UnitFiles files;
  Runner runner;
  auto request = files.request(1);
  request.checkpoint.clear();
  ScriptedJob job(4);
  runner.runner.compute(request, job);
  CHECK(std::get<protocol::ComputeDone>(runner.compute(request)).steps == 12);
}

TEST_CASE("where the disk has to stay free a checkpoint is left out") {
  UnitFiles files;
  Runner runner;
  auto request = files.request(1);
  request.keep_free = UINT64_MAX;
  ScriptedJob job(4);
  auto stopped = runner.runner.compute(request, job);
  CHECK(std::get<protocol::WorkerStopped>(stopped).job == 1);
  CHECK_FALSE(fs::exists(request.checkpoint));
  // but an update is the whole work
  CHECK(std::get<protocol::ComputeDone>(runner.compute(request)).steps == 12);
  CHECK(fs::exists(request.update));
}

TEST_CASE("a diverging unit ends honestly and writes no update") {
  UnitFiles files({.learning_rate = 1e30F});
  Runner runner;
  auto done = std::get<protocol::ComputeDone>(runner.compute(files.request(1)));
  CHECK(done.claim.outcome == ComputeOutcome::diverged);
  CHECK(done.claim.diverged_step > 0);
  CHECK(done.claim.update.is_zero());
  CHECK_FALSE(fs::exists(files.folder() / "update"));
}

TEST_CASE("a bad seal is refused") {
  UnitFiles files;
  Runner runner;
  SUBCASE("changed bytes") {
    Bytes sealed = read_file(files.folder() / "unit");
    sealed[10] ^= 1;
    write_file_durably(files.folder() / "unit", sealed);
    CHECK(mentions(runner.refusal(files.request(1)), "workunit "));
  }
  SUBCASE("another project's key") {
    auto request = files.request(1);
    request.project_key = test::sample_key(2).public_key();
    CHECK(mentions(runner.refusal(request), "workunit "));
  }
  SUBCASE("another project") {
    auto request = files.request(1);
    request.project = project_id_of(test::sample_key(2).public_key());
    CHECK(mentions(runner.refusal(request), "workunit "));
  }
  CHECK_FALSE(fs::exists(files.folder() / "update"));
}

TEST_CASE("objects that are not those of the task are refused") {
  UnitFiles files;
  Runner runner;
  for (std::string name : {"shard", "snapshot"}) {
    CAPTURE(name);
    fs::path path = files.folder() / name;
    Bytes good = read_file(path);
    runner.claim(files.request(1));  // keeps the good file mapped and checked
    Bytes bad = good;
    bad.back() ^= 1;
    write_file_durably(path, bad);

    std::string why = runner.refusal(files.request(1));

    CHECK(mentions(why, name + " " + path.string() +
                            ": expected a file with SHA-256 " +
                            sha256(good).hex()));
    CHECK(mentions(why, "found " + sha256(bad).hex()));
    write_file_durably(path, good);
  }
}

TEST_CASE("a task of another arithmetic is unsupported") {
  UnitFiles files;
  Runner runner;
  TrainingTask task = files.task();
  task.arithmetic = 99;
  files.seal_task(task);
  CHECK(mentions(runner.refusal(files.request(1), ErrorKind::unsupported),
                 "needs arithmetic version 99"));
}

TEST_CASE("a missing file is io and names the file") {
  UnitFiles files;
  Runner runner;
  auto request = files.request(1);
  fs::remove(request.shard);
  CHECK(mentions(runner.refusal(request, ErrorKind::io), request.shard));
}

TEST_CASE("evaluation counts every sample of every shard") {
  UnitFiles files;
  Runner runner;
  ScriptedJob job;
  auto once = std::get<protocol::EvaluateDone>(
      runner.runner.evaluate(files.evaluation(1), job));
  auto thrice = std::get<protocol::EvaluateDone>(
      runner.runner.evaluate(files.evaluation(2, 3), job));
  CHECK(once.samples == 256);
  CHECK(once.correct > 0);
  CHECK(once.correct < 256);
  CHECK(once.loss > 0.5);
  CHECK(once.loss < 5);
  CHECK(thrice.samples == 3 * once.samples);
  CHECK(thrice.correct == 3 * once.correct);
  CHECK(thrice.loss == doctest::Approx(once.loss));
}

TEST_CASE("an evaluation stops between shards") {
  UnitFiles files;
  Runner runner;
  ScriptedJob job(1);
  auto reply = runner.runner.evaluate(files.evaluation(5, 3), job);
  CHECK(std::get<protocol::WorkerStopped>(reply).job == 5);
}

}  // namespace quorate::worker
