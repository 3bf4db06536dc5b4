// What one project's server says to another's, to take the model of a run.
// Routes and examples: docs/protocol.md, "Peers".
#pragma once

#include "protocol/native/messages.h"

namespace quorate::protocol {

// POST /v1/peers/sessions, by a project, without `signature` asks for a
// challenge; with it, for a token, to be sent as "Authorization: Bearer TOKEN".
// Reply: SessionReply.
struct PeerSessionRequest {
  PublicKey project;      // key of the one that asks
  std::string challenge;  // 64 hexadecimal digits, as given
  Signature signature;    // by that key over peer_session_message()
  bool is_signed = false;
  // That names the key, in hexadecimal digits; empty: it is the root.
  std::string keyring = {};
};
// asked: the project that is asked, so that it cannot pass the signature on to
// another one.
Bytes peer_session_message(const ProjectId& asked,
                           const PeerSessionRequest& request);

std::string write(const PeerSessionRequest&);
PeerSessionRequest parse_peer_session_request(ByteView);

}  // namespace quorate::protocol
