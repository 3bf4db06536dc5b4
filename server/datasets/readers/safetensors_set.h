// A data set of safetensors files, plain or gzip. Tensors (docs/formats.md):
//   images U8 [n, h, w, c] or [n, h, w], labels U8 or I64 [n]: one part, the
//     file's name says which (a shard of ours is such a file)
//   train_images, train_labels, test_images, test_labels: both parts
#pragma once

#include "server/datasets/readers/source.h"

namespace quorate {

// Whether a file that begins with `head` (16 bytes) may be one.
bool is_safetensors_head(ByteView head);
bool is_safetensors_name(const std::string& plain_name);

// Files of one part are joined; tensors of other names are passed over. Throws
// corrupt, naming file and tensor, if one is missing, of another type or shape,
// or holds a label beyond 0 to 255; denied beyond what fits.
DatasetSource read_safetensors_set(const SourceFiles& files,
                                   const SourceSpec& spec,
                                   const ReadProgress& progress);

}  // namespace quorate
