// From a text to shards of its tokens.
#pragma once

#include "server/datasets/dataset.h"

namespace quorate {

// Where the training part of `text`, UTF-8, ends if `hold_out` per cent of it,
// 1 to 90, are held out: at the end of a character.
std::size_t end_of_training(ByteView text, std::uint32_t hold_out);

// Writes the shards of a text into `objects`, and into `manifest` shards,
// symbols (the bytes of both parts) and counts. Unless manifest.has_own_test,
// the last hold_out per cent of the text are the test part. Throws usage if the
// training part is too short to tell a token from the one before it.
void write_text_shards(const DatasetSource& source, std::uint32_t hold_out,
                       ObjectStore& objects, const DatasetProgress& progress,
                       DatasetManifest& manifest);

}  // namespace quorate
