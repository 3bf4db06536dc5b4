#include "workunits/models/model_spec.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "base/json_fields.h"
#include "base/random.h"
#include "workunits/models/family.h"

namespace quorate {
namespace {

// 4 GiB as binary32: what a snapshot file may have.
constexpr std::uint64_t kMaxParameters = 1ULL << 30;
constexpr JsonLimits kJsonLimits{kMaxModelBytes, 24};

std::string known_forms() {
  std::string known = "known are ";
  for (const ModelFamily* family : model_families()) {
    if (family != model_families().front()) known += "; ";
    known += family->forms;
  }
  return known;
}

const ModelFamily& family_of(const ModelSpec& model) {
  const ModelFamily* family = find_family(model.family);
  if (family != nullptr) return *family;
  throw Error(ErrorKind::unsupported,
              fmt::format("model family \"{}\": this program does not know it; "
                          "update it",
                          model.family));
}

std::uint64_t elements_of(const std::vector<TensorSpec>& tensors) {
  std::uint64_t count = 0;
  for (const TensorSpec& tensor : tensors) count += tensor.size();
  return count;
}

// What the first layer and a tied one at the end ask of each other, and of the
// text: its symbols are the classes.
std::string fault_of_tables(const ModelSpec& model,
                            const std::vector<LayerSpec>& layers) {
  const LayerSpec& first = layers.front();
  bool is_text = first.kind == LayerKind::embedding;
  if (is_text && (first.in.height != 1 || first.in.channels != 1)) {
    return "an embedding takes a row of tokens";
  }
  if (is_text && first.symbols < classes_of(model)) {
    return fmt::format(
        "the embedding has {0} symbols, and the text {1}: give "
        "it \"symbols\": {1}, or more",
        first.symbols, classes_of(model));
  }
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const LayerSpec& layer = layers[i];
    if (i > 0 && layer.kind == LayerKind::embedding) {
      return "an embedding is the first layer of a network";
    }
    if (layer.kind != LayerKind::tied_linear) continue;
    if (!is_text || i + 1 != layers.size() ||
        layer.in.channels != first.out.channels ||
        layer.out.channels != first.symbols) {
      return "a tied layer is the last one of a network that begins with an "
             "embedding, of its channels and symbols";
    }
  }
  return {};
}

// What comes out: a row of classes for each target.
std::string fault_of_output(const ModelSpec& model,
                            const std::vector<LayerSpec>& layers) {
  SampleShape expected{1, 1, classes_of(model)};
  if (layers.front().kind == LayerKind::embedding) {
    expected.width = model.input.width;
  }
  if (layers.back().out == expected) return {};
  return fmt::format("the last layer gives {}, expected {}",
                     text_of(layers.back().out), text_of(expected));
}

// Tables and tied layers stand on the outermost level alone.
bool has_inner_table(const std::vector<LayerSpec>& layers, bool is_inner) {
  return std::ranges::any_of(layers, [&](const LayerSpec& layer) {
    return (is_inner && (layer.kind == LayerKind::embedding ||
                         layer.kind == LayerKind::tied_linear)) ||
           has_inner_table(layer.branch, true) ||
           has_inner_table(layer.shortcut, true);
  });
}

// What is wrong with it; empty if nothing.
std::string fault_of(const ModelSpec& model) {
  const ModelFamily* family = find_family(model.family);
  if (family == nullptr) {
    return fmt::format("unknown family \"{}\"", model.family);
  }
  std::string fault = family->fault(model);
  if (!fault.empty()) return fault;
  std::vector<LayerSpec> layers = layers_of(model);
  fault = fault_of_layers(layers);
  if (fault.empty()) fault = fault_of_tables(model, layers);
  if (fault.empty()) fault = fault_of_output(model, layers);
  if (fault.empty() && has_inner_table(layers, false)) {
    fault = "an embedding or a tied layer inside a residual";
  }
  if (!fault.empty()) return fault;
  std::uint64_t parameters = parameter_count(model);
  if (parameters > kMaxParameters) {
    return fmt::format("{} parameters, allowed are {}", parameters,
                       kMaxParameters);
  }
  // Who could not read it back could not open its tasks and ledgers.
  std::size_t bytes = to_json(model).size();
  if (bytes > kMaxModelBytes) {
    return fmt::format("it takes {} bytes, allowed are {}: list fewer layers",
                       bytes, kMaxModelBytes);
  }
  return {};
}

// The letters at the beginning: a family's name.
std::string_view family_name(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size() && text[end] >= 'a' && text[end] <= 'z') ++end;
  return text.substr(0, end);
}

// So that a missing ':' or a typing error is not read as settings.
bool begins_settings(std::string_view rest) {
  return rest.empty() || rest.front() == ':' || rest.front() == '-' ||
         rest.front() == ' ';
}

