// The network of LeCun et al., "Gradient-based learning applied to document
// recognition" (1998), section II.B, with relu and max pooling as is usual
// today.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "workunits/models/family.h"

namespace quorate {
namespace {

constexpr std::uint32_t kWidths[] = {6, 16, 120, 84};
// Two halvings, and five pixels for the second window before the last.
constexpr std::uint32_t kExtent = 12;

// widths: channels of both convolutions, hidden layers, classes.
ModelSpec parse(std::string_view rest, const DataShape& data) {
  ModelSpec model{"lenet", {}, data.sample};
  if (rest.empty()) {
    model.widths.assign(std::begin(kWidths), std::end(kWidths));
  } else {
    model.widths = parse_widths(rest);
  }
  model.widths.push_back(data.classes);
  return model;
}

std::string rest(const ModelSpec& model) {
  std::span<const std::uint32_t> widths(model.widths);
  widths = widths.first(widths.size() - 1);
  return std::ranges::equal(widths, kWidths)
             ? ""
             : fmt::format(":{}", fmt::join(widths, ","));
}

void write(const ModelSpec& model, nlohmann::json& json) {
  json["widths"] = model.widths;
  json["input"] = to_json(model.input);
}

void read(const JsonFields& fields, ModelSpec& model) {
  model.widths = numbers_from_json(fields, "widths", kMaxWidth);
  model.input = shape_from_json(fields, "input");
}

std::string fault(const ModelSpec& model) {
  std::string fault = fault_of_widths("lenet", model.widths, 5, 5);
  return fault.empty() ? fault_of_images("lenet", model.input, kExtent) : fault;
}

LayerChain layers(const ModelSpec& model) {
  const std::vector<std::uint32_t>& widths = model.widths;
  LayerChain chain(model.input);
  chain.conv2d({.channels = widths[0], .window = 5, .padding = 2});
  chain.activation(Activation::relu);
  chain.max_pool2d({});
  chain.conv2d({.channels = widths[1], .window = 5});
  chain.activation(Activation::relu);
  chain.max_pool2d({});
  chain.flatten();
  chain.linear(widths[2]);
  chain.activation(Activation::relu);
  chain.linear(widths[3]);
  chain.activation(Activation::relu);
  chain.linear(widths[4]);
  return chain;
}

}  // namespace

const ModelFamily kLenet = {"lenet",
                            "lenet (two convolutions, images of 12 x 12 at "
                            "least), lenet:12,32,120,84 (channels, widths)",
                            false,
                            parse,
                            rest,
                            write,
                            read,
                            fault,
                            layers};

}  // namespace quorate
