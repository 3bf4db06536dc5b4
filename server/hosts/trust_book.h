// What every device of every host has shown, in memory as the store has it.
// Used by the writer's thread only.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>

#include "base/clock.h"
#include "server/settings/settings.h"
#include "server/store/store.h"
#include "validator/trust.h"
#include "workunits/result_header.h"

namespace quorate {

TrustPolicy trust_policy(const ServerSettings& settings);

class TrustBook {
 public:
  TrustBook(Store& store, const TrustPolicy& policy);

  const TrustPolicy& policy() const { return policy_; }

  // Of the device that made this result; of the host's best device with today's
  // arithmetic. A house worker's host is always proven.
  Standing standing(const Host& host, const ResultHeader& header) const;
  Standing standing(const Host& host) const;
  // The most units that one of its devices had validated, with today's
  // arithmetic.
  std::uint64_t validated(HostId host) const;

  // A result of it was validated by somebody trusted. A device with another
  // driver begins with half of what it had: drivers bring compilers. Does
  // nothing sooner than between_counted() after the last one, so that a host
  // cannot become proven in a moment by units that take none.
  void count(HostId host, const ResultHeader& header, Instant now);
  // It was false: all devices begin anew.
  void reset(HostId host);
  // Nothing is kept of its devices: its account was deleted, and
  // Store::forget_user() has removed what was written.
  void forget(HostId host);
  // Writes what changed; call at the end of a job.
  void flush();

 private:
  using Device = std::pair<std::string, std::uint32_t>;
  using Devices = std::map<Device, std::uint64_t>;

  // Of this device, or half of what the same device had with another driver.
  static std::uint64_t validated_on(const Devices& devices,
                                    const Device& device);

  Store& store_;
  TrustPolicy policy_;
  std::map<HostId, Devices> records_;
  std::set<HostId> dirty_;
  std::map<HostId, Instant> last_counted_;  // since the server's start
};

}  // namespace quorate
