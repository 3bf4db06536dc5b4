// Which hosts are of one site: machines of one owner, who gave each the same
// secret (client/site). The server knows a hash of it, and a contact of each
// host that only its mates can read; it passes contacts on within a site alone.
// In memory only: hosts say it whenever they ask. The writer's thread only.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "base/crypto.h"
#include "workunits/host.h"

namespace quorate {

class Sites {
 public:
  // Who was silent for so long is passed on no more, and its contact goes when
  // a mate is next heard from.
  static constexpr Seconds kForgotten{300};

  // The host says that it is of this site; with an empty contact it cannot be
  // reached, as after it has left (site: zero).
  void note(HostId host, const Hash& site, std::string contact, Instant now);
  // Contacts of the others of its site, the last heard from first; so many at
  // most.
  std::vector<std::string> mates_of(HostId host, Instant now,
                                    std::size_t most) const;
  // True if both are of one site: their words are one owner's.
  bool are_mates(HostId a, HostId b) const;

 private:
  struct Member {
    Hash site;
    std::string contact;
    Instant heard;
  };
  std::unordered_map<HostId, Member> members_;
  std::unordered_map<Hash, std::vector<HostId>> hosts_;  // by site
};

}  // namespace quorate
