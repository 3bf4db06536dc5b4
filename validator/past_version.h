// Parameters of a version that later units of a run may still name as their
// base: in memory, or in a file that the page cache holds as long as it likes.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "base/crypto.h"
#include "base/file.h"

namespace quorate {

class PastVersion {
 public:
  PastVersion() = default;
  PastVersion(std::vector<float> parameters, std::optional<Hash> hash);
  // Writes them to a file in `folder`, which exists, and forgets its name: the
  // file is gone with this, or with the process. Throws io.
  PastVersion(std::span<const float> parameters, std::optional<Hash> hash,
              const fs::path& folder);

  std::span<const float> parameters() const;
  bool is_in_memory() const { return !in_memory_.empty(); }

  std::optional<Hash> hash;  // of the parameters, once somebody asked for it

 private:
  std::vector<float> in_memory_;
  MappedFile in_file_;
};

}  // namespace quorate
