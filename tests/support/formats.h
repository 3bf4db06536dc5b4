// Every format of workunits/ that outsiders' bytes come in, with a sample and
// its reader: what golden, truncation, bit flip and fuzz tests go through.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/bytes.h"

namespace quorate::test {

struct Format {
  std::string name;
  std::string golden_file;
  Bytes sample;
  // Reads bytes of the format; throws what its reader throws.
  std::function<void(ByteView)> read;
};

std::vector<Format> formats();

}  // namespace quorate::test
