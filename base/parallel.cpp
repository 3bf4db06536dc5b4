#include "base/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace quorate {
namespace {

struct Loop {
  void take_turns() {
    try {
      for (std::size_t i; (i = next.fetch_add(1)) < count;) body(i);
    } catch (...) {
      next = count;
      const std::lock_guard lock(mutex);
      if (!error) error = std::current_exception();
    }
  }

  std::size_t count;
  const std::function<void(std::size_t)>& body;
  std::atomic<std::size_t> next{0};
  std::mutex mutex{};
  std::exception_ptr error{};  // the first
};

// Those beside the caller's. As many as there can be: a loop that has begun is
// to end.
std::vector<std::jthread> start(std::size_t threads, Loop& loop) {
  std::vector<std::jthread> others;
  try {
    while (others.size() + 1 < threads) {
      others.emplace_back([&loop] { loop.take_turns(); });
    }
  } catch (const std::system_error&) {
  }
  return others;
}

}  // namespace

void parallel_for(std::size_t count, std::size_t threads,
                  const std::function<void(std::size_t)>& body) {
  Loop loop{count, body};
  {
    const std::vector<std::jthread> others =
        start(std::min(threads, count), loop);
    loop.take_turns();
  }
  if (loop.error) std::rethrow_exception(loop.error);
}

}  // namespace quorate
