#include "workunits/training/samples.h"

#include <set>

#include <doctest/doctest.h>

#include "base/error.h"
#include "kernels/devices/backends.h"
#include "tests/training/samples.h"
#include "workunits/objects/token_shard.h"

namespace quorate {

TEST_CASE("windows lie side by side, all of them shifted, none over the end") {
  CHECK(token_windows(0, 4) == 0);
  CHECK(token_windows(7, 4) == 0);
  CHECK(token_windows(8, 4) == 1);
  CHECK(token_windows(19, 4) == 3);
  Bytes tokens(19);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    tokens[i] = static_cast<std::uint8_t>(i % 17);
  }
  ModelSpec model = parse_text_model("gpt:layers=1,width=8,heads=1,context=4",
                                     /*symbols=*/17);
  auto backend = make_backend("reference");
  Model network(model, 2, *backend);
  Samples samples = Samples::of_text(tokens, 17, 4);
  CHECK(samples.count() == 3);
  std::vector<std::uint32_t> targets;
  const std::uint32_t chosen[] = {2, 0};
  samples.load(chosen, /*shift=*/3, *backend, network, targets);
  CHECK(targets == std::vector<std::uint32_t>{12, 13, 14, 15, 4, 5, 6, 7});
  samples.load(chosen, /*shift=*/0, *backend, network, targets);
  CHECK(targets == std::vector<std::uint32_t>{9, 10, 11, 12, 1, 2, 3, 4});
}

TEST_CASE("shifts change from epoch to epoch and stay below the context") {
  ModelSpec model = parse_text_model("gpt:context=50", 5);
  std::set<std::uint32_t> shifts;
  for (std::uint32_t epoch = 0; epoch < 40; ++epoch) {
    std::uint32_t shift = window_shift(model, 1, 2, epoch);
    CHECK(shift < 50);
    CHECK(shift == window_shift(model, 1, 2, epoch));
    shifts.insert(shift);
  }
  CHECK(shifts.size() > 15);
  CHECK(window_shift(parse_model("mlp", {2, 2, 1}, 2), 1, 2, 3) == 0);
}

TEST_CASE("samples of another kind than the model's are refused") {
  ModelSpec text = parse_text_model("gpt:context=4", 11);
  ModelSpec images = parse_model("mlp", {2, 2, 1}, 3);
  Bytes tokens(100, 1);
  Bytes pixels(12, 1);
  Bytes labels(3, 1);
  Samples of_text = Samples::of_text(tokens, 11, 4);
  Samples of_images = ShardView{{2, 2, 1}, 3, pixels, labels};
  of_text.check_fit(text, "unit 1");
  of_images.check_fit(images, "unit 1");
  CHECK_THROWS_WITH_AS(of_text.check_fit(images, "unit 1"),
                       doctest::Contains("unit 1: shard: a text"), Error);
  CHECK_THROWS_WITH_AS(of_images.check_fit(text, "unit 1"),
                       doctest::Contains("expected a text, found images"),
                       Error);
  CHECK_THROWS_AS(
      of_text.check_fit(parse_text_model("gpt:context=5", 11), "unit 1"),
      Error);
  CHECK_THROWS_AS(
      of_text.check_fit(parse_text_model("gpt:context=4", 10), "unit 1"),
      Error);
}

}  // namespace quorate
