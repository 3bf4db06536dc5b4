// A new key for a project, by its root key, which need not lie on the server
// otherwise. The server must not run meanwhile. Cut off at any instant, the
// project has its old key or the new one: load_keys() does what was left.
#pragma once

#include <cstdint>
#include <optional>

#include "base/clock.h"
#include "base/file.h"
#include "server/settings/project_folder.h"
#include "workunits/keyring.h"

namespace quorate {

struct KeyTerms {
  std::uint32_t days = 365;  // from now, that the new key holds
  // Others may have what lies on the server: nothing that the present key seals
  // is taken any more, nor what any before it does whose time is not over; the
  // root's excepted. Else what it has sealed is taken for kKeyOverlap.
  bool revoke = false;
};
inline constexpr std::uint32_t kMostKeyDays = 3650;
inline constexpr Seconds kKeyOverlap{14.0 * 86'400};

// The list with `next` at its end. Pure; not sealed. Throws usage when it has
// as many keys as one can have, or to revoke the root itself, which signs alone
// in a project that never had a list: whoever has it is the project.
Keyring with_next_key(Keyring ring, const PublicKey& next,
                      const KeyTerms& terms, Millis unix_ms);

// The first time, when the root is still project.key, `root_file` is made and
// the root goes there; afterwards it is read. Throws usage, saying what to do,
// when it is missing, lies in the project's folder, or is another project's.
// Returns the list that holds now.
Keyring renew_key(const ProjectFolder& folder, const fs::path& root_file,
                  const KeyTerms& terms, Millis unix_ms);

// Throws usage if the key's time is over: nobody takes what it signs. Else how
// many days are left, if they are few.
std::optional<std::int64_t> few_days_left(const Keyring& ring, Millis unix_ms);
// The same for the log of a server that runs. Never throws.
void log_key_end(const Keyring& ring, Millis unix_ms);

}  // namespace quorate
