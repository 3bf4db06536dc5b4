// A model of a peer that has been fetched and found good. Its objects are in
// the object store; nothing in the project's store names them yet.
#pragma once

#include "base/crypto.h"
#include "workunits/model_offer.h"
#include "workunits/peer_rows.h"

namespace quorate {

struct PeerModel {
  PeerId peer = 0;
  ModelOffer offer;   // whose `parameters` is the model's object
  Hash sealed_offer;  // the object that the offer was read from
};

}  // namespace quorate
