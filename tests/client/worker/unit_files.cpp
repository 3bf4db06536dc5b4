#include "tests/client/worker/unit_files.h"

#include "base/arithmetic.h"
#include "base/random.h"
#include "tests/support/samples.h"
#include "workunits/objects/safetensors.h"
#include "workunits/objects/shard.h"
#include "workunits/sealed.h"

namespace quorate::worker {
namespace {

constexpr SampleShape kShape{6, 6, 1};
constexpr std::uint32_t kClasses = 4;

Bytes make_shard(std::uint32_t samples) {
  RandomStream words(7, 8, 9);
  Bytes images(std::size_t{samples} * kShape.size());
  for (auto& pixel : images) {
    pixel = static_cast<std::uint8_t>(words.next() >> 24);
  }
  Bytes labels(samples);
  for (auto& label : labels) {
    label = static_cast<std::uint8_t>(integer_below(words.next(), kClasses));
  }
  return write_shard({kShape, samples, images, labels});
}

Hash write_object(const fs::path& path, ByteView bytes) {
  write_file_durably(path, bytes);
  return sha256(bytes);
}

}  // namespace

UnitFiles::UnitFiles(const UnitSize& size) {
  task_ = test::sample_task();
  task_.model = {"mlp", {kShape.size(), size.hidden, kClasses}};
  task_.snapshot = write_object(
      folder_ / "snapshot",
      write_parameters(task_.model, initial_parameters(task_.model, 3)));
  task_.shard = write_object(folder_ / "shard", make_shard(size.samples));
  task_.range.shard_samples = size.samples;
  task_.range.first = 0;
  task_.range.steps = size.steps;
  task_.range.batch = size.batch;
  task_.inverse_batch = 1.0F / static_cast<float>(size.batch);
  task_.optimizer.learning_rate = size.learning_rate;
  task_.digest_every = digest_interval(size.steps);
  seal_task(task_);
}

void UnitFiles::seal_task(const TrainingTask& task) {
  write_file_durably(folder_ / "unit",
                     seal(encode(task), SealKind::workunit,
                          test::sample_project(), test::sample_key(1)));
}

protocol::ComputeRequest UnitFiles::request(std::uint64_t job,
                                            const std::string& name) const {
  return {job,
          test::sample_project(),
          test::sample_key(1).public_key(),
          folder_ / "unit",
          folder_ / "snapshot",
          folder_ / "shard",
          folder_ / name.c_str(),
          folder_ / (name + ".checkpoint").c_str()};
}

protocol::EvaluateRequest UnitFiles::evaluation(std::uint64_t job,
                                                int times) const {
  protocol::EvaluateRequest request{
      job, to_json(task_.model), folder_ / "snapshot", {}};
  for (int i = 0; i < times; ++i) request.shards.push_back(folder_ / "shard");
  return request;
}

}  // namespace quorate::worker
