#include "workunits/model_families.h"

#include <algorithm>

namespace quorate {
namespace {

constexpr std::size_t kMaxWidths = 64;

constexpr std::uint32_t kMlpWidths[] = {256};

// widths: inputs, hidden layers, classes.
LayerChain mlp(const ModelSpec& model) {
  LayerChain chain({1, 1, model.widths.front()});
  for (std::size_t i = 1; i < model.widths.size(); ++i) {
    if (i > 1) chain.relu();
    chain.linear(model.widths[i]);
  }
  return chain;
}

constexpr std::uint32_t kLenetWidths[] = {6, 16, 120, 84};
// Two halvings, and five pixels for the second window before the last.
constexpr std::uint32_t kLenetExtent = 12;

// widths: channels of both convolutions, hidden layers, classes. The network
// of LeCun et al., "Gradient-based learning applied to document recognition"
// (1998), section II.B, with relu and max pooling as is usual today.
LayerChain lenet(const ModelSpec& model) {
  const std::vector<std::uint32_t>& widths = model.widths;
  LayerChain chain(model.input);
  chain.conv2d(widths[0], 5, 2);
  chain.relu();
  chain.max_pool2d(2);
  chain.conv2d(widths[1], 5, 0);
  chain.relu();
  chain.max_pool2d(2);
  chain.flatten();
  chain.linear(widths[2]);
  chain.relu();
  chain.linear(widths[3]);
  chain.relu();
  chain.linear(widths[4]);
  return chain;
}

constexpr ModelFamily kFamilies[] = {
    {"mlp", kMlpWidths, 2, kMaxWidths, 0, mlp},
    {"lenet", kLenetWidths, 5, 5, kLenetExtent, lenet}};

}  // namespace

const ModelFamily* find_family(std::string_view name) {
  const auto* found = std::find_if(
      std::begin(kFamilies), std::end(kFamilies),
      [name](const ModelFamily& family) { return family.name == name; });
  return found == std::end(kFamilies) ? nullptr : found;
}

}  // namespace quorate
