// The course of a simulation, as tables: what `quorate simulate` writes and
// draws.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.h"
#include "server/simulator/counters.h"

namespace quorate {

// The project at one moment.
struct Moment {
  Seconds time{0};
  std::uint64_t hosts = 0;  // that are there
  std::uint64_t version = 0;
  std::uint64_t assimilated = 0;  // results
  std::uint64_t samples = 0;      // of them
  std::uint64_t open_units = 0;
  Counters counters;
};

// A published version, and what it was worth.
struct PublishedScore {
  Moment moment;  // when it was published
  double loss = 0;
  double accuracy = 0;
};

struct Recording {
  std::vector<Moment> moments;
  std::vector<PublishedScore> scores;
};

// With one header line; times in seconds, bytes and costs since the start.
std::string moments_csv(const Recording& recording);
std::string scores_csv(const Recording& recording);

}  // namespace quorate
