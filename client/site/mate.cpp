#include "client/site/mate.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include <fmt/format.h>

#include "base/retry.h"

namespace quorate::client {
namespace {

constexpr Seconds kFirstRest{10};
constexpr Seconds kLongestRest{600};
// Below, the way there and back counts for more than the bytes.
constexpr std::size_t kTellingBytes = 64 << 10;
// How much of the speed known so far stays when the next one is measured.
constexpr double kInertia = 0.75;

double rank(const Mate& mate) {
  return mate.bytes_per_second > 0 ? mate.bytes_per_second
                                   : std::numeric_limits<double>::infinity();
}

}  // namespace

std::vector<std::string> addresses_to_try(const Mate& mate) {
  std::vector<std::string> addresses = mate.contact.addresses;
  std::stable_partition(
      addresses.begin(), addresses.end(),
      [&](const std::string& one) { return one == mate.address; });
  return addresses;
}

std::string url_of(const std::string& address, std::uint16_t port) {
  const bool is_numbered = address.find(':') != std::string::npos;
  return is_numbered ? fmt::format("http://[{}]:{}", address, port)
                     : fmt::format("http://{}:{}", address, port);
}

void note_answer(Mate& mate, const std::string& address, std::size_t bytes,
                 Seconds took) {
  mate.address = address;
  mate.failures = 0;
  mate.why.clear();
  mate.bytes += bytes;
  if (bytes < kTellingBytes || took <= Seconds(0)) return;
  const double speed = static_cast<double>(bytes) / took.count();
  mate.bytes_per_second =
      mate.bytes_per_second == 0
          ? speed
          : kInertia * mate.bytes_per_second + (1 - kInertia) * speed;
}

void note_silence(Mate& mate, Instant now, const std::string& why) {
  std::uint64_t seed = 0;
  std::memcpy(&seed, mate.contact.process.bytes.data(), sizeof seed);
  ++mate.failures;
  mate.why = why;
  mate.rests_until =
      now + retry_delay(mate.failures, seed, kFirstRest, kLongestRest);
}

std::vector<Mate> asking_order(const MatesById& mates, Instant now) {
  std::vector<Mate> order;
  for (const auto& [id, mate] : mates) {
    const bool may_be_asked =
        mate.is_named && !mate.is_excluded && mate.rests_until <= now;
    if (may_be_asked) order.push_back(mate);
  }
  std::stable_sort(
      order.begin(), order.end(),
      [](const Mate& a, const Mate& b) { return rank(a) > rank(b); });
  return order;
}

std::string_view state_name(const Mate& mate, Instant now) {
  if (mate.is_excluded) return "excluded";
  return mate.rests_until > now ? "resting" : "ok";
}

}  // namespace quorate::client
