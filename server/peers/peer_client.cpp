#include "server/peers/peer_client.h"

#include <fmt/format.h>

#include "base/arithmetic.h"
#include "base/error.h"
#include "protocol/native/peer_messages.h"
#include "protocol/transfer/download.h"
#include "protocol/transfer/project_address.h"
#include "protocol/transfer/refusal.h"
#include "protocol/transfer/statement.h"
#include "server/peers/offer_check.h"
#include "workunits/objects/safetensors.h"

namespace quorate {
namespace {

// For a small request and its reply.
constexpr Seconds kRequestTime{20};
// A download that is slower than this is broken off, and goes on with the next
// look: other peers have their turn.
constexpr double kSlowBytes = 64 * 1024;  // a second
constexpr Seconds kLeastTime{60};

[[noreturn]] void refuse(const std::string& why) {
  throw Error(ErrorKind::corrupt, why);
}

std::string etag_of(ByteView sealed_offer) {
  return fmt::format("\"{}\"", sha256(sealed_offer).hex());
}

// A peer's server, with a session.
class Connection {
 public:
  Connection(const PeerQuestion& question, const TransferMaker& make,
             const std::stop_token& stop)
      : question_(question), stop_(stop) {
    const Peer& peer = question.peer;
    const auto stranger = make({peer.url, TlsTrust::unchecked, ""});
    const auto statement = open_statement(fetch_statement(*stranger, stop));
    project_ = statement.keys.project;
    if (!matches(peer.fingerprint, project_)) {
      throw Error(ErrorKind::denied,
                  fmt::format("{}: expected project {}, found {}", peer.url,
                              peer.fingerprint, fingerprint(project_)));
    }
    const std::string late = against_clock(statement, SystemClock().unix_ms());
    if (!late.empty()) {
      throw Error(ErrorKind::denied, fmt::format("{}: {}", peer.url, late));
    }
    CurlOptions options = curl_options(peer.url, statement);
    options.user_agent = "quorate";
    transfer_ = make(options);
    token_ = open_session();
  }

  HttpReply exchange(HttpRequest request) {
    request.bearer = token_;
    return transfer_->send(request, stop_);
  }

 private:
  protocol::SessionReply post_session(
      const protocol::PeerSessionRequest& wanted) {
    const std::string body = protocol::write(wanted);
    HttpRequest request;
    request.method = HttpMethod::post;
    request.path = "/v1/peers/sessions";
    request.content_type = "application/json";
    request.body = as_bytes(body);
    request.timeout = kRequestTime;
    const HttpReply reply = transfer_->send(request, stop_);
    if (reply.status == 404 || reply.status == 405) {
      throw Error(ErrorKind::unsupported,
                  question_.peer.url +
                      ": its version of quorate does not admit peers: its "
                      "operator must install a newer one");
    }
    if (reply.status >= 300) throw_refusal(reply, question_.peer.url);
    return protocol::parse_session_reply(as_bytes(reply.body));
  }

  std::string open_session() {
    protocol::PeerSessionRequest wanted;
    wanted.project = question_.key.public_key();
    wanted.keyring = question_.keyring;
    wanted.challenge = post_session(wanted).challenge;
    wanted.signature =
        question_.key.sign(protocol::peer_session_message(project_, wanted));
    wanted.is_signed = true;
    return post_session(wanted).token;
  }

