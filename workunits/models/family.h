// The table of network families: how each is written, and what layers it has.
// A new family is one file here and one line in family.cpp.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "base/json_fields.h"
#include "workunits/models/layer_spec.h"
#include "workunits/models/model_spec.h"

namespace quorate {

// What a network is made for.
struct DataShape {
  SampleShape sample{};  // of images
  std::uint32_t classes = 0;
  bool is_text = false;  // classes: symbols; a sample is as long as the network
                         // says
};

struct ModelFamily {
  std::string_view name;
  // The forms that parse() reads, for messages.
  std::string_view forms;
  bool takes_text;
  // rest: what follows the name, ":512,128" or "-20". Throws usage with what is
  // wrong, which the caller puts into context.
  ModelSpec (*parse)(std::string_view rest, const DataShape& data);
  // The same as text.
  std::string (*rest)(const ModelSpec& model);
  void (*write)(const ModelSpec& model, nlohmann::json& json);
  // Throws corrupt.
  void (*read)(const JsonFields& fields, ModelSpec& model);
  // What is wrong with the sizes, before layers() believes them; empty if
  // nothing.
  std::string (*fault)(const ModelSpec& model);
  LayerChain (*layers)(const ModelSpec& model);
};

// nullptr if there is none of that name.
const ModelFamily* find_family(std::string_view name);
std::span<const ModelFamily* const> model_families();

extern const ModelFamily kMlp;
extern const ModelFamily kLenet;
extern const ModelFamily kResnet;
extern const ModelFamily kGpt;
extern const ModelFamily kLayerList;

// --- What families share.

inline constexpr std::uint32_t kMaxWidth = 1U << 20;

// ":512,128" -> {512, 128}; throws usage.
std::vector<std::uint32_t> parse_widths(std::string_view rest);
// A whole number; throws usage.
std::uint32_t parse_number(std::string_view text);
// An array of integers from 0 to `most`; throws corrupt.
std::vector<std::uint32_t> numbers_from_json(const JsonFields& fields,
                                             const char* name,
                                             std::uint64_t most);
// "[28,28,1]"; throws corrupt.
SampleShape shape_from_json(const JsonFields& fields, const char* name);
nlohmann::json to_json(const SampleShape& shape);

// Empty, or what is wrong: the number of widths, or one that is 0 or beyond
// kMaxWidth.
std::string fault_of_widths(std::string_view family,
                            std::span<const std::uint32_t> widths,
                            std::size_t least, std::size_t most);
// Of images with at least `extent` rows and columns.
std::string fault_of_images(std::string_view family, const SampleShape& input,
                            std::uint32_t extent);

}  // namespace quorate
