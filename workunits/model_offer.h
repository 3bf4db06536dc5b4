// A model offer: what a project says, under its seal, that the model of one of
// its runs is. Another project that trains the same network may fetch that
// model and mix it into its own (PeerMixed in workunits/ledger/ledger); the
// offer is kept then, and proves whose word it was. Grammar: docs/formats.md,
// "Model offer".
#pragma once

#include <cstdint>
#include <string>

#include "base/crypto.h"
#include "workunits/keyring.h"
#include "workunits/workunit.h"

namespace quorate {

struct ModelOffer {
  Keyring keys;  // the project's; the last made the seal
  RunId run;
  std::string name;  // of the run
  ModelSpec model;
  std::uint32_t arithmetic = 0;
  std::uint64_t version = 0;
  Hash parameters;  // of that version, as write_parameters() has them
  // The entry of the run's ledger that names them, and its hash: who has that
  // ledger can replay how the model came to be.
  std::uint64_t entry = 0;
  Hash record;
};

// More is no offer.
inline constexpr std::size_t kMaxOfferBytes = 128 << 10;

// The payload followed by its seal; key: the last of offer.keys.
Bytes seal_offer(const ModelOffer& offer, const PrivateKey& key);

// Throws corrupt, naming `what`, unless it is an offer that seal_offer writes,
// sealed by the key that it names. Whoever wrote it may have made that key:
// compare keys.project with one that is known from elsewhere.
ModelOffer open_offer(ByteView sealed, std::string_view what);

}  // namespace quorate
