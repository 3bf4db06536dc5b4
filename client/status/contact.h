// What talking to the project has shown: does it answer, and has it work?
#pragma once

#include <cstdint>
#include <string>

#include "base/clock.h"
#include "workunits/workunit.h"

namespace quorate::client {

// Kept by the agent in memory, shown in activity.json.
struct Contact {
  Millis away_since = 0;     // 0: it has answered
  std::string why;           // it is away
  Millis asked = 0;          // when work was last asked for; 0: never
  Instant asked_at{};        // the same, by the clock that does not jump
  bool is_asking = false;    // the answer is not here yet
  bool was_empty = false;    // the last answer had no work
  bool is_finished = false;  // it said that all its runs are over
  // It refuses this host, and is left alone until then; 0: it does not.
  Millis refused_until = 0;
};

// A project with work answers at once: one that takes longer has none.
inline constexpr Seconds kNoWorkAfter{2};

// True once it shows that the project has no work. Pure.
bool has_no_work(const Contact& contact, Instant now);

// "no work at this project now (asked 17:27:45; asks again 17:28:10)", or "all
// runs of this project are finished (asked ...)".
std::string no_work_text(const Contact& contact, Millis next);

// "P has been out of reach since 17:18:56 (why); 2 finished results are kept;
// next try in 20 s".
std::string away_text(const std::string& project, const Contact& contact,
                      std::size_t kept, Seconds until_next);

// How long a project that refuses this host is left alone: what it asked for,
// but at least a minute, so that it is not hammered, and at most a day, so that
// a pardon is noticed. Pure.
Seconds refused_pause(Seconds asked);

// "P refuses this computer (why); asks again 2026-11-25 18:28".
std::string refused_text(const std::string& project, const Contact& contact);

// "1 thread", "2 threads".
std::string count_text(std::uint64_t count, const std::string& what);

}  // namespace quorate::client
