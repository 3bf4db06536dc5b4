// What is known of one mate, and whom to ask first. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/clock.h"
#include "protocol/native/mate_messages.h"

namespace quorate::client {

struct Mate {
  protocol::MateContact contact;
  std::string address;          // at which it answered last; empty: none yet
  double bytes_per_second = 0;  // of late; 0: not measured
  std::uint64_t bytes = 0;      // that it gave
  std::uint32_t failures = 0;   // since it answered last
  Instant rests_until{};
  std::string why;  // it rests, or is excluded
  bool is_excluded = false;
  bool is_named = true;  // by the last list of contacts
};
using MatesById = std::map<protocol::ProcessId, Mate>;

// Its addresses, the one that answered last first.
std::vector<std::string> addresses_to_try(const Mate& mate);
// "http://192.168.1.7:8471", "http://[2001:db8::7]:8471".
std::string url_of(const std::string& address, std::uint16_t port);

// It has answered at `address`. took: for `bytes` of an object; a few tell
// nothing of its speed.
void note_answer(Mate& mate, const std::string& address, std::size_t bytes,
                 Seconds took);
// It did not: a pause, which grows from 10 seconds to 10 minutes.
void note_silence(Mate& mate, Instant now, const std::string& why);

// Whom to ask for an object, one after the other: those not measured yet, so
// that they are, then the fastest first; none that rests or is excluded.
std::vector<Mate> asking_order(const MatesById& mates, Instant now);

// For `site show`: "ok", "resting" or "excluded".
std::string_view state_name(const Mate& mate, Instant now);

}  // namespace quorate::client
