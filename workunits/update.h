// What a result carries back: the change of the parameters, as the codec of its
// task writes it. The one place that writes and reads updates; their format is
// docs/formats.md, "Update".
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "workunits/task.h"

namespace quorate {

// Bytes of every update of such tasks.
std::uint64_t update_bytes(const TrainingTask& task);

// delta: parameter_count() values in declared order. Running statistics keep
// all their bits in every codec: rounded, a variance could become negative. To
// be called in the default floating-point mode.
Bytes encode_update(const TrainingTask& task, std::span<const float> delta);

// The values that the update stands for, all finite, in declared order. Throws
// corrupt, naming `what`, for all bytes that no values of such a task would be
// written as; never repeats any of them.
std::vector<float> decode_update(const TrainingTask& task, ByteView bytes,
                                 const std::string& what);

}  // namespace quorate
