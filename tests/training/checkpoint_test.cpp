#include "workunits/training/checkpoint.h"

#include <doctest/doctest.h>

#include "base/error.h"
#include "kernels/devices/backends.h"
#include "tests/support/samples.h"
#include "tests/support/temporary_folder.h"
#include "tests/training/samples.h"

namespace quorate {
namespace {

const Hash kUnit = test::filled<Hash>(0x55);

TrainerState state_after(std::uint32_t steps, const TrainingTask& task) {
  auto backend = make_backend("reference");
  test::TaskShard shard = test::shard_of(task);
  Trainer trainer(task, test::snapshot_of(task), shard.view(), *backend);
  for (std::uint32_t i = 0; i < steps; ++i) trainer.step();
  return trainer.state();
}

bool is_refused(const fs::path& path, const TrainingTask& task) {
  try {
    load_checkpoint(path, kUnit, task);
    return false;
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::corrupt);
    return std::string(error.what()).find(path.string()) != std::string::npos;
  }
}

}  // namespace

TEST_CASE("a unit that was stopped and restored has the same claim") {
  test::TemporaryFolder folder;
  TrainingTask task;
  SUBCASE("mlp") {
    task = test::pattern_task(20);
  }
  SUBCASE("lenet") {
    task = test::image_task(20);
  }
  SUBCASE("batch norm, AdamW") {
    task = test::batch_norm_task(20);
    task.optimizer = test::text_task(1).optimizer;
  }
  auto reference = make_backend("reference");
  TrainingResult whole = test::train(task, *reference);
  const std::string other = list_devices().front().name;
  for (std::uint32_t stop : {0U, 1U, 7U, 19U, 20U}) {
    CAPTURE(stop);
    save_checkpoint(folder / "unit", kUnit, state_after(stop, task));

    // Another device takes over, from the file alone.
    auto backend = make_backend(other);
    auto state = load_checkpoint(folder / "unit", kUnit, task);
    REQUIRE(state);
    test::TaskShard shard = test::shard_of(task);
    Trainer trainer(task, test::snapshot_of(task), shard.view(), *backend);
    trainer.restore(*state);
    CHECK(trainer.steps_done() == stop);
    TrainingResult resumed = test::finish(trainer);
    CHECK(resumed.claim == whole.claim);
    CHECK(resumed.update == whole.update);
  }
}

TEST_CASE("no file is no checkpoint") {
  test::TemporaryFolder folder;
  CHECK_FALSE(load_checkpoint(folder / "none", kUnit, test::pattern_task(4)));
}

TEST_CASE("a checkpoint of another unit or model is refused") {
  test::TemporaryFolder folder;
  TrainingTask task = test::pattern_task(4);
  TrainerState state = state_after(2, task);
  save_checkpoint(folder / "unit", test::filled<Hash>(0x56), state);
  CHECK(is_refused(folder / "unit", task));

  save_checkpoint(folder / "unit", kUnit, state);
  TrainingTask other = task;
  other.model.widths[1] = 20;
  CHECK(is_refused(folder / "unit", other));
  other = task;
  other.range.steps = 1;
  CHECK(is_refused(folder / "unit", other));
  CHECK(load_checkpoint(folder / "unit", kUnit, task) == state);
}

TEST_CASE("a checkpoint that is cut short or changed is refused") {
  test::TemporaryFolder folder;
  TrainingTask task = test::pattern_task(4);
  save_checkpoint(folder / "whole", kUnit, state_after(2, task));
  Bytes whole = read_file(folder / "whole");
  for (std::size_t size = 0; size < whole.size();
       size += size < 200 ? 1 : 997) {
    CAPTURE(size);
    write_file_durably(folder / "unit", ByteView(whole).first(size));
    CHECK(is_refused(folder / "unit", task));
  }
  for (std::size_t at = 0; at < whole.size(); at += 509) {
    CAPTURE(at);
    Bytes changed = whole;
    changed[at] ^= 0x10;
    write_file_durably(folder / "unit", changed);
    CHECK(is_refused(folder / "unit", task));
  }
}

}  // namespace quorate
