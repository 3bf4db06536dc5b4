// Whether a peer's offer is one that a run of ours may take. Pure.
#pragma once

#include <string>

#include "workunits/model_offer.h"
#include "workunits/peer_rows.h"

namespace quorate {

// Why the offer is refused; empty if it is not.
// peer: whose offer it should be. model: of our run. own: this project.
std::string why_refused(const ModelOffer& offer, const Peer& peer,
                        const ModelSpec& model, const ProjectId& own);

// Bytes of the object with the parameters of such a model: they follow from
// the model, and no download may have more.
std::uint64_t parameter_bytes(const ModelSpec& model);

}  // namespace quorate
