#include "workunits/training/inputs.h"

#include <fmt/format.h>

#include "base/error.h"

namespace quorate {

void check_inputs(const ModelSpec& model, std::span<const float> parameters,
                  const ShardView& shard, const std::string& what) {
  auto expect = [&](bool holds, const std::string& why) {
    if (!holds) throw Error(ErrorKind::corrupt, what + ": " + why);
  };
  expect(parameters.size() == parameter_count(model),
         fmt::format("snapshot: expected {} parameters, found {}",
                     parameter_count(model), parameters.size()));
  std::string misfit = misfit_of(model, shard.shape);
  expect(misfit.empty(), "shard: " + misfit);
  check(
      shard.labels.size() == shard.samples &&
          shard.images.size() == std::size_t{shard.samples} * inputs_of(model),
      "a shard view has the bytes that it says");
  std::uint32_t classes = classes_of(model);
  for (std::uint8_t label : shard.labels) {
    if (label < classes) continue;
    expect(false, fmt::format("shard: expected labels below {}, found {}",
                              classes, label));
  }
}

}  // namespace quorate
