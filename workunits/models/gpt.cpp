// A transformer that predicts the next symbol: Radford et al., "Language models
// are unsupervised multitask learners" (2019): learned positions, normalization
// before each branch, gelu, and the table of symbols as weight of the last
// layer unless it is untied.
#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "workunits/models/family.h"

namespace quorate {
namespace {

constexpr std::uint32_t kMaxLayers = 256;
constexpr std::uint32_t kMaxContext = 1U << 16;

// "layers=6,width=384"; throws usage.
void parse_setting(std::string_view setting, ModelSpec& model) {
  std::size_t equals = std::min(setting.find('='), setting.size());
  std::string_view name = setting.substr(0, equals);
  std::string_view value =
      equals == setting.size() ? "" : setting.substr(equals + 1);
  if (name == "layers") {
    model.depth = parse_number(value);
  } else if (name == "width") {
    model.widths.front() = parse_number(value);
  } else if (name == "heads") {
    model.heads = parse_number(value);
  } else if (name == "context") {
    model.input.width = parse_number(value);
  } else if (name == "head" && (value == "tied" || value == "untied")) {
    model.is_tied = value == "tied";
  } else {
    throw Error(ErrorKind::usage,
                fmt::format("\"{}\" is not one of layers=N, width=N, heads=N, "
                            "context=N, head=tied, head=untied",
                            setting));
  }
}

// widths: channels, symbols. input: one row of `context` tokens.
ModelSpec parse(std::string_view rest, const DataShape& data) {
  ModelSpec model{"gpt", {128, data.classes}, {1, 128, 1}};
  model.depth = 4;
  model.heads = 4;
  model.is_tied = true;
  if (rest.empty()) return model;
  std::string_view list = rest.substr(1);
  while (true) {
    std::size_t comma = std::min(list.find(','), list.size());
    parse_setting(list.substr(0, comma), model);
    if (comma == list.size()) return model;
    list.remove_prefix(comma + 1);
  }
}

std::string rest(const ModelSpec& model) {
  return fmt::format(":layers={},width={},heads={},context={},head={}",
                     model.depth, model.widths.front(), model.heads,
                     model.input.width, model.is_tied ? "tied" : "untied");
}

void write(const ModelSpec& model, nlohmann::json& json) {
  json["widths"] = model.widths;
  json["context"] = model.input.width;
  json["layers"] = model.depth;
  json["heads"] = model.heads;
  json["tied"] = model.is_tied;
}

void read(const JsonFields& fields, ModelSpec& model) {
  model.widths = numbers_from_json(fields, "widths", kMaxWidth);
  model.input = {1, fields.integer32("context"), 1};
  model.depth = fields.integer32("layers");
  model.heads = fields.integer32("heads");
  const nlohmann::json& tied = fields.at("tied");
  if (!tied.is_boolean()) {
    throw Error(ErrorKind::corrupt,
                fields.label("tied") + ": expected true or false");
  }
  model.is_tied = tied.get<bool>();
}

std::string fault(const ModelSpec& model) {
  std::string fault = fault_of_widths("gpt", model.widths, 2, 2);
  if (!fault.empty()) return fault;
  if (model.depth == 0 || model.depth > kMaxLayers) {
    return fmt::format("expected 1 to {} layers, found {}", kMaxLayers,
                       model.depth);
  }
  if (model.input.width == 0 || model.input.width > kMaxContext) {
    return fmt::format("expected a context of 1 to {} symbols, found {}",
                       kMaxContext, model.input.width);
  }
  if (model.heads == 0 || model.widths.front() % model.heads != 0) {
    return fmt::format("a width of {} is not shared by {} heads",
                       model.widths.front(), model.heads);
  }
  return {};
}

LayerChain attention_branch(const LayerChain& from, std::uint32_t heads) {
  std::uint32_t width = from.out().channels;
  LayerChain branch = from.next();
  branch.layer_norm();
  branch.linear(3 * width);
  branch.attention(heads);
  branch.linear(width);
  return branch;
}

LayerChain mlp_branch(const LayerChain& from) {
  std::uint32_t width = from.out().channels;
  LayerChain branch = from.next();
  branch.layer_norm();
  branch.linear(4 * width);
  branch.activation(Activation::gelu);
  branch.linear(width);
  return branch;
}

LayerChain layers(const ModelSpec& model) {
  LayerChain chain(model.input);
  chain.embedding(model.widths.back(), model.widths.front());
  for (std::uint32_t i = 0; i < model.depth; ++i) {
    chain.residual(attention_branch(chain, model.heads), chain.next());
    chain.residual(mlp_branch(chain), chain.next());
  }
  chain.layer_norm();
  if (model.is_tied) {
    chain.tied_linear(model.widths.back());
  } else {
    chain.linear(model.widths.back(), /*bias=*/false);
  }
  return chain;
}

}  // namespace

const ModelFamily kGpt = {"gpt",
                          "gpt (4 layers), gpt:layers=6,width=384,heads=6,"
                          "context=256,head=untied (for text)",
                          true,
                          parse,
                          rest,
                          write,
                          read,
                          fault,
                          layers};

}  // namespace quorate
