// What a BOINC client wants of the task, decided from its orders, its
// heartbeats and the time.
#pragma once

#include "base/clock.h"
#include "protocol/boinc/app_messages.h"

namespace quorate::worker {

enum class BoincState {
  running,
  suspended,  // compute nothing, keep everything
  quitting,   // save, and end: the client starts the task again later
  aborted,    // end: nobody wants the result
};

class BoincControl {
 public:
  // A client that was not heard of for so long has died or hangs; it will start
  // the task again.
  static constexpr Seconds kMostSilence{30};

  explicit BoincControl(Instant now) : last_heard_(now) {}

  void take(const boinc::ProcessOrders& orders, Instant now);
  void take_heartbeat(Instant now) { last_heard_ = now; }
  void client_is_gone() { quits_ = true; }

  // Quitting and aborted are final.
  BoincState state(Instant now) const;

 private:
  Instant last_heard_;
  bool is_suspended_ = false;
  bool quits_ = false;
  bool is_aborted_ = false;
};

}  // namespace quorate::worker
