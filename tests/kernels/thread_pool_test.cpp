#include "kernels/cpu/thread_pool.h"

#include <array>
#include <atomic>

#include <doctest/doctest.h>

#include "base/error.h"

namespace quorate {

TEST_CASE("every task runs once, on a thread of the pool") {
  for (unsigned threads : {1U, 2U, 5U}) {
    ThreadPool pool(threads);
    CHECK(pool.threads() == threads);
    for (std::size_t count : {0U, 1U, 2U, 100U}) {
      for (int repeat = 0; repeat < 50; ++repeat) {
        std::vector<std::atomic<int>> runs(count);
        std::atomic<bool> known = true;
        pool.run(count, [&](std::size_t task, unsigned thread) {
          ++runs[task];
          if (thread >= threads) known = false;
        });
        CHECK(known);
        for (auto& times : runs) CHECK(times == 1);
      }
    }
  }
}

TEST_CASE("a task's exception reaches the caller and the pool goes on") {
  ThreadPool pool(3);
  for (int repeat = 0; repeat < 20; ++repeat) {
    CHECK_THROWS_AS(pool.run(10,
                             [](std::size_t task, unsigned) {
                               if (task == 7) {
                                 throw Error(ErrorKind::io, "no memory");
                               }
                             }),
                    Error);
    std::atomic<int> done = 0;
    pool.run(10, [&](std::size_t, unsigned) { ++done; });
    CHECK(done == 10);
  }
}

}  // namespace quorate
