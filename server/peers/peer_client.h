// Takes the model of a run from another project's server: one look. The bytes
// that come are hostile until they are checked: bounded before they are
// fetched, hashed, of the model's shape, finite.
//
// A download that breaks off goes on with the next look, also after a restart,
// and with the offer that it began with: the peer may publish faster than its
// model comes over. Both lie in the folder: ID.offer and ID.part.
#pragma once

#include <optional>
#include <stop_token>
#include <string>

#include "base/crypto.h"
#include "base/file.h"
#include "protocol/transfer/curl_transfer.h"
#include "server/making/peer_model.h"
#include "workunits/objects/object_store.h"

namespace quorate {

// What one look wants.
struct PeerQuestion {
  Peer peer;
  ModelSpec model;         // of our run
  ProjectId own;           // this project
  PrivateKey key;          // its key: by which the peer knows it
  fs::path folder;         // made if need be
  std::string known_etag;  // of the last offer, if nothing of it is wanted
  std::uint64_t disk_reserve_bytes = 0;  // to be left free
  std::string keyring = {};  // that names the key, in hexadecimal digits; or ""
};

struct PeerAnswer {
  std::optional<PeerModel> model;  // none: the peer has nothing new
  std::string etag;                // of its offer
};

// Throws unavailable if the peer cannot be reached or gave up in the middle;
// denied if it does not let us in; corrupt, unsupported for what is refused,
// saying why; io, also when the disk would be full.
PeerAnswer ask_peer(const PeerQuestion& question, const TransferMaker& make,
                    ObjectStore& objects, const std::stop_token& stop);

// Removes what is left of a peer's download.
void forget_download(const fs::path& folder, PeerId peer);

}  // namespace quorate
