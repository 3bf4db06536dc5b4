// Sealed files: bytes and the project's signature over them. The signed bytes
// are the sent bytes: nothing is written anew to check a signature.
// Grammar: docs/formats.md, "Sealed file".
#pragma once

#include <cstdint>

#include "base/bytes.h"
#include "base/crypto.h"

namespace quorate {

// SHA-256("quorate project v1", a zero byte, the first project key).
struct ProjectId : FixedBytes<32> {};
ProjectId project_id_of(const PublicKey& first_key);
// What people compare: the first 32 hexadecimal digits of the id.
std::string fingerprint(const ProjectId& id);

// What a seal vouches for; part of the signed digest, so that a file of one
// kind cannot pass for another.
enum class SealKind : std::uint32_t {
  workunit = 1,
  project = 2,
  ledger_entry = 3,
  receipt = 4,
  model_offer = 5,
  order = 6,
  keyring = 7,
};

// The payload followed by its seal (kSealBytes).
inline constexpr std::size_t kSealBytes = 88;
Bytes seal(ByteView payload, SealKind kind, const ProjectId& project,
           const PrivateKey& key);

// The payload, a view into `sealed`. Throws corrupt, naming `what`, when it is
// cut short, of another kind or project, signed by another key, or changed.
ByteView open_sealed(ByteView sealed, SealKind kind, const ProjectId& project,
                     const PublicKey& key, std::string_view what);

// Whether a seal at the end of these bytes names that key; no signature is
// checked.
bool names_key(ByteView sealed, const PublicKey& key);

// The detached form, for records that keep their signature beside them.
Signature sign_detached(ByteView payload, SealKind kind,
                        const ProjectId& project, const PrivateKey& key);
bool verify_detached(ByteView payload, SealKind kind, const ProjectId& project,
                     const PublicKey& key, const Signature& signature);

}  // namespace quorate
