#include "client/status/contact.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "client/folder/local_time.h"

namespace quorate::client {

bool has_no_work(const Contact& contact, Instant now) {
  if (contact.away_since != 0 || contact.refused_until != 0) return false;
  if (contact.asked == 0) return false;
  return contact.was_empty ||
         (contact.is_asking && now - contact.asked_at >= kNoWorkAfter);
}

std::string no_work_text(const Contact& contact, Millis next) {
  return fmt::format("{} (asked {}; asks again {})",
                     contact.is_finished
                         ? "all runs of this project are finished"
                         : "no work at this project now",
                     clock_text(contact.asked), clock_text(next));
}

std::string away_text(const std::string& project, const Contact& contact,
                      std::size_t kept, Seconds until_next) {
  std::string text =
      fmt::format("{} has been out of reach since {} ({})", project,
                  clock_text(contact.away_since), contact.why);
  if (kept > 0) {
    text += fmt::format("; {} {} kept", count_text(kept, "finished result"),
                        kept == 1 ? "is" : "are");
  }
  return text + (until_next > Seconds(0)
                     ? fmt::format("; next try in {:.0f} s",
                                   std::ceil(until_next.count()))
                     : "; trying now");
}

Seconds refused_pause(Seconds asked) {
  return std::clamp(asked, Seconds(60), Seconds(86400));
}

std::string refused_text(const std::string& project, const Contact& contact) {
  return fmt::format("{} refuses this computer ({}); asks again {}", project,
                     contact.why, day_text(contact.refused_until));
}

std::string count_text(std::uint64_t count, const std::string& what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

}  // namespace quorate::client
