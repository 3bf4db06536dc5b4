// One loop on several threads, which last for the call: for work of
// milliseconds that comes now and then. (kernels/cpu has a pool for what
// comes all the time.)
#pragma once

#include <cstddef>
#include <functional>

namespace quorate {

// Calls body(i) once for each i in [0, count), in any order, on up to `threads`
// threads, the caller's among them. Throws the first thing that a call threw,
// once all threads are done; calls that had not begun then are left out.
void parallel_for(std::size_t count, std::size_t threads,
                  const std::function<void(std::size_t)>& body);

}  // namespace quorate
