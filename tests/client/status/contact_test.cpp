#include "client/status/contact.h"

#include <doctest/doctest.h>

#include "client/folder/local_time.h"

namespace quorate::client {
namespace {

constexpr Millis kNoon = 1'700'000'000'000;

TEST_CASE("when it shows that a project has no work") {
  Instant now{};
  now += Seconds(100);
  struct Row {
    const char* what;
    Contact contact;
    bool has_none;
  };
  const Row table[] = {
      {"never asked", {}, false},
      {"just asked", {0, "", kNoon, now - Seconds(0.1), true, false}, false},
      {"asked, and no answer comes",
       {0, "", kNoon, now - kNoWorkAfter, true, false},
       true},
      {"it gave some, and is not asked now",
       {0, "", kNoon, now - kNoWorkAfter, false, false},
       false},
      {"it said so", {0, "", kNoon, now, false, true}, true},
      {"it does not answer at all",
       {kNoon, "refused", kNoon, now - kNoWorkAfter, true, true},
       false},
  };
  for (const Row& row : table) {
    CAPTURE(row.what);
    CHECK(has_no_work(row.contact, now) == row.has_none);
  }
}

TEST_CASE("what is said of it names the times") {
  Contact contact;
  contact.asked = kNoon;
  CHECK(no_work_text(contact, kNoon + 25'000) ==
        "no work at this project now (asked " + clock_text(kNoon) +
            "; asks again " + clock_text(kNoon + 25'000) + ")");
  contact.is_finished = true;
  CHECK(no_work_text(contact, kNoon + 25'000)
            .starts_with("all runs of this project are finished (asked "));
  contact.away_since = kNoon;
  contact.why = "no route";
  std::string begin =
      "P has been out of reach since " + clock_text(kNoon) + " (no route)";
  CHECK(away_text("P", contact, 2, Seconds(19.2)) ==
        begin + "; 2 finished results are kept; next try in 20 s");
  CHECK(away_text("P", contact, 1, Seconds(0)) ==
        begin + "; 1 finished result is kept; trying now");
  CHECK(away_text("P", contact, 0, Seconds(-1)) == begin + "; trying now");
}

TEST_CASE("a project that refuses us is left alone as long as it says") {
  CHECK(refused_pause(Seconds(3600)) == Seconds(3600));
  CHECK(refused_pause(Seconds(0)) == Seconds(60));
  CHECK(refused_pause(Seconds(1e9)) == Seconds(86400));
  Contact contact;
  contact.asked = kNoon;
  contact.was_empty = true;
  contact.refused_until = kNoon + 3'600'000;
  contact.why = "banned";
  CHECK_FALSE(has_no_work(contact, Instant{}));
  CHECK(refused_text("P", contact) ==
        "P refuses this computer (banned); asks again " +
            day_text(kNoon + 3'600'000));
}

TEST_CASE("one is no plural") {
  CHECK(count_text(0, "thread") == "0 threads");
  CHECK(count_text(1, "thread") == "1 thread");
  CHECK(count_text(2, "thread") == "2 threads");
}

}  // namespace
}  // namespace quorate::client
