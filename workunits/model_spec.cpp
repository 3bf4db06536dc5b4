#include "workunits/model_spec.h"

#include <charconv>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "base/random.h"
#include "workunits/json_fields.h"

namespace quorate {
namespace {

constexpr std::uint32_t kMaxWidth = 1U << 20;
constexpr std::size_t kMaxWidths = 64;
// 4 GiB as binary32: what a snapshot file may have.
constexpr std::uint64_t kMaxParameters = 1ULL << 30;
constexpr std::uint32_t kDefaultHidden = 256;

constexpr std::string_view kKnown =
    "known are mlp (one hidden layer of 256), mlp:512,128 (widths of the "
    "hidden layers) and mlp:none (no hidden layer)";

// What is wrong with it; empty if nothing.
std::string fault_of(const ModelSpec& model) {
  if (model.family != "mlp") {
    return fmt::format("unknown family \"{}\"", model.family);
  }
  if (model.widths.size() < 2 || model.widths.size() > kMaxWidths) {
    return fmt::format("expected 2 to {} widths, found {}", kMaxWidths,
                       model.widths.size());
  }
  for (std::uint32_t width : model.widths) {
    if (width == 0 || width > kMaxWidth) {
      return fmt::format("expected widths of 1 to {}, found {}", kMaxWidth,
                         width);
    }
  }
  std::uint64_t parameters = parameter_count(model);
  if (parameters > kMaxParameters) {
    return fmt::format("{} parameters, allowed are {}", parameters,
                       kMaxParameters);
  }
  return {};
}

// "512,128" -> {512, 128}; throws usage, quoting `text`, the whole model.
std::vector<std::uint32_t> parse_widths(std::string_view list,
                                        const std::string& text) {
  std::vector<std::uint32_t> widths;
  const char* at = list.data();
  const char* end = list.data() + list.size();
  while (true) {
    std::uint32_t width = 0;
    auto [next, error] = std::from_chars(at, end, width);
    if (error != std::errc() || (next != end && *next != ',')) {
      throw Error(ErrorKind::usage,
                  fmt::format("model \"{}\": \"{}\" is no list of widths: {}",
                              text, list, kKnown));
    }
    widths.push_back(width);
    if (next == end) return widths;
    at = next + 1;
  }
}

std::vector<std::uint32_t> hidden_widths(const std::string& text) {
  if (text == "mlp") return {kDefaultHidden};
  if (text == "mlp:none") return {};
  constexpr std::string_view kPrefix = "mlp:";
  if (!text.starts_with(kPrefix)) {
    throw Error(ErrorKind::usage,
                fmt::format("model \"{}\": unknown: {}", text, kKnown));
  }
  return parse_widths(std::string_view(text).substr(kPrefix.size()), text);
}

}  // namespace

std::uint64_t TensorSpec::size() const {
  std::uint64_t product = 1;
  for (std::uint32_t extent : shape) product *= extent;
  return product;
}

ModelSpec parse_model(const std::string& text, std::uint32_t inputs,
                      std::uint32_t classes) {
  ModelSpec model{"mlp", {inputs}};
  for (std::uint32_t width : hidden_widths(text)) model.widths.push_back(width);
  model.widths.push_back(classes);
  std::string fault = fault_of(model);
  if (!fault.empty()) {
    throw Error(ErrorKind::usage,
                fmt::format("model \"{}\" of {} inputs and {} classes: {}",
                            text, inputs, classes, fault));
  }
  return model;
}

std::string name_of(const ModelSpec& model) {
  if (model.widths.size() <= 2) return model.family + ":none";
  return fmt::format(
      "{}:{}", model.family,
      fmt::join(model.widths.begin() + 1, model.widths.end() - 1, ","));
}

std::string to_json(const ModelSpec& model) {
  return dump_json({{"family", model.family}, {"widths", model.widths}});
}

ModelSpec model_from_json(const std::string& text) {
  nlohmann::json json = parse_json(text, {4096, 2}, "model");
  JsonFields fields(json, "model");
  ModelSpec model;
  model.family = fields.text("family", 32);
  const nlohmann::json& widths = fields.at("widths");
  if (!widths.is_array()) {
    throw Error(ErrorKind::corrupt,
                fields.label("widths") + ": expected an array");
  }
  for (const nlohmann::json& width : widths) {
    if (!width.is_number_unsigned() || width.get<std::uint64_t>() > kMaxWidth) {
      throw Error(ErrorKind::corrupt,
                  fmt::format("{}: expected integers of 1 to {}",
                              fields.label("widths"), kMaxWidth));
    }
    model.widths.push_back(width.get<std::uint32_t>());
  }
  std::string fault = fault_of(model);
  if (!fault.empty()) throw Error(ErrorKind::corrupt, "model: " + fault);
  return model;
}

std::vector<TensorSpec> parameters_of(const ModelSpec& model) {
  std::vector<TensorSpec> tensors;
  for (std::size_t layer = 0; layer + 1 < model.widths.size(); ++layer) {
    std::uint32_t in = model.widths[layer];
    std::uint32_t out = model.widths[layer + 1];
    float bound = 1.0F / std::sqrt(static_cast<float>(in));
    // In a torch.nn.Sequential the activations between count as modules.
    std::size_t module = 2 * layer;
    tensors.push_back({fmt::format("{}.weight", module), {out, in}, bound});
    tensors.push_back({fmt::format("{}.bias", module), {out}, bound});
  }
  return tensors;
}

std::uint64_t parameter_count(const ModelSpec& model) {
  std::uint64_t count = 0;
  for (const TensorSpec& tensor : parameters_of(model)) count += tensor.size();
  return count;
}

std::uint32_t inputs_of(const ModelSpec& model) {
  return model.widths.front();
}

std::uint32_t classes_of(const ModelSpec& model) {
  return model.widths.back();
}

double training_operations(const ModelSpec& model) {
  double operations = 0;
  for (std::size_t layer = 0; layer + 1 < model.widths.size(); ++layer) {
    double product = 2.0 * model.widths[layer] * model.widths[layer + 1];
    // The samples need no gradient.
    operations += product * (layer == 0 ? 2 : 3);
  }
  return operations;
}

std::vector<float> initial_parameters(const ModelSpec& model,
                                      std::uint64_t seed) {
  std::vector<float> values;
  values.reserve(parameter_count(model));
  std::uint32_t index = 0;
  for (const TensorSpec& tensor : parameters_of(model)) {
    RandomStream words(seed, stream_of(RandomUse::initialization, index++), 0);
    for (std::uint64_t i = 0; i < tensor.size(); ++i) {
      values.push_back(tensor.bound * uniform11(words.next()));
    }
  }
  return values;
}

}  // namespace quorate
