// Files in IDX, the format of MNIST and its relatives, plain or gzip.
// Grammar (integers are big-endian):
//   images: u32 2051, u32 count, u32 height, u32 width, count*height*width u8
//   labels: u32 2049, u32 count, count u8
// Source: Y. LeCun et al., "The MNIST database", section "File formats".
#pragma once

#include <cstdint>
#include <optional>

#include "server/datasets/readers/data_file.h"

namespace quorate {

enum class IdxKind { images, labels };

// What a file is that begins with `head`; nullopt for other files.
std::optional<IdxKind> idx_kind(ByteView head);

struct IdxImages {
  std::uint32_t count = 0;
  std::uint32_t height = 0;
  std::uint32_t width = 0;
  Bytes pixels;  // [count, height, width]
};

// Reads a whole file. Throws io if it cannot be read, and corrupt, naming the
// file, the place and what was expected, if it is no such file, damaged, too
// short or too long, or declares more than max_bytes of data.
IdxImages read_idx_images(const fs::path& path, std::uint64_t max_bytes,
                          const ReadProgress& progress = {});
Bytes read_idx_labels(const fs::path& path, std::uint64_t max_bytes,
                      const ReadProgress& progress = {});

}  // namespace quorate
