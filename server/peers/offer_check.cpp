#include "server/peers/offer_check.h"

#include <fmt/format.h>

#include "base/arithmetic.h"
#include "protocol/transfer/project_address.h"
#include "workunits/objects/safetensors.h"

namespace quorate {

std::string why_refused(const ModelOffer& offer, const Peer& peer,
                        const ModelSpec& model, const ProjectId& own) {
  const ProjectId project = offer.keys.project;
  if (project == own) return "it is an offer of this project itself";
  if (!matches(peer.fingerprint, project)) {
    return fmt::format("expected an offer of project {}, found one of {}",
                       peer.fingerprint, fingerprint(project));
  }
  if (offer.name != peer.peer_run) {
    return fmt::format("expected run {}, found run {}", peer.peer_run,
                       offer.name);
  }
  if (offer.arithmetic != kArithmeticVersion) {
    return fmt::format(
        "it was computed with arithmetic {}, but this program has {}: both "
        "servers need the same version of quorate",
        offer.arithmetic, kArithmeticVersion);
  }
  if (offer.model != model) {
    return fmt::format(
        "its network is {}, but ours is {}: only runs of the same network can "
        "be mixed",
        name_of(offer.model), name_of(model));
  }
  return "";
}

std::uint64_t parameter_bytes(const ModelSpec& model) {
  std::vector<TensorView> tensors;
  for (const TensorSpec& tensor : parameters_of(model)) {
    tensors.push_back({tensor.name,
                       DType::f32,
                       {tensor.shape.begin(), tensor.shape.end()},
                       {}});
  }
  return head_of(tensors, {}).size() + data_bytes(tensors);
}

}  // namespace quorate
