#include "server/hosts/door_terms.h"

#include <algorithm>

#include "workunits/host.h"

namespace quorate {
namespace {

DoorTerms boinc_terms(const ServerSettings& settings) {
  DoorTerms terms;
  terms.lease = settings.boinc_lease;
  terms.patience = terms.lease / 2;
  terms.reservation = settings.boinc_contact + settings.reservation;
  terms.anchor_reservation = 2 * settings.boinc_contact + settings.reservation;
  terms.comes_back = terms.reservation;
  terms.shortest_unit = Seconds(20);
  return terms;
}

DoorTerms native_terms(const ServerSettings& settings) {
  constexpr double kHeartbeats = 1.5;
  DoorTerms terms;
  terms.lease = settings.lease;
  terms.patience = std::min(terms.lease, kHeartbeats * settings.heartbeat);
  terms.reservation = settings.reservation;
  terms.anchor_reservation = terms.lease;
  terms.comes_back = settings.heartbeat;
  terms.takes_changes = true;
  return terms;
}

}  // namespace

DoorTerms door_terms(const std::string& door, const ServerSettings& settings) {
  return door == kBoincDoor ? boinc_terms(settings) : native_terms(settings);
}

}  // namespace quorate
