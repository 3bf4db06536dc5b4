#include "workunits/models/family.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"

namespace quorate {

std::span<const ModelFamily* const> model_families() {
  static constexpr const ModelFamily* kFamilies[] = {&kMlp, &kLenet, &kResnet,
                                                     &kGpt, &kLayerList};
  return kFamilies;
}

const ModelFamily* find_family(std::string_view name) {
  auto all = model_families();
  auto found = std::find_if(all.begin(), all.end(), [&](const auto* family) {
    return family->name == name;
  });
  return found == all.end() ? nullptr : *found;
}

std::uint32_t parse_number(std::string_view text) {
  std::uint32_t number = 0;
  const char* end = text.data() + text.size();
  auto [next, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || next != end) {
    throw Error(ErrorKind::usage,
                fmt::format("\"{}\" is not a whole number", text));
  }
  return number;
}

std::vector<std::uint32_t> parse_widths(std::string_view rest) {
  std::string_view list = rest.substr(1);
  std::vector<std::uint32_t> widths;
  while (true) {
    std::size_t comma = std::min(list.find(','), list.size());
    widths.push_back(parse_number(list.substr(0, comma)));
    if (comma == list.size()) return widths;
    list.remove_prefix(comma + 1);
  }
}

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

SampleShape shape_from_json(const JsonFields& fields, const char* name) {
  std::vector<std::uint32_t> extents =
      numbers_from_json(fields, name, kMaxSampleValues);
  if (extents.size() != 3) {
    throw Error(ErrorKind::corrupt,
                fields.label(name) + ": expected height, width and channels");
  }
  return {extents[0], extents[1], extents[2]};
}

nlohmann::json to_json(const SampleShape& shape) {
  return {shape.height, shape.width, shape.channels};
}

std::string fault_of_widths(std::string_view family,
                            std::span<const std::uint32_t> widths,
                            std::size_t least, std::size_t most) {
  if (widths.size() < least || widths.size() > most) {
    std::string range = fmt::format("{}", least);
    if (most != least) range += fmt::format(" to {}", most);
    return fmt::format("{} has {} widths, the classes counted, found {}",
                       family, range, widths.size());
  }
  for (std::uint32_t width : widths) {
    if (width == 0 || width > kMaxWidth) {
      return fmt::format("expected widths of 1 to {}, found {}", kMaxWidth,
                         width);
    }
  }
  return {};
}

std::string fault_of_images(std::string_view family, const SampleShape& input,
                            std::uint32_t extent) {
  if (!is_within_bounds(input)) {
    return fmt::format("expected images of 1 to {} values, found {}",
                       kMaxSampleValues, text_of(input));
  }
  if (std::min(input.height, input.width) < extent) {
    return fmt::format("images of {} are too small: {} needs {} x {} at least",
                       text_of(input), family, extent, extent);
  }
  return {};
}

}  // namespace quorate
