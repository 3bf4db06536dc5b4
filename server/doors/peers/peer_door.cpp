#include "server/doors/peers/peer_door.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "base/arithmetic.h"
#include "base/error.h"
#include "base/log.h"
#include "protocol/native/peer_messages.h"
#include "protocol/transfer/project_address.h"
#include "server/doors/answer_from_writer.h"
#include "server/http/clients/places.h"
#include "server/http/text.h"
#include "workunits/model_offer.h"

namespace quorate {
namespace {

constexpr std::uint64_t kMaxMessage = (4 << 10) + kMaxKeyringHex;
constexpr std::string_view kOctets = "application/octet-stream";
// On average; a burst may have twelve times as many. A look opens one session
// and takes one or two requests more; the most often is one a second.
constexpr double kAttemptsPerMinute = 90;
constexpr double kRequestsPerMinute = 180;

// Sessions count tokens by host.
HostId number_of(const PublicKey& key) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < sizeof number; ++i) {
    number = number << 8 | key.bytes[i];
  }
  return static_cast<HostId>(number);
}

Response too_often(Seconds wait) {
  return error_response(429, ErrorKind::denied,
                        "too many requests: ask less often", wait);
}

std::optional<std::uint64_t> number_in(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_number =
      error == std::errc() && end == text.data() + text.size();
  return is_number ? std::optional(number) : std::nullopt;
}

// Which parameters an entry of a ledger publishes; nullopt: it does not.
std::optional<std::pair<std::uint64_t, Hash>> published_by(
    const LedgerRecord& record) {
  const LedgerEntry entry = parse_entry(record.line);
  if (const auto* run = std::get_if<RunCreated>(&entry.body)) {
    return std::pair{std::uint64_t{0}, run->initial};
  }
  if (const auto* at = std::get_if<SnapshotPublished>(&entry.body)) {
    return std::pair{at->version, at->parameters};
  }
  return std::nullopt;
}

Response no_run_response(const std::string& name) {
  return error_response(404, ErrorKind::denied,
                        fmt::format("there is no run {}", name));
}

// Without a word about whether the entry was never there.
Response no_model_response(const std::string& run, std::uint64_t entry) {
  return error_response(404, ErrorKind::denied,
                        fmt::format("run {}: the model of ledger entry {} is "
                                    "not here: ask for a new offer",
                                    run, entry));
}

}  // namespace

PeerDoor::PeerDoor(Project& project)
    : project_(project),
      state_(project.state()),
      sessions_(state_.clock),
      attempts_(kAttemptsPerMinute, state_.clock),
      requests_(kRequestsPerMinute, state_.clock) {}

void PeerDoor::add_routes(Router& router) {
  router.add(
      Method::post, "/v1/peers/sessions",
      [this](Request& request, Responder responder) {
        post_session(request, std::move(responder));
      },
      kMaxMessage);
  router.add(Method::get, "/v1/runs/{run}/model",
             [this](Request& request, Responder responder) {
               get_offer(request, std::move(responder));
             });
  router.add(Method::get, "/v1/runs/{run}/models/{entry}",
             [this](Request& request, Responder responder) {
               get_model(request, std::move(responder));
             });
}

void PeerDoor::expect_allowed(const PublicKey& peer) {
  const ProjectId id = project_id_of(peer);
  const std::vector<AllowedPeer> allowed = state_.store.allowed_peers();
  const bool is_allowed = std::any_of(
      allowed.begin(), allowed.end(),
      [&](const AllowedPeer& one) { return matches(one.fingerprint, id); });
  if (is_allowed) return;
  throw Error(
      ErrorKind::denied,
      fmt::format("project {0} may not take models from here: its operator has "
                  "to ask this one's to run `quorate peers allow {0}`",
                  fingerprint(id)));
}