ModelSpec parse(const std::string& text, const DataShape& data) {
  std::string what =
      data.is_text
          ? fmt::format("model \"{}\" for a text of {} symbols", text,
                        data.classes)
          : fmt::format("model \"{}\" for samples of {} and {} classes", text,
                        text_of(data.sample), data.classes);
  auto refuse = [&](const std::string& why) -> Error {
    return {ErrorKind::usage, what + ": " + why};
  };
  std::string_view name = family_name(text);
  std::string_view rest = std::string_view(text).substr(name.size());
  const ModelFamily* family = find_family(name);
  if (family == nullptr || !begins_settings(rest)) {
    throw refuse("unknown: " + known_forms());
  }
  if (data.is_text && !family->takes_text) {
    throw refuse("it takes images: choose gpt, or a list of layers");
  }
  if (!data.is_text && !is_within_bounds(data.sample)) {
    throw refuse("no samples that a network could take");
  }
  ModelSpec model;
  try {
    model = family->parse(rest, data);
  } catch (const Error& error) {
    throw refuse(fmt::format("{}: {}", error.what(), known_forms()));
  }
  std::string fault = fault_of(model);
  if (!fault.empty()) throw refuse(fault);
  if (takes_text(model) != data.is_text) {
    throw refuse(data.is_text ? "its first layer takes images: begin with an "
                                "embedding"
                              : "it takes text: choose another, or a data set "
                                "that is text (quorate dataset list)");
  }
  return model;
}

}  // namespace

ModelSpec parse_model(const std::string& text, const SampleShape& sample,
                      std::uint32_t classes) {
  return parse(text, {sample, classes});
}

ModelSpec parse_text_model(const std::string& text, std::uint32_t symbols) {
  return parse(text, {{}, symbols, true});
}

std::string name_of(const ModelSpec& model) {
  return model.family + family_of(model).rest(model);
}

std::string title_of(const ModelSpec& model) {
  return model.list.empty() ? name_of(model) : model.family;
}

std::string to_json(const ModelSpec& model) {
  nlohmann::json json = {{"family", model.family}};
  family_of(model).write(model, json);
  return dump_json(json);
}

ModelSpec model_from_json(const std::string& text) {
  nlohmann::json json = parse_json(text, kJsonLimits, "model");
  JsonFields fields(json, "model");
  ModelSpec model;
  model.family = fields.text("family", 32);
  const ModelFamily* family = find_family(model.family);
  if (family != nullptr) family->read(fields, model);
  std::string fault = fault_of(model);
  if (!fault.empty()) throw Error(ErrorKind::corrupt, "model: " + fault);
  return model;
}

std::vector<LayerSpec> layers_of(const ModelSpec& model) {
  return family_of(model).layers(model).layers();
}

bool takes_text(const ModelSpec& model) {
  return layers_of(model).front().kind == LayerKind::embedding;
}

std::uint32_t targets_of(const ModelSpec& model) {
  return takes_text(model) ? model.input.width : 1;
}

std::vector<TensorSpec> parameters_of(const ModelSpec& model) {
  std::vector<LayerSpec> layers = layers_of(model);
  std::vector<TensorSpec> tensors = tensors_of(layers);
  for (TensorSpec& tensor : running_statistics_of(layers)) {
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

std::uint64_t parameter_count(const ModelSpec& model) {
  return trainable_count(model) + statistic_count(model);
}

std::uint64_t trainable_count(const ModelSpec& model) {
  return elements_of(tensors_of(layers_of(model)));
}

std::uint64_t statistic_count(const ModelSpec& model) {
  return elements_of(running_statistics_of(layers_of(model)));
}

std::uint32_t inputs_of(const ModelSpec& model) {
  return layers_of(model).front().in.size();
}

std::uint32_t classes_of(const ModelSpec& model) {
  return model.widths.back();
}

std::string misfit_of(const ModelSpec& model, const SampleShape& sample) {
  SampleShape wanted = model.input;
  if (wanted.size() == 0) {
    if (sample.size() == inputs_of(model)) return {};
    return fmt::format("expected samples of {} values, found {}",
                       inputs_of(model), sample.size());
  }
  if (sample == wanted) return {};
  return fmt::format("expected samples of {}, found {}", text_of(wanted),
                     text_of(sample));
}

double training_operations(const ModelSpec& model) {
  double operations = 0;
  for (const LayerSpec& layer : layers_of(model)) {
    // The samples need no gradient.
    operations += forward_operations(layer) * (operations == 0 ? 2 : 3);
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
      values.push_back(tensor.bound == 0.0F
                           ? tensor.constant
                           : tensor.bound * uniform11(words.next()));
    }
  }
  return values;
}

}  // namespace quorate