  const PeerQuestion& question_;
  std::stop_token stop_;
  ProjectId project_;
  std::unique_ptr<Transfer> transfer_;
  std::string token_;
};

fs::path file_of(const fs::path& folder, PeerId peer, const char* what) {
  return folder / fmt::format("{}.{}", peer, what);
}

// An offer with the bytes that it was read from.
struct SealedOffer {
  Bytes bytes;
  ModelOffer offer;
};

SealedOffer read_offer(const PeerQuestion& question, Bytes bytes) {
  const std::string what = "offer of " + question.peer.url;
  SealedOffer read{std::move(bytes), {}};
  read.offer = open_offer(read.bytes, what);
  const std::string why =
      why_refused(read.offer, question.peer, question.model, question.own);
  if (!why.empty()) refuse(what + ": " + why);
  return read;
}

// The one whose download was begun; what does not fit any more is dropped.
std::optional<SealedOffer> begun_offer(const PeerQuestion& question) {
  const fs::path file = file_of(question.folder, question.peer.id, "offer");
  if (!fs::exists(file)) return std::nullopt;
  try {
    return read_offer(question, read_file(file, kMaxOfferBytes + kSealBytes));
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::corrupt) throw;
    forget_download(question.folder, question.peer.id);
    return std::nullopt;
  }
}

// nullopt: it is still the one that is known.
std::optional<SealedOffer> newest_offer(const PeerQuestion& question,
                                        Connection& peer) {
  HttpRequest request;
  request.path = fmt::format("/v1/runs/{}/model", question.peer.peer_run);
  request.timeout = kRequestTime;
  request.known_etag = question.known_etag;
  const HttpReply reply = peer.exchange(std::move(request));
  if (reply.status == 304) return std::nullopt;
  if (reply.status != 200) throw_refusal(reply, question.peer.url);
  const ByteView body = as_bytes(reply.body);
  return read_offer(question, Bytes(body.begin(), body.end()));
}

void expect_room(const PeerQuestion& question, std::uint64_t bytes) {
  const std::uint64_t room = free_space(question.folder);
  if (room >= bytes && room - bytes >= question.disk_reserve_bytes) return;
  throw Error(ErrorKind::io,
              fmt::format("{}: {} MB are free, {} MB are needed and {} MB kept "
                          "free: make room on the disk",
                          question.folder.string(), room >> 20, bytes >> 20,
                          question.disk_reserve_bytes >> 20));
}

PeerModel take(const PeerQuestion& question, const SealedOffer& sealed,
               ObjectStore& objects) {
  const fs::path part = file_of(question.folder, question.peer.id, "part");
  const Hash& hash = sealed.offer.parameters;
  const std::string what =
      fmt::format("version {} of {}", sealed.offer.version, question.peer.url);
  {
    const MappedFile file(part);
    if (!all_finite(read_parameters(question.model, file.bytes(), what))) {
      refuse(what + ": it has numbers that are not finite");
    }
  }
  objects.adopt(part, hash);
  const Hash offer = objects.put(ByteView(sealed.bytes));
  forget_download(question.folder, question.peer.id);
  return {question.peer.id, sealed.offer, offer};
}

PeerModel fetch(const PeerQuestion& question, const SealedOffer& sealed,
                Connection& peer, ObjectStore& objects) {
  const ModelOffer& offer = sealed.offer;
  const std::uint64_t bytes = parameter_bytes(question.model);
  expect_room(question, bytes);
  try {
    download(
        [&](HttpRequest request) {
          request.timeout =
              kLeastTime + Seconds(static_cast<double>(bytes) / kSlowBytes);
          return peer.exchange(std::move(request));
        },
        {fmt::format("/v1/runs/{}/models/{}", offer.name, offer.entry),
         offer.parameters, bytes,
         fmt::format("version {} of {}", offer.version, question.peer.url)},
        file_of(question.folder, question.peer.id, "part"));
    return take(question, sealed, objects);
  } catch (const Error& error) {
    // Wrong bytes, or the peer has them no more: the next look begins anew.
    if (error.kind() == ErrorKind::corrupt) {
      forget_download(question.folder, question.peer.id);
    }
    throw;
  }
}

}  // namespace

PeerAnswer ask_peer(const PeerQuestion& question, const TransferMaker& make,
                    ObjectStore& objects, const std::stop_token& stop) {
  make_private_folder(question.folder);
  Connection peer(question, make, stop);
  std::optional<SealedOffer> offer = begun_offer(question);
  if (offer && offer->offer.parameters == question.peer.last_parameters) {
    forget_download(question.folder, question.peer.id);
    offer.reset();
  }
  if (!offer) {
    offer = newest_offer(question, peer);
    if (!offer) return {std::nullopt, question.known_etag};
    if (offer->offer.parameters == question.peer.last_parameters) {
      return {std::nullopt, etag_of(offer->bytes)};
    }
    const fs::path part = file_of(question.folder, question.peer.id, "part");
    fs::remove(part);  // of no offer that is known
    write_file_durably(file_of(question.folder, question.peer.id, "offer"),
                       offer->bytes, 0600);
  }
  return {fetch(question, *offer, peer, objects), etag_of(offer->bytes)};
}

void forget_download(const fs::path& folder, PeerId peer) {
  for (const char* what : {"offer", "part"}) {
    std::error_code ignored;  // there may be none
    fs::remove(file_of(folder, peer, what), ignored);
  }
}

}  // namespace quorate
