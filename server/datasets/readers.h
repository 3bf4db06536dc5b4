// Where a data set comes from: the built-in one, or files of a known format.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "server/datasets/dataset.h"

namespace quorate {

struct SourceSpec {
  // {"glyphs"}: the built-in set. Else one folder, or the files themselves.
  std::vector<std::string> paths;
  // Of glyphs only.
  std::uint32_t train_samples = 60000;
  std::uint32_t test_samples = 10000;
  std::uint64_t seed = 0;
};

// Reads the whole set. IDX files are recognised by their names, for example
// train-images-idx3-ubyte.gz and t10k-labels.idx1-ubyte; the test part may be
// missing. Throws usage, listing what was looked for and what was found, if
// the files do not make a set; denied if it is too large; corrupt or io for a
// file that is damaged or cannot be read.
DatasetSource open_source(const SourceSpec& spec);

}  // namespace quorate
