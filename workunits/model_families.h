// The table of network families: what the widths of each mean.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "workunits/layer_spec.h"
#include "workunits/model_spec.h"

namespace quorate {

struct ModelFamily {
  std::string_view name;
  // Between the inputs and the classes, where a person gives none.
  std::span<const std::uint32_t> default_widths;
  // Of all widths, the classes and (mlp) the inputs included.
  std::size_t least_widths;
  std::size_t most_widths;
  // The least height and width of an image; 0: the family takes vectors, whose
  // length is the first width, and no ModelSpec::input.
  std::uint32_t least_extent;
  // widths and input: within the bounds above.
  LayerChain (*layers)(const ModelSpec& model);

  bool takes_images() const { return least_extent != 0; }
};

// nullptr if there is none of that name.
const ModelFamily* find_family(std::string_view name);

}  // namespace quorate
