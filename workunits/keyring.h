// Which keys speak for a project. Its first key, the root, is its identity: the
// project's id is a hash of it. A project that wants to keep the root away from
// its server has it seal a list, the keyring: the key that signs from now on,
// and those that did before. A project without a list signs with its root.
// Grammar: docs/formats.md, "Keyring".
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/crypto.h"
#include "workunits/host.h"
#include "workunits/sealed.h"

namespace quorate {

class JsonFields;

struct SigningKey {
  PublicKey key;
  Millis from = 0;
  Millis until = 0;         // what it signs later says nothing; 0: no end
  bool is_revoked = false;  // others may have it: nothing new is taken from it

  bool operator==(const SigningKey&) const = default;
};

struct Keyring {
  ProjectId project;
  PublicKey root;
  // Higher with each list that the root seals; 0: none, the root signs.
  std::uint64_t number = 0;
  std::vector<SigningKey> keys;  // oldest first, never empty; the last signs
  Bytes sealed;                  // as the root sealed it; empty for number 0

  const SigningKey& current() const { return keys.back(); }
  // nullptr for a stranger's.
  const SigningKey* find(const PublicKey& key) const;

  bool operator==(const Keyring&) const = default;
};
inline constexpr std::size_t kMostSigningKeys = 64;
inline constexpr std::size_t kMaxKeyringBytes = 16 << 10;

// Of a project that signs with the only key that it ever had.
Keyring keyring_of(const PublicKey& only);
Keyring keyring_of(const ProjectId& project, const PublicKey& only);

// Fills in project, root and sealed; what is given must be as open_keyring()
// takes it.
Keyring seal_keyring(Keyring ring, const PrivateKey& root);
// Throws corrupt, naming `what`, unless it is a list that seal_keyring makes,
// sealed by the root that it names. Whoever wrote it may have made that root:
// compare `project` with one that is known from elsewhere.
Keyring open_keyring(ByteView sealed, std::string_view what);

// The same in documents that name the key that sealed them, and carry the list
// in hexadecimal digits if there is one, else "". Throws corrupt, naming
// `what`, unless that is the list's last key.
inline constexpr std::size_t kMaxKeyringHex =
    2 * (kMaxKeyringBytes + kSealBytes);
Keyring keyring_named(const PublicKey& key, std::string_view list,
                      std::string_view what);
// The same of a document in JSON: its fields "key" and, if there, "keyring".
Keyring read_keys(const JsonFields& fields, std::string_view what);

// Whether what a key signs now, unix_ms, may be taken as the project's word.
bool speaks(const SigningKey& key, Millis unix_ms);

// Which of the project's keys sealed this, to be checked with open_sealed().
// Throws corrupt, naming `what`, if none of them did.
const SigningKey& sealer_of(ByteView sealed, const Keyring& ring,
                            std::string_view what);
// open_sealed() with the key that sealed it, whatever became of that key since.
ByteView open_sealed(ByteView sealed, SealKind kind, const Keyring& ring,
                     std::string_view what);
// Whose detached signature it is; nullptr if it is none of the project's.
const SigningKey* signer_of(ByteView payload, SealKind kind,
                            const Keyring& ring, const Signature& signature);

}  // namespace quorate
