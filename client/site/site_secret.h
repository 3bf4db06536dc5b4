// What makes hosts mates: a secret that their owner copies from one to the
// other. Who has it reads and writes what they say to each other; nobody else
// does, the project included.
//
// The room client/site is what hosts of one site do for each other: the secret
// with its settings (site.json), the door that gives objects of this host's
// cache, and the mates from which it fetches theirs. It owns that file, the
// door's threads and, in memory, what is known of mates. It may include
// client/folder and what stands before it, and knows neither agent nor project.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "base/crypto.h"

namespace quorate::client {

// Each has a key of its own.
enum class MateMessage { contact, request, reply };

class SiteSecret {
 public:
  static SiteSecret generate();
  // Reads what text() gives, with white space around it. Throws usage, with
  // advice and without the secret.
  static SiteSecret parse(std::string_view text);

  // "quorate-site-", the secret's 32 hexadecimal digits and 8 of a checksum, so
  // that a slip is noticed.
  std::string text() const;
  // What the project sees of it.
  const Hash& id() const { return id_; }

  // The message, encrypted and bound to `bound`: base/crypto.h.
  Bytes seal(MateMessage kind, ByteView message, ByteView bound = {}) const;
  // nullopt unless who has the secret sealed exactly this.
  std::optional<Bytes> open(MateMessage kind, ByteView sealed,
                            ByteView bound = {}) const;

 private:
  explicit SiteSecret(const FixedBytes<16>& secret);
  const FixedBytes<32>& key(MateMessage kind) const;

  FixedBytes<16> secret_;
  Hash id_;
  std::array<FixedBytes<32>, 3> keys_;
};

}  // namespace quorate::client
