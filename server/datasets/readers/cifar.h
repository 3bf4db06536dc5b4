// Files of CIFAR-10's binary version, plain or gzip: data_batch_1.bin and its
// like, test_batch.bin. Grammar, record after record, 3073 bytes each:
//   u8 label (0 to 9), then 1024 u8 red, 1024 u8 green, 1024 u8 blue;
//   each of these planes is 32 x 32, row by row
// Source: A. Krizhevsky, "The CIFAR-10 dataset", section "Binary version".
#pragma once

#include "server/datasets/readers/source.h"

namespace quorate {

// Whether a name (plain_name) is one of a batch.
bool is_cifar_name(const std::string& name);

// Samples of [32, 32, 3]: the planes of the files become pixels. Files of one
// part are joined. Throws corrupt, naming file and record, for a label above 9,
// a record that is cut, or a file without any; denied beyond what fits.
DatasetSource read_cifar_set(const SourceFiles& files, const SourceSpec& spec,
                             const ReadProgress& progress);

}  // namespace quorate
