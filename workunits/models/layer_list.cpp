// A network that is written out as a list of layers, in JSON. docs/formats.md,
// "Model", has the list of layers and their fields.
#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "workunits/models/family.h"

namespace quorate {
namespace {

using nlohmann::json;

constexpr JsonLimits kLimits{kMaxModelBytes, 24};
constexpr std::size_t kMaxLayers = 1024;  // on one level

[[noreturn]] void reject(const std::string& place, const std::string& why) {
  throw Error(ErrorKind::corrupt, fmt::format("layer {}: {}", place, why));
}

// The fields of one layer. Every one that is there must be taken.
class LayerFields {
 public:
  LayerFields(const json& layer, std::string place)
      : layer_(layer), place_(std::move(place)) {
    if (!layer.is_object() || !layer.contains("layer") ||
        !layer["layer"].is_string()) {
      reject(place_, "expected an object with a field \"layer\"");
    }
  }

  std::string kind() const { return layer_["layer"].get<std::string>(); }
  const std::string& place() const { return place_; }

  std::uint32_t number(const char* name) {
    if (!layer_.contains(name)) {
      reject(place_, fmt::format("{} needs \"{}\"", kind(), name));
    }
    return number_at(name);
  }
  std::uint32_t number(const char* name, std::uint32_t otherwise) {
    return layer_.contains(name) ? number_at(name) : otherwise;
  }
  bool boolean(const char* name, bool otherwise) {
    if (!layer_.contains(name)) return otherwise;
    ++taken_;
    if (!layer_[name].is_boolean()) {
      reject(place_, fmt::format("\"{}\": expected true or false", name));
    }
    return layer_[name].get<bool>();
  }
  float share(const char* name) {
    if (!layer_.contains(name) || !layer_[name].is_number()) {
      reject(place_, fmt::format("{} needs \"{}\", a number", kind(), name));
    }
    ++taken_;
    return layer_[name].get<float>();
  }
  // An empty list if it is not there.
  const json& list(const char* name) {
    static const json kNone = json::array();
    if (!layer_.contains(name)) return kNone;
    ++taken_;
    return layer_[name];
  }
  void expect_all_taken() const {
    if (layer_.size() == taken_ + 1) return;
    reject(place_, fmt::format("{}: a field that it does not have: {}", kind(),
                               layer_.dump()));
  }

 private:
  std::uint32_t number_at(const char* name) {
    ++taken_;
    const json& value = layer_[name];
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() > kMaxWidth) {
      reject(place_, fmt::format("\"{}\": expected a whole number up to {}",
                                 name, kMaxWidth));
    }
    return value.get<std::uint32_t>();
  }

