// The door of this host for its mates: gives pieces of the objects that it has
// to whoever proves to know the site's secret. POST /v1/mate; docs/protocol.md,
// "Mates".
//
// Whoever does not know the secret gets the same empty 404 for whatever it
// sends (server/http itself refuses what is too long). A request that somebody
// recorded and sends again is answered again, which only who has the secret can
// read: rejected was to remember all nonces that were seen, for whoever can
// record can fill a line in other ways.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "client/site/site.h"
#include "protocol/native/mate_messages.h"
#include "server/http/server.h"

namespace quorate::client {

// Since the start.
struct DoorCounters {
  std::uint64_t bytes_given = 0;  // of objects
  std::uint64_t refused = 0;      // requests of strangers
};

class SiteDoor {
 public:
  // The file with the bytes of an object, if this host has it and gives it.
  // Called on a thread of the door; what it throws is taken for "no".
  using Find = std::function<std::optional<fs::path>(const Hash&)>;

  // Listens on all interfaces, unless all addresses of the settings are
  // loopback ones. Throws io when the port is taken.
  SiteDoor(const SiteSettings& settings, Find find);
  ~SiteDoor();
  SiteDoor(const SiteDoor&) = delete;
  SiteDoor& operator=(const SiteDoor&) = delete;

  // What mates need to get here, sealed for them: at most 512 characters. The
  // same text until the machine's addresses change. Any thread, as below.
  std::string contact() const;
  std::vector<std::string> addresses() const;
  std::uint16_t port() const { return port_; }
  const SiteSecret& secret() const { return settings_.secret; }
  DoorCounters counters() const;

 private:
  Response answer(ByteView sealed);
  Response answer_mate(ByteView opened);
  protocol::MateChunk read(const protocol::MateRequest& request) const;

  const SiteSettings settings_;
  const Find find_;
  const protocol::ProcessId process_;
  std::atomic<std::uint64_t> bytes_given_{0};
  std::atomic<std::uint64_t> refused_{0};
  std::uint16_t port_ = 0;

  mutable std::mutex mutex_;  // over what was said last
  mutable std::vector<std::string> told_addresses_;
  mutable std::string told_;

  HttpServer server_;  // last: its threads use the others
};

}  // namespace quorate::client
