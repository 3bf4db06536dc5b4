#include "workunits/training/plan.h"

#include <numeric>

#include <doctest/doctest.h>

#include "workunits/models/model_spec.h"

namespace quorate {
namespace {

constexpr std::size_t kBatch = 4;

std::size_t all_values(const Plan& plan) {
  std::size_t sum = 0;
  for (const PlanValue& value : plan.values) sum += value.size * kBatch;
  return sum;
}

std::vector<LayerSpec> resnet() {
  return layers_of(parse_model("resnet-8", {32, 32, 3}, 10));
}

}  // namespace

TEST_CASE("relu and the sum with a shortcut are parts of other steps") {
  Plan plan = plan_of(resnet(), kBatch, Purpose::training);
  // Convolutions: the first, two per block, two shortcuts; as many norms as
  // convolutions but for the shortcuts, mean and linear.
  CHECK(plan.steps.size() == 9 + 7 + 2);
  for (const PlanStep& step : plan.steps) {
    REQUIRE(step.layer);
    bool is_norm = step.layer->kind == LayerKind::normalize;
    CHECK(step.relu == is_norm);
  }
}

TEST_CASE("all parameters have a step, in declared order") {
  std::vector<LayerSpec> layers = resnet();
  Plan plan = plan_of(layers, kBatch, Purpose::training);
  std::vector<int> uses(tensors_of(layers).size());
  for (const PlanStep& step : plan.steps) {
    std::size_t count = tensors_of(*step.layer, "").size();
    for (std::size_t i = 0; i < count; ++i) ++uses[step.first_tensor + i];
  }
  CHECK(uses == std::vector<int>(uses.size(), 1));
  std::vector<LayerSpec> with_batch_norm =
      layers_of(parse_model("resnet-8:norm=batch", {32, 32, 3}, 10));
  std::vector<int> moves(running_statistics_of(with_batch_norm).size());
  for (const PlanStep& step :
       plan_of(with_batch_norm, kBatch, Purpose::training).steps) {
    std::size_t count = running_statistics_of(*step.layer, "").size();
    for (std::size_t i = 0; i < count; ++i) ++moves[step.first_statistic + i];
  }
  CHECK(moves == std::vector<int>(2 * 7, 1));
  // A shortcut is computed first and declared last.
  CHECK(plan.steps[6].layer->window == 1);
  CHECK(plan.steps[6].first_tensor > plan.steps[7].first_tensor);
}

TEST_CASE("a stream of residuals has one slope, made by adding") {
  std::vector<LayerSpec> layers =
      layers_of(parse_text_model("gpt:layers=3,width=8,heads=2,context=6", 5));
  Plan plan = plan_of(layers, kBatch, Purpose::training);
  std::size_t adding = 0;
  std::optional<std::size_t> stream = plan.values[plan.steps[0].out].slope;
  for (const PlanStep& step : plan.steps) {
    if (!step.addend) continue;
    CHECK(plan.values[*step.addend].slope == stream);
    CHECK(plan.values[step.out].slope == stream);
  }
  for (const PlanStep& step : plan.steps) adding += step.accumulates ? 1U : 0U;
  CHECK(adding == 6);  // the first layer of each branch
}

TEST_CASE("what is not needed at the same time shares memory") {
  Plan training = plan_of(resnet(), kBatch, Purpose::training);
  Plan evaluation = plan_of(resnet(), kBatch, Purpose::evaluation);
  // All values stay for the way back, slopes come and go.
  CHECK(training.arena < 2 * all_values(training));
  CHECK(evaluation.arena < all_values(evaluation) / 3);
  for (const PlanValue& value : evaluation.values) CHECK(!value.slope);
  CHECK(!training.values[0].slope);
}

}  // namespace quorate
