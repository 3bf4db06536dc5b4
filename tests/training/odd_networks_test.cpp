// Networks that nobody would draw, but that are valid: made at random. Each is
// refused with a reason, or trains with the right gradients on every device.
#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "base/error.h"
#include "base/random.h"
#include "kernels/devices/backends.h"
#include "tests/training/loss_of_model.h"

namespace quorate {
namespace {

using test::check_slopes;
using test::LossOfModel;

constexpr SampleShape kSample{4, 3, 2};
constexpr std::uint32_t kClasses = 3;

// Without kinks, so that finite differences are exact enough.
class Generator {
 public:
  explicit Generator(std::uint64_t seed) : random_(seed, 0, 0) {}

  std::string network() {
    return fmt::format(R"(layers {{"layers":[{},{{"layer":"mean_pixels"}},)"
                       R"({{"layer":"linear","outputs":{}}}]}})",
                       list(below(4) + 1, 3), kClasses);
  }

 private:
  std::uint32_t below(std::uint32_t end) {
    return integer_below(random_.next(), end);
  }

  std::string conv(std::uint32_t channels) {
    const std::uint32_t window = 1 + 2 * below(2);
    return fmt::format(
        R"({{"layer":"conv2d","channels":{},"window":{},"padding":{},"bias":{}}})",
        channels, window, window / 2, below(2) == 0);
  }

  // All keep the shape, so that any of them may be in a residual.
  std::string layer(std::uint32_t depth) {
    switch (below(depth > 0 ? 8 : 4)) {
      case 0:
        return conv(kSample.channels);
      case 1:
        return R"({"layer":"group_norm","groups":1})";
      case 2:
        return R"({"layer":"tanh"})";
      case 3:
        return R"({"layer":"silu"})";
      default:
        return residual(depth - 1);
    }
  }

  std::string residual(std::uint32_t depth) {
    const std::string branch = list(below(4), depth);
    if (below(2) == 0) {
      return fmt::format(R"({{"layer":"residual","branch":[{}]}})", branch);
    }
    return fmt::format(
        R"({{"layer":"residual","branch":[{}],"shortcut":[{}]}})", branch,
        list(below(3), depth));
  }

  std::string list(std::uint32_t count, std::uint32_t depth) {
    std::string text;
    for (std::uint32_t i = 0; i < count; ++i) {
      text += (i == 0 ? "" : ",") + layer(depth);
    }
    return text;
  }

  RandomStream random_;
};

// nullopt: refused, with a reason.
std::optional<ModelSpec> parsed(const std::string& text) {
  try {
    return parse_model(text, kSample, kClasses);
  } catch (const Error& error) {
    REQUIRE(error.kind() == ErrorKind::usage);
    REQUIRE(std::string(error.what()).find("layer ") != std::string::npos);
    return std::nullopt;
  }
}

}  // namespace

TEST_CASE("odd networks are refused, or train as they should") {
  auto reference = make_backend("reference");
  auto cpu = make_backend("cpu", 2);
  constexpr std::uint64_t kNetworks = 200;
  int trained = 0;
  for (std::uint64_t seed = 0; seed < kNetworks; ++seed) {
    const std::string text = Generator(seed).network();
    CAPTURE(text);
    const std::optional<ModelSpec> spec = parsed(text);
    if (!spec) continue;
    ++trained;
    LossOfModel loss(*cpu, *spec);
    CHECK(loss.gradients() == LossOfModel(*reference, *spec).gradients());
    check_slopes(loss, 1, 0x1p-9F, 0.02);
  }
  CHECK(trained > 40);
  CHECK(trained < static_cast<int>(kNetworks));
}

TEST_CASE("a residual at the edge of another is refused by name") {
  const auto refused = [](const std::string& layers, const std::string& words) {
    CAPTURE(layers);
    try {
      parse_model("layers {\"layers\":[" + layers +
                      R"(,{"layer":"mean_pixels"},)"
                      R"({"layer":"linear","outputs":3}]})",
                  kSample, kClasses);
    } catch (const Error& error) {
      CHECK(std::string(error.what()).find(words) != std::string::npos);
      return true;
    }
    return false;
  };
  const std::string inner =
      R"({"layer":"residual","branch":[{"layer":"tanh"}]})";
  const std::string tanh = R"({"layer":"tanh"})";
  CHECK(refused(R"({"layer":"residual","branch":[)" + inner + "," + tanh + "]}",
                "layer 0: "));
  CHECK(refused(R"({"layer":"residual","branch":[)" + tanh + "," + inner + "]}",
                "layer 0: "));
  CHECK(refused(R"({"layer":"residual","branch":[)" + tanh +
                    R"(],"shortcut":[)" + inner + "," + tanh + "]}",
                "layer 0: "));
  CHECK(refused(R"({"layer":"residual","branch":[]})", "layer 0: "));
  CHECK_FALSE(refused(R"({"layer":"residual","branch":[)" + tanh + "," + inner +
                          "," + tanh + "]}",
                      ""));
}

}  // namespace quorate
