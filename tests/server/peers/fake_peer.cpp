#include "tests/server/peers/fake_peer.h"

#include <fmt/format.h>

#include "base/arithmetic.h"
#include "base/error.h"
#include "protocol/native/peer_messages.h"
#include "workunits/objects/safetensors.h"

namespace quorate::test {
namespace {

const std::string kChallenge(64, 'c');
const std::string kToken(64, 'e');

HttpReply reply_of(int status, std::string body) {
  HttpReply reply;
  reply.status = status;
  reply.body = std::move(body);
  return reply;
}

HttpReply refusal(int status, const char* kind, const char* message) {
  protocol::ErrorReply error;
  error.kind = kind;
  error.message = message;
  return reply_of(status, protocol::write(error));
}

}  // namespace

class FakePeerTransfer final : public Transfer {
 public:
  explicit FakePeerTransfer(FakePeer& peer) : peer_(peer) {}
  HttpReply send(const HttpRequest& request, const std::stop_token&) override {
    return peer_.handle(request);
  }

 private:
  FakePeer& peer_;
};

FakePeer::FakePeer(const ModelSpec& model) {
  offer.run.bytes[0] = 9;
  offer.keys = keyring_of(key.public_key());
  offer.name = "theirs";
  offer.model = model;
  offer.arithmetic = kArithmeticVersion;
  publish(0.25F);
}

TransferMaker FakePeer::maker() {
  return [this](const CurlOptions&) {
    return std::make_unique<FakePeerTransfer>(*this);
  };
}

std::string FakePeer::fingerprint() const {
  return quorate::fingerprint(project_id_of(key.public_key()));
}

void FakePeer::publish(float fill) {
  const std::vector<float> values(parameter_count(offer.model), fill);
  parameters = write_parameters(offer.model, values);
  offer.parameters = sha256(parameters);
  ++offer.version;
  ++offer.entry;
}

HttpReply FakePeer::handle(const HttpRequest& request) {
  if (is_away) throw Error(ErrorKind::unavailable, "no route to the peer");
  requests.push_back((request.method == HttpMethod::post ? "POST " : "GET ") +
                     request.path);
  if (request.path == "/v1/project") {
    protocol::ProjectStatement statement;
    statement.name = "theirs";
    statement.keys = keyring_of(key.public_key());
    statement.arithmetic = kArithmeticVersion;
    statement.expires = expires;
    const Bytes sealed =
        seal(as_bytes(protocol::write(statement)), SealKind::project,
             project_id_of(key.public_key()), key);
    return reply_of(200, std::string(as_text(sealed)));
  }
  if (request.path == "/v1/peers/sessions") return open_session(request);
  if (request.bearer != kToken) return refusal(401, "new session", "who?");
  if (request.path == "/v1/runs/theirs/model") return send_offer(request);
  if (request.path == fmt::format("/v1/runs/theirs/models/{}", offer.entry)) {
    return send_model(request);
  }
  return refusal(404, "denied", "not here");
}

HttpReply FakePeer::open_session(const HttpRequest& request) const {
  const auto wanted = protocol::parse_peer_session_request(request.body);
  protocol::SessionReply reply;
  reply.challenge = kChallenge;
  if (!wanted.is_signed) return reply_of(200, protocol::write(reply));
  const bool is_proven = verify(
      wanted.project,
      protocol::peer_session_message(project_id_of(key.public_key()), wanted),
      wanted.signature);
  if (!lets_in || !is_proven || wanted.challenge != kChallenge) {
    return refusal(403, "denied", "may not take models from here");
  }
  reply.token = kToken;
  return reply_of(200, protocol::write(reply));
}

HttpReply FakePeer::send_offer(const HttpRequest& request) const {
  const Bytes sealed = sent_offer.value_or(seal_offer(offer, key));
  if (request.known_etag == fmt::format("\"{}\"", sha256(sealed).hex())) {
    return reply_of(304, "");
  }
  return reply_of(200, std::string(as_text(sealed)));
}

HttpReply FakePeer::send_model(const HttpRequest& request) {
  from.push_back(request.from);
  if (!has_model) return refusal(404, "denied", "ask for a new offer");
  HttpReply reply = reply_of(request.from == 0 ? 200 : 206, "");
  reply.first_byte = request.from;
  const ByteView rest = ByteView(parameters).subspan(request.from);
  if (!breaks_after) {
    request.sink(reply, rest);
    return reply;
  }
  request.sink(reply, rest.first(*breaks_after));
  breaks_after.reset();
  throw Error(ErrorKind::unavailable, "the connection broke");
}

}  // namespace quorate::test
