// Where a data set comes from: the built-in one, or files of a known format.
#pragma once

#include "server/datasets/readers/source.h"

namespace quorate {

// Reads the whole set. The format of files is recognised from their first
// bytes where it has a mark there, else from their names; in a folder, files of
// no known format are passed over, and so is text beside other data. Files
// whose names have the word test or t10k
// are the test part, which may be missing. Throws usage, listing what was
// looked for and what was found, if the files do not make a set; denied if it
// is too large; corrupt or io for a file that is damaged or cannot be read.
DatasetSource open_source(const SourceSpec& spec,
                          const ReadProgress& progress = {});

}  // namespace quorate