void PeerDoor::post_session(const Request& request, Responder responder) {
  auto wanted = protocol::parse_peer_session_request(request.body);
  protocol::SessionReply reply;
  reply.heartbeat = state_.settings.heartbeat;
  if (!wanted.is_signed) {
    reply.challenge = sessions_.new_challenge();
    return responder.send(no_store(json_response(200, protocol::write(reply))));
  }
  answer_from_writer(
      project_, std::move(responder),
      [this, wanted, reply,
       places = places_of(request.remote_address)]() mutable {
        if (auto wait = attempts_.join(places)) return too_often(*wait);
        // A stranger costs no look at its signature.
        const Keyring keys =
            keyring_named(wanted.project, wanted.keyring, "new session");
        const PublicKey& root = keys.root;
        expect_allowed(root);
        if (!speaks(keys.current(), state_.clock.unix_ms())) {
          throw Error(ErrorKind::denied,
                      "new session: the time of your project's key is over, or "
                      "one of our clocks is wrong: renew the key with `quorate "
                      "keys renew`");
        }
        const bool is_proven =
            sessions_.is_fresh(wanted.challenge) &&
            verify(wanted.project,
                   protocol::peer_session_message(state_.keys.id, wanted),
                   wanted.signature) &&
            sessions_.use_challenge(wanted.challenge);
        if (!is_proven) {
          throw Error(ErrorKind::denied,
                      "new session: the signature does not fit the project's "
                      "key, or the challenge is old: ask for another");
        }
        reply.token = sessions_.open({number_of(root), root});
        return no_store(json_response(200, protocol::write(reply)));
      });
}

void PeerDoor::answer(const Request& request, Responder responder,
                      std::function<Response()> job) {
  constexpr std::string_view kScheme = "Bearer ";
  const std::string_view header = request.header("authorization");
  std::optional<Session> session;
  if (header.starts_with(kScheme)) {
    session = sessions_.find(std::string(header.substr(kScheme.size())));
  }
  if (!session) {
    protocol::ErrorReply reply;
    reply.kind = "new session";
    reply.message = "this request needs a session: POST /v1/peers/sessions";
    return responder.send(json_response(401, protocol::write(reply)));
  }
  answer_from_writer(project_, std::move(responder),
                     [this, key = session->key, job = std::move(job)] {
                       if (auto wait = requests_.join(key.hex())) {
                         return too_often(*wait);
                       }
                       expect_allowed(key);
                       return job();
                     });
}

void PeerDoor::get_offer(const Request& request, Responder responder) {
  answer(request, std::move(responder),
         [this, run = std::string(request.path_value("run"))] {
           return offer_response(run);
         });
}

void PeerDoor::get_model(const Request& request, Responder responder) {
  const auto entry = number_in(request.path_value("entry"));
  if (!entry) {
    throw Error(ErrorKind::usage, "the model of an offer: expected a number");
  }
  answer(request, std::move(responder),
         [this, run = std::string(request.path_value("run")), entry] {
           return model_response(run, *entry);
         });
}

Response PeerDoor::offer_response(const std::string& name) {
  const TrainingRun* training = state_.run_by_name(name);
  if (training == nullptr) return no_run_response(name);
  const Run& run = training->run;
  const LedgerRecord record =
      state_.store.last_snapshot_record(run.key).value();
  auto& [hash, sealed] = offers_[run.key];
  if (hash != record.hash) {
    const auto published = published_by(record).value();
    ModelOffer offer;
    offer.keys = state_.keys.ring;
    offer.run = run.id;
    offer.name = run.name;
    offer.model = run.model;
    offer.arithmetic = kArithmeticVersion;
    offer.version = published.first;
    offer.parameters = published.second;
    offer.entry = record.seq;
    offer.record = record.hash;
    sealed = seal_offer(offer, state_.keys.project);
    hash = record.hash;
  }
  Response response;
  response.content_type = kOctets;
  response.etag = fmt::format("\"{}\"", sha256(sealed).hex());
  response.body = sealed;
  return response;
}

Response PeerDoor::model_response(const std::string& name,
                                  std::uint64_t entry) {
  const TrainingRun* training = state_.run_by_name(name);
  if (training == nullptr) return no_run_response(name);
  const std::vector<LedgerRecord> found =
      state_.store.ledger(training->run.key, entry, 1);
  if (found.empty() || found[0].seq != entry) {
    return no_model_response(name, entry);
  }
  const auto published = published_by(found[0]);
  if (!published || !state_.objects.contains(published->second)) {
    return no_model_response(name, entry);
  }
  try {
    return file_response(state_.objects.path(published->second), kOctets,
                         published->second.hex());
  } catch (const Error& error) {
    // Here it would mean that the store has failed.
    if (error.kind() != ErrorKind::io) throw;
    log_error("peer_model_unreadable", {{"why", error.what()}});
    return error_response(503, ErrorKind::unavailable,
                          "this model cannot be read now: its operator can "
                          "see why in the server's log");
  }
}

}  // namespace quorate
