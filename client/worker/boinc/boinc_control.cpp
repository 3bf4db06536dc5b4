#include "client/worker/boinc/boinc_control.h"

namespace quorate::worker {

// Both in one text: the client changed its mind before we looked; the order in
// which it did is lost, and to compute does less harm than to wait for ever.
void BoincControl::take(const boinc::ProcessOrders& orders, Instant now) {
  last_heard_ = now;
  if (orders.suspend) is_suspended_ = true;
  if (orders.resume) is_suspended_ = false;
  quits_ |= orders.quit;
  is_aborted_ |= orders.abort;
}

BoincState BoincControl::state(Instant now) const {
  if (is_aborted_) return BoincState::aborted;
  if (quits_ || now - last_heard_ > kMostSilence) return BoincState::quitting;
  return is_suspended_ ? BoincState::suspended : BoincState::running;
}

}  // namespace quorate::worker
