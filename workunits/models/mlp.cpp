// Layers of all inputs, with relu between them.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "workunits/models/family.h"

namespace quorate {
namespace {

constexpr std::size_t kMaxWidths = 64;

// widths: inputs, hidden layers, classes.
ModelSpec parse(std::string_view rest, const DataShape& data) {
  std::vector<std::uint32_t> hidden;
  if (rest.empty()) {
    hidden = {256};
  } else if (rest != ":none") {
    hidden = parse_widths(rest);
  }
  ModelSpec model{"mlp", {data.sample.size()}};
  model.widths.insert(model.widths.end(), hidden.begin(), hidden.end());
  model.widths.push_back(data.classes);
  return model;
}

std::string rest(const ModelSpec& model) {
  std::span<const std::uint32_t> hidden(model.widths);
  hidden = hidden.subspan(1, hidden.size() - 2);
  return hidden.empty() ? ":none" : fmt::format(":{}", fmt::join(hidden, ","));
}

void write(const ModelSpec& model, nlohmann::json& json) {
  json["widths"] = model.widths;
}

void read(const JsonFields& fields, ModelSpec& model) {
  model.widths = numbers_from_json(fields, "widths", kMaxWidth);
}

std::string fault(const ModelSpec& model) {
  return fault_of_widths("mlp", model.widths, 2, kMaxWidths);
}

LayerChain layers(const ModelSpec& model) {
  LayerChain chain({1, 1, model.widths.front()});
  for (std::size_t i = 1; i < model.widths.size(); ++i) {
    if (i > 1) chain.activation(Activation::relu);
    chain.linear(model.widths[i]);
  }
  return chain;
}

}  // namespace

const ModelFamily kMlp = {"mlp",
                          "mlp (one hidden layer of 256), mlp:512,128 (widths "
                          "of the hidden layers), mlp:none (no hidden layer)",
                          false,
                          parse,
                          rest,
                          write,
                          read,
                          fault,
                          layers};

}  // namespace quorate
