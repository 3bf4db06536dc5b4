#include "protocol/native/peer_messages.h"

#include <nlohmann/json.hpp>

#include "protocol/json_reader.h"

namespace quorate::protocol {

Bytes peer_session_message(const ProjectId& asked,
                           const PeerSessionRequest& request) {
  ByteWriter out;
  out.put_bytes(as_bytes("quorate peer session v1"));
  out.put(std::uint8_t{0});
  out.put_bytes(asked.view());
  out.put_bytes(request.project.view());
  out.put_text(request.challenge);
  return out.take();
}

std::string write(const PeerSessionRequest& request) {
  nlohmann::ordered_json json{{"project", request.project.hex()}};
  if (!request.keyring.empty()) json["keyring"] = request.keyring;
  if (request.is_signed) {
    json["challenge"] = request.challenge;
    json["signature"] = request.signature.hex();
  }
  return json.dump();
}

PeerSessionRequest parse_peer_session_request(ByteView bytes) {
  JsonDocument document(bytes, "peer session request");
  JsonValue root = document.root();
  PeerSessionRequest request;
  request.project = root.at("project").hex<PublicKey>();
  if (auto list = root.find("keyring")) {
    request.keyring = list->text(kMaxKeyringHex);
  }
  if (auto signature = root.find("signature")) {
    request.is_signed = true;
    request.signature = signature->hex<Signature>();
    request.challenge = root.at("challenge").hex<Hash>().hex();
  }
  return request;
}

}  // namespace quorate::protocol
