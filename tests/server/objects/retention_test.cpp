#include "server/objects/retention.h"

#include <doctest/doctest.h>

namespace quorate {
namespace {

constexpr Millis kDay = 86'400'000;

Run run_in(RunState state, Millis ended, Millis updates_removed = 0) {
  Run run;
  run.key = 1;
  run.state = state;
  run.ended = ended;
  run.updates_removed = updates_removed;
  return run;
}

bool is_needed(NameKind kind, bool is_live, bool is_revoked,
               Millis updates_removed) {
  ObjectName name;
  name.kind = kind;
  name.is_live = is_live;
  name.is_revoked = is_revoked;
  return use_of(name, run_in(RunState::finished, 5, updates_removed)).is_needed;
}

}  // namespace

TEST_CASE("what is needed, by what names it") {
  struct Case {
    NameKind kind;
    bool is_live;
    bool is_revoked;
    Millis updates_removed;
    bool is_needed;
  };
  const Case cases[] = {
      {NameKind::payload, false, false, 0, false},
      {NameKind::payload, true, false, 0, true},
      {NameKind::update, false, false, 0, true},
      {NameKind::update, false, false, 7, false},
      {NameKind::update, false, true, 7, true},
      {NameKind::update, true, false, 7, true},
      {NameKind::task, false, false, 7, true},
      {NameKind::shard, false, false, 7, true},
      {NameKind::snapshot, false, false, 7, true},
  };
  for (const Case& n : cases) {
    CAPTURE(static_cast<int>(n.kind));
    CAPTURE(n.updates_removed);
    CHECK(is_needed(n.kind, n.is_live, n.is_revoked, n.updates_removed) ==
          n.is_needed);
  }
}

TEST_CASE("of several uses the one that needs the object counts") {
  const ObjectUse none;
  const ObjectUse copy{ObjectClass::snapshot, 1, false};
  const ObjectUse rejected{ObjectClass::payload, 1, false};
  const ObjectUse live{ObjectClass::payload, 2, true};
  const ObjectUse recorded{ObjectClass::update, 3, true};
  const ObjectUse twin{ObjectClass::update, 4, true};
  auto both_ways = [](const ObjectUse& one, const ObjectUse& other) {
    const ObjectUse first = stronger(one, other);
    CHECK(first.run == stronger(other, one).run);
    return first;
  };
  CHECK(both_ways(none, rejected).what == ObjectClass::payload);
  CHECK(both_ways(rejected, live).is_needed);
  CHECK(both_ways(copy, live).is_needed);
  CHECK(both_ways(live, recorded).what == ObjectClass::update);
  CHECK(both_ways(recorded, twin).run == 3);
}

TEST_CASE("a run gives its updates up some time after its end, once") {
  struct Case {
    Run run;
    double days;
    Millis now;
    bool gives_up;
  };
  const Case cases[] = {
      {run_in(RunState::finished, kDay), 0, 1000 * kDay, false},
      {run_in(RunState::finished, kDay), 2, 3 * kDay - 1, false},
      {run_in(RunState::finished, kDay), 2, 3 * kDay, true},
      {run_in(RunState::stopped, kDay), 2, 3 * kDay, true},
      {run_in(RunState::stopped, kDay), 0.5, kDay + kDay / 2, true},
      {run_in(RunState::running, 0), 2, 1000 * kDay, false},
      {run_in(RunState::paused, 0), 2, 1000 * kDay, false},
      {run_in(RunState::finished, kDay, 2 * kDay), 1, 1000 * kDay, false},
      // Its end is in the future: the clock was set back.
      {run_in(RunState::finished, 9 * kDay), 1, 3 * kDay, false},
  };
  for (const Case& n : cases) {
    ServerSettings settings;
    settings.keep_updates_days = n.days;
    CAPTURE(n.days);
    CAPTURE(n.now);
    CHECK(gives_up_updates(n.run, settings, n.now) == n.gives_up);
  }
}

TEST_CASE("how long what nothing needs stays") {
  ServerSettings settings;
  const Seconds day(86'400), hour(3600);
  auto kept = [&](ObjectClass what, bool is_needed = false) {
    return time_kept({what, 0, is_needed}, settings);
  };
  CHECK(kept(ObjectClass::payload) == 30 * day);
  CHECK(kept(ObjectClass::unnamed) == hour);
  CHECK(kept(ObjectClass::update) == hour);
  CHECK_FALSE(kept(ObjectClass::payload, true));
  CHECK_FALSE(kept(ObjectClass::update, true));
  settings.keep_payloads_days = 0.01;  // somebody may use it right now
  CHECK(kept(ObjectClass::payload) == hour);
  settings.keep_payloads_days = 0;
  CHECK_FALSE(kept(ObjectClass::payload));
  CHECK(kept(ObjectClass::unnamed) == hour);
}

TEST_CASE("evidence has a quota, and gives way to uploads") {
  constexpr std::uint64_t kMiB = 1 << 20;
  ServerSettings settings;
  settings.max_payloads_mb = 100;
  settings.disk_reserve_mb = 10;
  auto quota = [&](std::uint64_t evidence, std::uint64_t free) {
    return evidence_quota(settings, evidence * kMiB, free * kMiB) / kMiB;
  };
  CHECK(quota(200, 1000) == 100);
  CHECK(quota(50, 30) == 50);  // all of it may stay
  CHECK(quota(50, 25) == 45);
  CHECK(quota(500, 25) == 100);
  CHECK(quota(3, 0) == 0);
  settings.max_payloads_mb = 0;
  CHECK(quota(200, 1000) == 200);
  CHECK(quota(200, 0) == 170);
}

TEST_CASE("whose evidence is most loses the oldest of it first") {
  auto at = [](int hour) {
    return fs::file_time_type(std::chrono::hours(hour));
  };
  const std::vector<Evidence> all = {
      {10, at(1), 1, "a"}, {10, at(2), 2, "b"}, {10, at(3), 2, "b"},
      {10, at(4), 2, "c"}, {10, at(5), 3, "d"}, {10, at(6), 4, "d"},
      {10, at(7), 5, "d"}, {10, at(8), 6, ""},  {10, at(9), 7, ""},
  };
  using Indices = std::vector<std::size_t>;
  CHECK(beyond_quota(all, 90).empty());
  // Of the user 2, and of the three users of block d; the first of the others
  // stays, though it is older than all of theirs.
  CHECK(beyond_quota(all, 70) == Indices{4, 1});
  CHECK(beyond_quota(all, 69) == Indices{4, 1, 5});
  CHECK(beyond_quota(all, 50) == Indices{4, 1, 5, 2});
  CHECK(beyond_quota(all, 0).size() == all.size());
  CHECK(beyond_quota({}, 0).empty());
}

}  // namespace quorate
