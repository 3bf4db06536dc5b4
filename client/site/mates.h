// The mates of this host: hosts that know the same secret and of which the
// project told the contacts. Objects are fetched from them by their hashes,
// so that no mate has to be believed.
//
// A mate that answers but sends other bytes than the hash says is not asked
// again by this process. One that does not answer rests, longer every time. An
// answer that is not sealed by the site is none: whoever stands on the way
// could else have honest mates excluded.
//
// Rejected: pieces of one object from several mates at once. In a local network
// one of them fills the line, and who sent a wrong piece would be unknown.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/file.h"
#include "client/site/mate.h"
#include "client/site/mate_question.h"
#include "client/site/site_activity.h"
#include "client/site/site_secret.h"
#include "protocol/transfer/part_file.h"

namespace quorate::client {

class SiteDoor;

struct MateLimits {
  std::size_t mates = 64;
  // The first question at an address: nobody may be there.
  std::uint32_t probe_bytes = 64 << 10;
  Seconds probe_timeout{3};
  Seconds chunk_timeout{30};
  // An object takes at most `patience` and what it takes at this speed, whoever
  // is asked: a mate that trickles is worse than the project's server.
  Seconds patience{30};
  double least_bytes_per_second = 256 << 10;
};

// Safe to use from several threads. Traffic with mates neither counts as the
// client's nor obeys its limits, which are for the way to projects.
class Mates {
 public:
  // own_contact: of this host's door, so that it does not ask itself; may be
  // empty. clock outlives this.
  Mates(const SiteSecret& secret, std::string_view own_contact,
        const Clock& clock, MateLimits limits = {});

  // These, and no others, are the mates now: at most limits.mates, the first
  // ones. Texts that no mate sealed are skipped.
  void learn(const std::vector<std::string>& contacts);

  // Asks mates, best first, until `part` is exactly the object. False if nobody
  // has it, in time or before `stop`: then `part` is as it was. What came until
  // then stays beside it (HASH.mates for HASH.part) for the next time. Throws
  // io. Two threads may not fetch to one `part`.
  bool fetch(const Hash& hash, std::uint64_t size, const fs::path& part,
             const std::stop_token& stop);

  std::vector<MateStatus> status() const;
  std::uint64_t bytes_received() const { return received_.load(); }

 private:
  struct Wanted {
    const Hash& hash;
    std::uint64_t size;
    Instant until;
    const std::stop_token& stop;
  };
  bool fetch_from(const Mate& mate, const Wanted& wanted, PartFile& file);
  // Appends what is missing. False when the mate did not give all of it.
  bool take_rest(const Mate& mate, const Wanted& wanted, PartFile& file);
  // The same at one address; the last answer is a piece if all has come.
  MateAnswer take_at(const std::string& address, const Mate& mate,
                     const Wanted& wanted, PartFile& file);
  MateAnswer ask(Transfer& connection, const std::string& address,
                 const Mate& mate, const Wanted& wanted, std::uint64_t offset,
                 bool is_first);
  void rest(const Mate& mate, const std::string& why);
  void exclude(const Mate& mate, const std::string& why);
  // One that is kept, or a new one.
  std::unique_ptr<Transfer> open_connection(const std::string& url);
  void keep_connection(const std::string& url,
                       std::unique_ptr<Transfer> connection);

  const SiteSecret secret_;
  const Clock& clock_;
  const MateLimits limits_;
  std::optional<protocol::ProcessId> own_;
  std::atomic<std::uint64_t> received_{0};

  mutable std::mutex mutex_;  // over both
  MatesById mates_;
  std::map<std::string, std::vector<std::unique_ptr<Transfer>>> idle_;
};

// nullopt unless a mate sealed it.
std::optional<protocol::MateContact> open_contact(const SiteSecret& secret,
                                                  std::string_view text);

// What both do now.
SiteActivity site_activity(const SiteDoor& door, const Mates& mates);

}  // namespace quorate::client
