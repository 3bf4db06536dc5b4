#include "workunits/model_spec.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "base/random.h"
#include "workunits/json_fields.h"
#include "workunits/model_families.h"

namespace quorate {
namespace {

constexpr std::uint32_t kMaxWidth = 1U << 20;
// 4 GiB as binary32: what a snapshot file may have.
constexpr std::uint64_t kMaxParameters = 1ULL << 30;

constexpr std::string_view kKnown =
    "known are mlp (one hidden layer of 256), mlp:512,128 (widths of the "
    "hidden layers), mlp:none (no hidden layer), lenet (two convolutions, "
    "images of 12 x 12 at least) and lenet:12,32,120,84 (channels, widths)";

const ModelFamily& family_of(const ModelSpec& model) {
  const ModelFamily* family = find_family(model.family);
  if (family != nullptr) return *family;
  throw Error(ErrorKind::unsupported,
              fmt::format("model family \"{}\": this program does not know it; "
                          "update it",
                          model.family));
}

std::string fault_of_widths(const ModelFamily& family,
                            std::span<const std::uint32_t> widths) {
  if (widths.size() < family.least_widths ||
      widths.size() > family.most_widths) {
    std::string range = fmt::format("{}", family.least_widths);
    if (family.most_widths != family.least_widths) {
      range += fmt::format(" to {}", family.most_widths);
    }
    return fmt::format("{} has {} widths, the classes counted, found {}",
                       family.name, range, widths.size());
  }
  for (std::uint32_t width : widths) {
    if (width == 0 || width > kMaxWidth) {
      return fmt::format("expected widths of 1 to {}, found {}", kMaxWidth,
                         width);
    }
  }
  return {};
}

std::string fault_of_input(const ModelFamily& family,
                           const SampleShape& input) {
  if (!family.takes_images()) return {};
  if (!is_within_bounds(input)) {
    return fmt::format("expected images of 1 to {} values, found {}",
                       kMaxSampleValues, text_of(input));
  }
  if (std::min(input.height, input.width) < family.least_extent) {
    return fmt::format("images of {} are too small: {} needs {} x {} at least",
                       text_of(input), family.name, family.least_extent,
                       family.least_extent);
  }
  return {};
}

// What is wrong with it; empty if nothing.
std::string fault_of(const ModelSpec& model) {
  const ModelFamily* family = find_family(model.family);
  if (family == nullptr) {
    return fmt::format("unknown family \"{}\"", model.family);
  }
  std::string fault = fault_of_widths(*family, model.widths);
  if (fault.empty()) fault = fault_of_input(*family, model.input);
  if (!fault.empty()) return fault;
  // Each layer by itself, before sizes that follow from it are believed.
  for (const LayerSpec& layer : layers_of(model)) {
    if (!is_within_bounds(layer.out)) {
      return fmt::format("a layer gives {} values, allowed are {}",
                         text_of(layer.out), kMaxSampleValues);
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

// An array of integers up to `most`; throws corrupt.
std::vector<std::uint32_t> numbers_from_json(const JsonFields& fields,
                                             const char* name,
                                             std::uint64_t most) {
  std::vector<std::uint32_t> numbers;
  for (const nlohmann::json& number : fields.array(name)) {
    if (!number.is_number_unsigned() || number.get<std::uint64_t>() > most) {
      throw Error(ErrorKind::corrupt,
                  fmt::format("{}: expected integers of 1 to {}",
                              fields.label(name), most));
    }
    numbers.push_back(number.get<std::uint32_t>());
  }
  return numbers;
}

// The family named, with its widths between inputs and classes.
ModelSpec parse_hidden(const std::string& text) {
  std::size_t colon = text.find(':');
  ModelSpec model{text.substr(0, colon), {}};
  const ModelFamily* family = find_family(model.family);
  if (family == nullptr) {
    throw Error(ErrorKind::usage,
                fmt::format("model \"{}\": unknown: {}", text, kKnown));
  }
  if (colon == std::string::npos) {
    model.widths.assign(family->default_widths.begin(),
                        family->default_widths.end());
  } else if (text.substr(colon + 1) != "none") {
    model.widths = parse_widths(std::string_view(text).substr(colon + 1), text);
  }
  return model;
}

// "[28,28,1]"; throws corrupt.
SampleShape shape_from_json(const JsonFields& fields, const char* name) {
  std::vector<std::uint32_t> extents =
      numbers_from_json(fields, name, kMaxSampleValues);
  if (extents.size() != 3) {
    throw Error(ErrorKind::corrupt,
                fields.label(name) + ": expected height, width and channels");
  }
  return {extents[0], extents[1], extents[2]};
}

}  // namespace

ModelSpec parse_model(const std::string& text, const SampleShape& sample,
                      std::uint32_t classes) {
  ModelSpec model = parse_hidden(text);
  if (family_of(model).takes_images()) {
    model.input = sample;
  } else {
    model.widths.insert(model.widths.begin(), sample.size());
  }
  model.widths.push_back(classes);
  std::string fault = fault_of(model);
  if (!fault.empty()) {
    throw Error(ErrorKind::usage,
                fmt::format("model \"{}\" for samples of {} and {} classes: {}",
                            text, text_of(sample), classes, fault));
  }
  return model;
}

std::string name_of(const ModelSpec& model) {
  const ModelFamily& family = family_of(model);
  std::span<const std::uint32_t> hidden = model.widths;
  hidden = hidden.first(hidden.size() - 1);
  if (!family.takes_images()) hidden = hidden.subspan(1);
  if (hidden.empty()) return model.family + ":none";
  // The one shape that the family is known for.
  if (family.least_widths == family.most_widths &&
      std::ranges::equal(hidden, family.default_widths)) {
    return model.family;
  }
  return fmt::format("{}:{}", model.family, fmt::join(hidden, ","));
}

std::string to_json(const ModelSpec& model) {
  nlohmann::json json = {{"family", model.family}, {"widths", model.widths}};
  if (family_of(model).takes_images()) {
    json["input"] = {model.input.height, model.input.width,
                     model.input.channels};
  }
  return dump_json(json);
}

ModelSpec model_from_json(const std::string& text) {
  nlohmann::json json = parse_json(text, {4096, 2}, "model");
  JsonFields fields(json, "model");
  ModelSpec model;
  model.family = fields.text("family", 32);
  model.widths = numbers_from_json(fields, "widths", kMaxWidth);
  const ModelFamily* family = find_family(model.family);
  if (family != nullptr && family->takes_images()) {
    model.input = shape_from_json(fields, "input");
  }
  std::string fault = fault_of(model);
  if (!fault.empty()) throw Error(ErrorKind::corrupt, "model: " + fault);
  return model;
}

std::vector<LayerSpec> layers_of(const ModelSpec& model) {
  return family_of(model).layers(model).layers();
}

std::vector<TensorSpec> parameters_of(const ModelSpec& model) {
  std::vector<TensorSpec> tensors;
  std::size_t place = 0;
  for (const LayerSpec& layer : layers_of(model)) {
    for (TensorSpec& tensor : tensors_of(layer, place++)) {
      tensors.push_back(std::move(tensor));
    }
  }
  return tensors;
}

std::uint64_t parameter_count(const ModelSpec& model) {
  std::uint64_t count = 0;
  for (const TensorSpec& tensor : parameters_of(model)) count += tensor.size();
  return count;
}

std::uint32_t inputs_of(const ModelSpec& model) {
  return family_of(model).takes_images() ? model.input.size()
                                         : model.widths.front();
}

std::uint32_t classes_of(const ModelSpec& model) {
  return model.widths.back();
}

std::string misfit_of(const ModelSpec& model, const SampleShape& sample) {
  if (family_of(model).takes_images()) {
    if (sample == model.input) return {};
    return fmt::format("expected samples of {}, found {}", text_of(model.input),
                       text_of(sample));
  }
  if (sample.size() == inputs_of(model)) return {};
  return fmt::format("expected samples of {} values, found {}",
                     inputs_of(model), sample.size());
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
      values.push_back(tensor.bound * uniform11(words.next()));
    }
  }
  return values;
}

}  // namespace quorate
