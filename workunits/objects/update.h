// What a result carries back: the change of the parameters, as the codec of its
// task writes it. The one place that writes and reads updates; their format is
// docs/formats.md, "Update".
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "workunits/objects/parameter_values.h"
#include "workunits/task.h"

namespace quorate {

// Bytes of every update of such tasks.
std::uint64_t update_bytes(const TrainingTask& task);

// delta: parameter_count() values in declared order. Running statistics keep
// all their bits in every codec: rounded, a variance could become negative. To
// be called in the default floating-point mode.
Bytes encode_update(const TrainingTask& task, std::span<const float> delta);
// The same on several threads, with other random numbers: block b has those of
// step b of the stream. Not for fp32.
Bytes encode_by_blocks(const TrainingTask& task, std::span<const float> delta,
                       std::size_t threads);

// The values that the update stands for, all finite, in declared order. Throws
// corrupt, naming `what`, for all bytes that no values of such a task would be
// written as; never repeats any of them.
std::vector<float> decode_update(const TrainingTask& task, ByteView bytes,
                                 const std::string& what,
                                 std::size_t threads = 1);
// The same of an update's file, which must not change: if they are many they
// stay there, encoded.
ParameterValues map_update(const TrainingTask& task, MappedFile file,
                           const std::string& what);
// The same of an update that is not in a file of ours.
ParameterValues keep_update(const TrainingTask& task, Bytes bytes,
                            const std::string& what);

}  // namespace quorate
