// Loops over the elements of large arrays with the processor's fused
// multiply-add, which the baseline of x86-64 lacks: there std::fma is a
// function call, ten times slower than memory. The bits are the same, because
// fma is one correctly rounded operation either way.
// Rejected: target_clones, whose resolvers crash in sanitized builds.
#pragma once

#include <cstddef>

namespace quorate {

#if defined(__x86_64__)

namespace element_loop {

template <class Body>
[[gnu::target("avx2,fma")]] inline void run_wide(std::size_t count,
                                                 const Body& body) {
  for (std::size_t i = 0; i < count; ++i) body(i);
}

inline bool has_fma() {
  static const bool kHas =
      __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
  return kHas;
}

}  // namespace element_loop

#endif

// body(i) for i in [0, count), in any order: body may not depend on another i.
template <class Body>
inline void for_each_element(std::size_t count, const Body& body) {
#if defined(__x86_64__)
  if (element_loop::has_fma()) return element_loop::run_wide(count, body);
#endif
  for (std::size_t i = 0; i < count; ++i) body(i);
}

}  // namespace quorate
