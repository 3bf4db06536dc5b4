// A data set that is a text: files of UTF-8, plain or gzip, one after another.
#pragma once

#include "server/datasets/readers/source.h"

namespace quorate {

bool is_text_name(const std::string& plain_name);

// The files of a part are joined as they are, in the order of their names;
// `guess` of the set names them if there are several. Throws corrupt, naming
// file and byte, for what is not UTF-8, zero bytes and empty files; denied
// beyond what fits.
DatasetSource read_text_set(const SourceFiles& files, const SourceSpec& spec,
                            const ReadProgress& progress);

}  // namespace quorate
