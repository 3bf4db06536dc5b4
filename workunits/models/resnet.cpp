// Residual networks with the normalization before the convolutions: He et al.,
// "Identity mappings in deep residual networks" (2016), with group norm (Wu and
// He, 2018) in the place of batch norm unless that is asked for: no average
// over what volunteers saw then takes part.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "workunits/models/family.h"

namespace quorate {
namespace {

constexpr std::size_t kMaxStages = 8;
constexpr std::uint32_t kMaxBlocks = 256;  // of a stage
// Channels of a group, and the most groups.
constexpr std::uint32_t kGroupChannels = 8;
constexpr std::uint32_t kMaxGroups = 32;

struct Stages {
  std::vector<std::uint32_t> blocks;
  std::vector<std::uint32_t> widths;
};

// The published depths: 18, and 6 n + 2 for small images.
Stages stages_of_depth(std::uint32_t depth) {
  if (depth == 18) return {{2, 2, 2, 2}, {64, 128, 256, 512}};
  if (depth < 8 || depth > 1202 || depth % 6 != 2) {
    throw Error(
        ErrorKind::usage,
        fmt::format("there is no resnet of depth {}: choose 18, or 8, 14, "
                    "20, 26, 32, ... up to 1202",
                    depth));
  }
  std::uint32_t blocks = (depth - 2) / 6;
  return {{blocks, blocks, blocks}, {16, 32, 64}};
}

// "3x16"; throws usage.
void parse_stage(std::string_view stage, Stages& to) {
  std::size_t cross = stage.find('x');
  if (cross == std::string_view::npos) {
    throw Error(ErrorKind::usage,
                fmt::format("\"{}\" is not a stage: write 3x16 for 3 blocks of "
                            "16 channels",
                            stage));
  }
  to.blocks.push_back(parse_number(stage.substr(0, cross)));
  to.widths.push_back(parse_number(stage.substr(cross + 1)));
}

constexpr std::string_view kNorm = "norm=";

Norm parse_norm(std::string_view setting) {
  std::string_view value = setting.substr(kNorm.size());
  if (value == "group") return Norm::group;
  if (value == "batch") return Norm::batch;
  throw Error(
      ErrorKind::usage,
      fmt::format("\"{}\": expected norm=group or norm=batch", setting));
}

// "-20", or nothing for 20; throws usage.
Stages parse_depth(std::string_view depth) {
  if (depth.empty()) return stages_of_depth(20);
  if (depth.front() != '-') {
    throw Error(ErrorKind::usage,
                fmt::format("\"{}\" is not a depth: write resnet-20", depth));
  }
  return stages_of_depth(parse_number(depth.substr(1)));
}

// A depth, then ":3x16,3x32,norm=batch" or a part of that.
ModelSpec parse(std::string_view rest, const DataShape& data) {
  ModelSpec model{"resnet", {}, data.sample};
  std::size_t colon = std::min(rest.find(':'), rest.size());
  std::string_view depth = rest.substr(0, colon);
  Stages stages;
  for (rest.remove_prefix(colon); !rest.empty();) {
    std::size_t comma = std::min(rest.find(',', 1), rest.size());
    std::string_view setting = rest.substr(1, comma - 1);
    rest.remove_prefix(comma);
    if (setting.starts_with(kNorm)) {
      model.norm = parse_norm(setting);
    } else {
      parse_stage(setting, stages);
    }
  }
  if (!depth.empty() && !stages.blocks.empty()) {
    throw Error(ErrorKind::usage, "give a depth or stages, not both");
  }
  if (stages.blocks.empty()) stages = parse_depth(depth);
  model.widths = stages.widths;
  model.widths.push_back(data.classes);
  model.blocks = stages.blocks;
  return model;
}

std::uint32_t depth_of(const ModelSpec& model) {
  std::uint32_t blocks = 0;
  for (std::uint32_t stage : model.blocks) blocks += stage;
  return 2 * blocks + 2;
}

bool has_published_depth(const ModelSpec& model) {
  std::uint32_t depth = depth_of(model);
  if (depth != 18 && (depth < 8 || depth > 1202 || depth % 6 != 2)) {
    return false;
  }
  Stages stages = stages_of_depth(depth);
  return stages.blocks == model.blocks &&
         std::equal(stages.widths.begin(), stages.widths.end(),
                    model.widths.begin(), model.widths.end() - 1);
}

std::string rest(const ModelSpec& model) {
  std::string depth;
  std::vector<std::string> settings;
  if (has_published_depth(model)) {
    depth = fmt::format("-{}", depth_of(model));
  } else {
    for (std::size_t i = 0; i < model.blocks.size(); ++i) {
      settings.push_back(
          fmt::format("{}x{}", model.blocks[i], model.widths[i]));
    }
  }
  if (model.norm == Norm::batch) settings.push_back("norm=batch");
  if (settings.empty()) return depth;
  return fmt::format("{}:{}", depth, fmt::join(settings, ","));
}

void write(const ModelSpec& model, nlohmann::json& json) {
  json["widths"] = model.widths;
  json["input"] = to_json(model.input);
  json["blocks"] = model.blocks;
  if (model.norm == Norm::batch) json["norm"] = "batch";
}

void read(const JsonFields& fields, ModelSpec& model) {
  model.widths = numbers_from_json(fields, "widths", kMaxWidth);
  model.input = shape_from_json(fields, "input");
  model.blocks = numbers_from_json(fields, "blocks", kMaxBlocks);
  if (!fields.has("norm")) return;
  if (fields.text("norm", 32) != "batch") {
    throw Error(
        ErrorKind::corrupt,
        fields.label("norm") + ": expected \"batch\", or none for group norm");
  }
  model.norm = Norm::batch;
}

std::string fault(const ModelSpec& model) {
  std::string fault =
      fault_of_widths("resnet", model.widths, 2, kMaxStages + 1);
  if (!fault.empty()) return fault;
  if (model.blocks.size() + 1 != model.widths.size()) {
    return fmt::format(
        "resnet has a number of blocks for each of {} stages, "
        "found {}",
        model.widths.size() - 1, model.blocks.size());
  }
  for (std::uint32_t blocks : model.blocks) {
    if (blocks == 0 || blocks > kMaxBlocks) {
      return fmt::format("expected 1 to {} blocks of a stage, found {}",
                         kMaxBlocks, blocks);
    }
  }
  return fault_of_images("resnet", model.input, 1);
}

std::uint32_t groups_of(std::uint32_t channels) {
  std::uint32_t groups = std::clamp(channels / kGroupChannels, 1U, kMaxGroups);
  while (channels % groups != 0) --groups;
  return groups;
}

void normalize_and_relu(LayerChain& chain, Norm norm) {
  if (norm == Norm::batch) {
    chain.batch_norm();
  } else {
    chain.group_norm(groups_of(chain.out().channels));
  }
  chain.activation(Activation::relu);
}

LayerChain::Conv2d conv3x3(std::uint32_t channels, std::uint32_t stride) {
  return {.channels = channels,
          .window = 3,
          .stride = stride,
          .padding = 1,
          .bias = false};
}

// Where the shape changes, the shortcut is a convolution too and begins after
// the first normalization.
void add_block(LayerChain& chain, std::uint32_t channels, std::uint32_t stride,
               Norm norm) {
  bool is_same = stride == 1 && channels == chain.out().channels;
  if (!is_same) normalize_and_relu(chain, norm);
  LayerChain branch = chain.next();
  if (is_same) normalize_and_relu(branch, norm);
  branch.conv2d(conv3x3(channels, stride));
  normalize_and_relu(branch, norm);
  branch.conv2d(conv3x3(channels, 1));
  LayerChain shortcut = chain.next();
  if (!is_same) {
    shortcut.conv2d({.channels = channels, .stride = stride, .bias = false});
  }
  chain.residual(branch, shortcut);
}

LayerChain layers(const ModelSpec& model) {
  LayerChain chain(model.input);
  chain.conv2d(conv3x3(model.widths.front(), 1));
  for (std::size_t stage = 0; stage < model.blocks.size(); ++stage) {
    for (std::uint32_t block = 0; block < model.blocks[stage]; ++block) {
      add_block(chain, model.widths[stage], stage > 0 && block == 0 ? 2 : 1,
                model.norm);
    }
  }
  normalize_and_relu(chain, model.norm);
  chain.mean_pixels();
  chain.linear(model.widths.back());
  return chain;
}

}  // namespace

const ModelFamily kResnet = {"resnet",
                             "resnet (of depth 20), resnet-18, resnet-8, -14, "
                             "-20, -32, ..., -110, resnet:3x16,3x32 (blocks x "
                             "channels of each stage), resnet-20:norm=batch",
                             false,
                             parse,
                             rest,
                             write,
                             read,
                             fault,
                             layers};

}  // namespace quorate
