// A data set of IDX files: images and labels lie in files of their own.
#pragma once

#include "server/datasets/readers/source.h"

namespace quorate {

// Whether a name (plain_name) is one that publishers give to such files.
bool is_idx_name(const std::string& name);

// Which files are images and which are labels their content says, else their
// names. Throws usage, saying what was found, unless there are one of each for
// training and, for a test part, one of each; and what read_idx_images throws.
DatasetSource read_idx_set(const SourceFiles& files, const SourceSpec& spec,
                           const ReadProgress& progress);

}  // namespace quorate
