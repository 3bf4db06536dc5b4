// May this machine compute now? The one place where that is decided.
//
// The room client/permission has what the volunteer allows (prefs, schedule),
// the decision (here), and the governor, which gathers both for a running
// agent. It owns prefs.json, and may include client/folder and client/machine.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "client/folder/pause.h"
#include "client/permission/prefs.h"
#include "client/permission/schedule.h"

namespace quorate::client {

// Why a machine rests.
enum class Rest {
  none,     // it does not
  paused,   // a person said so
  hours,    // outside of the allowed hours
  battery,  // no mains power
  heat,     // processor or GPU is too hot
  memory,   // programs wait for memory
  load,     // other programs need the cores
  person,   // somebody uses the machine
};
std::string_view name_of(Rest rest);

// What is the case on this machine.
struct Conditions {
  std::optional<Pause> pause;  // asked for, and holds
  bool is_on_battery = false;
  // Share of all cores that other programs keep busy; nullopt: not yet known.
  std::optional<double> others_percent;
  // Since somebody last typed at a terminal; nullopt: there is none.
  std::optional<Seconds> since_typed;
  // Of the hottest part of processors and GPUs; nullopt: not known.
  std::optional<double> celsius;
  // Percentage of the time in which programs waited; nullopt: not known.
  std::optional<double> memory_stall;
  // The last answer, and for how long it has been that: it needs less of a load
  // or heat to begin again than to rest.
  Rest last = Rest::none;
  Seconds since_last{0};
};

struct Permission {
  Rest rest = Rest::none;
  std::string why;  // for people; empty if granted
  // False: what is here is computed, and no more is asked for.
  bool takes_new_work = true;

  bool is_granted() const { return rest == Rest::none; }
};

// What a permission that takes no new work becomes when nothing is left. Pure.
Permission finished();

// Pure. A load, or waiting for memory, is rested from until it has fallen to
// three quarters of the limit, so that one near the limit does not start and
// stop the work; heat until it is 7 degrees less, and a minute at least, for
// the processor itself cools within a second, and what cools it does not.
Permission may_compute(const Prefs& prefs, const Conditions& conditions,
                       std::int64_t unix_ms);

}  // namespace quorate::client