  const json& layer_;
  std::string place_;
  std::size_t taken_ = 0;
};

void add_layers(const json& list, const std::string& prefix, LayerChain& chain);

LayerChain::Windows windows_of(LayerFields& fields) {
  std::uint32_t window = fields.number("window");
  return {.window = window,
          .stride = fields.number("stride", window),
          .padding = fields.number("padding", 0)};
}

void add_residual(LayerFields& fields, LayerChain& chain) {
  LayerChain branch = chain.next();
  LayerChain shortcut = chain.next();
  add_layers(fields.list("branch"), fields.place() + ".branch.", branch);
  add_layers(fields.list("shortcut"), fields.place() + ".shortcut.", shortcut);
  chain.residual(branch, shortcut);
}

bool add_activation(const std::string& kind, LayerChain& chain) {
  static constexpr std::pair<const char*, Activation> kNames[] = {
      {"relu", Activation::relu},
      {"gelu", Activation::gelu},
      {"silu", Activation::silu},
      {"tanh", Activation::tanh},
      {"sigmoid", Activation::sigmoid}};
  for (const auto& [name, activation] : kNames) {
    if (kind != name) continue;
    chain.activation(activation);
    return true;
  }
  return false;
}

void add_layer(LayerFields& fields, LayerChain& chain) {
  std::string kind = fields.kind();
  if (add_activation(kind, chain)) return;
  if (kind == "linear") {
    std::uint32_t outputs = fields.number("outputs");
    chain.linear(outputs, fields.boolean("bias", true));
  } else if (kind == "conv2d") {
    std::uint32_t channels = fields.number("channels");
    chain.conv2d({.channels = channels,
                  .window = fields.number("window"),
                  .stride = fields.number("stride", 1),
                  .padding = fields.number("padding", 0),
                  .groups = fields.number("groups", 1),
                  .bias = fields.boolean("bias", true)});
  } else if (kind == "max_pool2d") {
    chain.max_pool2d(windows_of(fields));
  } else if (kind == "average_pool2d") {
    chain.average_pool2d(windows_of(fields));
  } else if (kind == "mean_pixels") {
    chain.mean_pixels();
  } else if (kind == "flatten") {
    chain.flatten();
  } else if (kind == "group_norm") {
    chain.group_norm(fields.number("groups"));
  } else if (kind == "layer_norm") {
    chain.layer_norm();
  } else if (kind == "batch_norm") {
    chain.batch_norm();
  } else if (kind == "dropout") {
    chain.dropout(fields.share("rate"));
  } else if (kind == "attention") {
    chain.attention(fields.number("heads"));
  } else if (kind == "embedding") {
    std::uint32_t symbols = fields.number("symbols");
    chain.embedding(symbols, fields.number("channels"));
  } else if (kind == "tied_linear") {
    chain.tied_linear(fields.number("symbols"));
  } else if (kind == "residual") {
    add_residual(fields, chain);
  } else {
    reject(fields.place(),
           fmt::format("no kind of layer is called \"{}\"", kind));
  }
}

void add_layers(const json& list, const std::string& prefix,
                LayerChain& chain) {
  if (!list.is_array() || list.size() > kMaxLayers) {
    reject(prefix,
           fmt::format("expected a list of up to {} layers", kMaxLayers));
  }
  for (std::size_t i = 0; i < list.size(); ++i) {
    LayerFields fields(list[i], prefix + std::to_string(i));
    add_layer(fields, chain);
    fields.expect_all_taken();
  }
}

LayerChain layers(const ModelSpec& model) {
  LayerChain chain(model.input);
  add_layers(json::parse(model.list), "", chain);
  return chain;
}

// rest: " " and the JSON text, an object with "layers" and, for a text,
// "context".
ModelSpec parse(std::string_view rest, const DataShape& data) {
  try {
    json file = parse_json(rest.substr(std::min<std::size_t>(1, rest.size())),
                           kLimits, "list of layers");
    JsonFields fields(file, "list of layers");
    ModelSpec model{"layers", {data.classes}, data.sample};
    if (data.is_text) {
      model.input = {1, fields.integer32("context", 1, kMaxWidth), 1};
    }
    model.list = dump_json(fields.array("layers"));
    return model;
  } catch (const Error& error) {
    throw Error(ErrorKind::usage, error.what());
  }
}

std::string rest(const ModelSpec& model) {
  json file = {{"layers", json::parse(model.list)}};
  if (model.input.height == 1) file["context"] = model.input.width;
  return " " + dump_json(file);
}

void write(const ModelSpec& model, json& to) {
  to["layers"] = json::parse(model.list);
  to["input"] = to_json(model.input);
  to["widths"] = model.widths;
}

void read(const JsonFields& fields, ModelSpec& model) {
  model.widths = numbers_from_json(fields, "widths", kMaxWidth);
  model.input = shape_from_json(fields, "input");
  model.list = dump_json(fields.array("layers"));
}

// Reading the layers throws what is wrong with one of them; here it is told.
std::string fault(const ModelSpec& model) {
  std::string fault = fault_of_widths("layers", model.widths, 1, 1);
  if (fault.empty()) fault = fault_of_images("layers", model.input, 1);
  if (!fault.empty()) return fault;
  try {
    if (layers(model).layers().empty()) return "a list without layers";
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

}  // namespace

const ModelFamily kLayerList = {
    "layers", "a file NAME.json with a list of layers (docs/formats.md)",
    true,     parse,
    rest,     write,
    read,     fault,
    layers};

}  // namespace quorate
