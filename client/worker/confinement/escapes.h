// `quorate-worker --confinement-test`: tries what a worker that was taken over
// would try, from within, and says what was refused.
#pragma once

#include <string>
#include <vector>

#include "client/worker/confinement/confinement.h"

namespace quorate::worker {

struct Escape {
  std::string name;
  bool is_refused = false;
  std::string found;  // what happened instead
};

// Which walls stand: both around a worker, fewer to see what each is for.
struct Walls {
  bool files = true;
  bool calls = true;
};

// Each in a process of its own, confined as a worker is. folder: an empty one;
// the worker gets one in it, and a file beside that is what it must not read.
// memory_mb: that the worker may take. Call it from a process of one thread.
std::vector<Escape> try_escapes(const fs::path& folder, bool is_gpu,
                                std::uint32_t memory_mb,
                                const Walls& walls = {});

}  // namespace quorate::worker
