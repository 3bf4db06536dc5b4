// How the CPU backend cuts its operations into tasks for its threads. The sizes
// decide speed alone: every operation has an order of its sums that is
// independent of the cut.
#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>

#include "kernels/cpu/thread_pool.h"
#include "kernels/float_environment.h"
#include "kernels/shapes.h"

namespace quorate {

// Elements that one task takes where any number will do: 64 KiB per array.
inline constexpr std::size_t kGrain = 16384;

// a / b, rounded up; b > 0, and a + b must not overflow.
inline constexpr std::size_t ceil_div(std::size_t a, std::size_t b) {
  return (a + b - 1) / b;
}

// One per backend, used by the thread that calls its operations. Not to be
// called from within a task: the pool runs one batch at a time.
class Tasks {
 public:
  explicit Tasks(ThreadPool& pool) : pool_(pool) {}

  // The caller's own thread included; per-thread buffers need so many.
  unsigned threads() const { return pool_.threads(); }

  // Calls f(task) or f(task, thread) for tasks 0 to tasks-1, in canonical
  // floating-point mode, and waits. elements: of all tasks together. If these
  // are few, all runs on the caller's thread, as thread 0. Tasks run in any
  // order and at the same time, so they write to disjoint places. An exception
  // of f is rethrown.
  template <class F>
  void run(std::size_t tasks, std::size_t elements, const F& f) {
    if (elements > 2 * kGrain) {
      // Captures so little that the pool's function needs no memory.
      pool_.run(tasks, [&f](std::size_t task, unsigned thread) {
        call(f, task, thread);
      });
    } else {
      CanonicalFloatMode mode;
      for (std::size_t task = 0; task < tasks; ++task) call(f, task, 0);
    }
  }

  // Calls f(first, count) for pieces that cover `count` elements, each of
  // kGrain but the last.
  // Used where neighbouring elements have nothing to do with each other.
  template <class F>
  void for_pieces(std::size_t count, const F& f) {
    run(ceil_div(count, kGrain), count, [&](std::size_t piece) {
      std::size_t first = piece * kGrain;
      f(first, std::min(kGrain, count - first));
    });
  }

  // Calls f(row) for every row. A task takes as many rows as make up about
  // kGrain elements.
  template <class F>
  void for_rows(const MatrixSizes& n, const F& f) {
    std::size_t rows =
        std::max<std::size_t>(1, kGrain / std::max<std::size_t>(1, n.cols));
    run(ceil_div(n.rows, rows), n.rows * n.cols, [&](std::size_t task) {
      std::size_t end = std::min(n.rows, (task + 1) * rows);
      for (std::size_t row = task * rows; row < end; ++row) f(row);
    });
  }

 private:
  // Lets f take the number of its thread or not.
  template <class F>
  static void call(const F& f, std::size_t task, unsigned thread) {
    if constexpr (std::is_invocable_v<F, std::size_t, unsigned>) {
      f(task, thread);
    } else {
      f(task);
    }
  }

  ThreadPool& pool_;
};

}  // namespace quorate
