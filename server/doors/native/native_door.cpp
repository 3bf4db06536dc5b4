#include "server/doors/native/native_door.h"

#include <charconv>

#include <fmt/format.h>

#include "base/error.h"
#include "base/log.h"
#include "protocol/limits.h"
#include "protocol/native/messages.h"
#include "server/doors/answer_from_writer.h"
#include "server/doors/native/native_upload.h"
#include "server/doors/native/receipts.h"
#include "server/doors/native/standing.h"
#include "server/doors/needed_objects.h"
#include "server/doors/refusals.h"
#include "server/http/clients/places.h"
#include "server/http/text.h"
#include "server/judging/consequences.h"
#include "server/settings/key_renewal.h"

namespace quorate {
namespace {

constexpr std::uint64_t kMaxMessage = 256 << 10;
// Of those who are not known yet, or who only say who they are.
constexpr std::uint64_t kMaxIdentity = 4 << 10;
constexpr std::string_view kOctets = "application/octet-stream";

Response new_session_response() {
  protocol::ErrorReply reply;
  reply.kind = "new session";
  reply.message = "this request needs a session: POST /v1/sessions";
  return json_response(401, protocol::write(reply));
}

// A member function as a route's handler.
Handler to(NativeDoor* door,
           void (NativeDoor::*handler)(const Request&, Responder)) {
  return [door, handler](Request& request, Responder responder) {
    (door->*handler)(request, std::move(responder));
  };
}

std::optional<ResultId> result_id(const Request& request) {
  std::string_view text = request.path_value("id");
  ResultId id = 0;
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), id);
  if (error != std::errc() || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return id;
}

Response closed_response() {
  return error_response(410, ErrorKind::denied,
                        "this result is not in progress at this host: drop it");
}

Response no_object_response(const Hash& hash, NoObject why) {
  if (why == NoObject::unneeded) {
    return error_response(
        404, ErrorKind::denied,
        "object " + hash.hex() + ": no result in progress needs it");
  }
  return error_response(
      404, ErrorKind::corrupt,
      "object " + hash.hex() +
          ": the server has lost it: its operator must restore it");
}

Response banned_response(const Host& host) {
  return error_response(403, ErrorKind::denied, banned_text(host),
                        kRefusedRetry);
}

// What register_them() answers; who is denied hears when to ask again: somebody
// has to do something first.
template <class Register>
Response or_refusal(Register&& register_them) {
  try {
    return register_them();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::denied) throw;
    return error_response(error.kind(), error.what(), kRefusedRetry);
  }
}

Error stale_challenge() {
  return Error(ErrorKind::denied,
               "new session: unknown, used or expired challenge: ask for "
               "another");
}

WorkWish wish_of(const protocol::WorkRequest& request) {
  WorkWish wish{request.want,        request.wait, request.device,
                request.speed_flops, {},           request.shards};
  for (const protocol::Progress& progress : request.holding) {
    wish.holding.push_back(progress.result);
  }
  return wish;
}

protocol::WorkReply reply_of(WorkAnswer answer) {
  return {std::move(answer.assignments),
          std::move(answer.cancel),
          std::move(answer.closed),
          answer.retry_after,
          {},
          false};
}

// Says of which site the host is, and returns the contacts of its mates.
std::vector<std::string> join_site(
    ProjectState& state, HostId host,
    const std::optional<protocol::SiteMember>& site) {
  const Instant now = state.clock.now();
  if (site) {
    state.sites.note(host, site->site, site->contact, now);
  } else {
    state.sites.note(host, Hash{}, {}, now);
  }
  return state.sites.mates_of(host, now, protocol::kMaxMates);
}

// Empty if there is none.
std::string_view token_of(const Request& request) {
  constexpr std::string_view kScheme = "Bearer ";
  const std::string_view header = request.header("authorization");
  if (!header.starts_with(kScheme)) return "";
  return header.substr(kScheme.size());
}

Response report_response(const Acknowledgement& answer) {
  return json_response(200, protocol::write(protocol::ReportReply{
                                answer.accepted, answer.reason}));
}

}  // namespace

NativeDoor::NativeDoor(Project& project, std::string tls_pin)
    : project_(project),
      state_(project.state()),
      tls_pin_(std::move(tls_pin)),
      sessions_(project.state().clock),
      ledger_(project),
      uploads_(project.uploads()) {}

void NativeDoor::add_routes(Router& router) {
  router.add(Method::get, "/v1/project", [this](Request&, Responder responder) {
    Response response;
    response.content_type = kOctets;
    response.body = statement();
    responder.send(no_store(std::move(response)));
  });
  ledger_.add_routes(router);
  router.add(Method::post, "/v1/accounts", to(this, &NativeDoor::post_account),
             kMaxIdentity);
  router.add(Method::post, "/v1/accounts/deletion",
             to(this, &NativeDoor::post_deletion), kMaxIdentity);
  router.add(Method::post, "/v1/hosts", to(this, &NativeDoor::post_host),
             kMaxIdentity);
  router.add(Method::get, "/v1/hosts/me", to(this, &NativeDoor::get_standing));
  router.add(Method::get, "/v1/hosts/me/receipt",
             to(this, &NativeDoor::get_receipt));
  router.add(Method::post, "/v1/sessions", to(this, &NativeDoor::post_session),
             kMaxIdentity);
  router.add(Method::post, "/v1/work", to(this, &NativeDoor::post_work),
             kMaxMessage);
  router.add(Method::post, "/v1/heartbeat",
             to(this, &NativeDoor::post_heartbeat), kMaxMessage);
  router.add(Method::get, "/v1/objects/{hash}",
             to(this, &NativeDoor::get_object));
  router.add(Method::head, "/v1/results/{id}/update",
             to(this, &NativeDoor::head_update));
  router.add(Method::post, "/v1/results/{id}",
             to(this, &NativeDoor::post_result), kMaxMessage);
  // The task's own bound is checked before the first byte is read.
  router.add_upload(
      Method::put, "/v1/results/{id}/update",
      [this](Request& request) { return put_update(request); },
      std::uint64_t{1} << 36);
}

Bytes NativeDoor::statement() {
  constexpr Seconds kAnew{86'400};
  const std::lock_guard lock(statement_mutex_);
  const Instant now = state_.clock.now();
  if (statement_.empty() || now - statement_issued_ >= kAnew) {
    log_key_end(state_.keys.ring, state_.clock.unix_ms());
    statement_ = project_.statement(tls_pin_);
    statement_issued_ = now;
  }
  return statement_;
}

std::optional<Session> NativeDoor::session_of(const Request& request) const {
  const std::string_view token = token_of(request);
  return token.empty() ? std::nullopt : sessions_.find(std::string(token));
}

std::optional<OpenResult> NativeDoor::open_result(
    const Request& request, const Session& session) const {
  std::optional<ResultId> id = result_id(request);
  if (!id) return std::nullopt;
  std::optional<OpenResult> open = state_.open_results.find(*id);
  if (!open || open->host != session.host) return std::nullopt;
  return open;
}

Response NativeDoor::not_open_response(const Request& request,
                                       const Session& session) const {
  std::optional<ResultId> id = result_id(request);
  if (!id || !state_.open_results.is_on_hold(*id, session.host)) {
    return closed_response();
  }
  return error_response(ErrorKind::unavailable, on_hold(*id).what());
}

void NativeDoor::post_account(const Request& request, Responder responder) {
  auto account = protocol::parse_account_request(request.body);
  if (!verify(account.account, account_message(state_.keys.id, account),
              account.signature)) {
    throw Error(ErrorKind::denied,
                "register account: the signature does not fit the key");
  }
  Places places = places_of(request.remote_address);
  answer_from_writer(project_, std::move(responder), [this, account, places] {
    if (state_.hosts.user_by_key(account.account) == nullptr) {
      if (auto wait = state_.new_accounts.join(places)) {
        return crowded_response("register account", *wait);
      }
    }
    return or_refusal([&] {
      const User& user = state_.hosts.register_user(
          account.account, account.name, state_.clock.unix_ms());
      return json_response(200, fmt::format("{{\"user\":{}}}", user.id));
    });
  });
}

void NativeDoor::post_deletion(const Request& request, Responder responder) {
  const std::optional<Session> session = session_of(request);
  if (!session) return responder.send(new_session_response());
  const auto wanted = protocol::parse_account_request(request.body);
  if (!verify(wanted.account,
              protocol::deletion_message(state_.keys.id, wanted.account,
                                         token_of(request)),
              wanted.signature)) {
    throw Error(ErrorKind::denied,
                "delete account: the signature does not fit the key and this "
                "session");
  }
  answer_from_writer(project_, std::move(responder), [this, session, wanted] {
    const User* user = state_.hosts.user_by_key(wanted.account);
    if (user == nullptr ||
        user->id != state_.hosts.host(session->host)->user_id) {
      throw Error(ErrorKind::denied,
                  "delete account: the host that asks is another account's");
    }
    Daemons& daemons = project_.daemons();
    if (user->deleted == 0) Consequences(state_).delete_user(user->id);
    daemons.transitioner.look_at_all();
    daemons.transitioner.settle();
    daemons.scheduler.wake();
    return json_response(200, "{}");
  });
}

void NativeDoor::post_host(const Request& request, Responder responder) {
  auto wanted = protocol::parse_host_request(request.body);
  Bytes message = host_message(state_.keys.id, wanted);
  if (!verify(wanted.account, message, wanted.account_signature) ||
      !verify(wanted.host, message, wanted.host_signature)) {
    throw Error(ErrorKind::denied,
                "register host: a signature does not fit its key");
  }
  Places places = places_of(request.remote_address);
  answer_from_writer(project_, std::move(responder), [this, wanted, places] {
    bool is_new = state_.hosts.host_by_key(wanted.host) == nullptr;
    if (is_new) {
      if (auto wait = state_.new_hosts.join(places)) {
        return crowded_response("register host", *wait);
      }
    }
    Host host;
    host.key = wanted.host;
    host.name = wanted.name;
    host.has_chosen_name = wanted.is_name_chosen;
    host.platform = wanted.platform;
    host.door = kNativeDoor;
    return or_refusal([&] {
      const Host& known = state_.hosts.register_host(host, wanted.account,
                                                     state_.clock.unix_ms());
      if (is_new) {
        state_.record(
            "host_joined", 0, known.id,
            state_.hosts.user(known.user_id)->name + ": " + known.platform);
      }
      return json_response(200, protocol::write(protocol::HostReply{known.id}));
    });
  });
}

void NativeDoor::get_standing(const Request& request, Responder responder) {
  std::optional<Session> session = session_of(request);
  if (!session) return responder.send(new_session_response());
  answer_from_writer(project_, std::move(responder), [this, session] {
    return json_response(200,
                         protocol::write(standing_of(state_, session->host)));
  });
}

void NativeDoor::get_receipt(const Request& request, Responder responder) {
  std::optional<Session> session = session_of(request);
  if (!session) return responder.send(new_session_response());
  answer_from_writer(project_, std::move(responder), [this, session] {
    Response response;
    response.content_type = kOctets;
    response.body =
        seal_receipt(receipt_of(state_, session->host), state_.keys.project);
    return response;
  });
}

void NativeDoor::post_session(const Request& request, Responder responder) {
  auto wanted = protocol::parse_session_request(request.body);
  protocol::SessionReply reply;
  reply.heartbeat = state_.settings.heartbeat;
  reply.keys = state_.keys.ring.number;
  if (!wanted.is_signed) {
    reply.challenge = sessions_.new_challenge();
    responder.send(no_store(json_response(200, protocol::write(reply))));
    return;
  }
  if (!sessions_.is_fresh(wanted.challenge)) throw stale_challenge();
  if (!verify(wanted.host, session_message(state_.keys.id, wanted),
              wanted.signature)) {
    throw Error(ErrorKind::denied,
                "new session: the signature does not fit the host key");
  }
  answer_from_writer(
      project_, std::move(responder), [this, wanted, reply]() mutable {
        const Host* host = state_.hosts.host_by_key(wanted.host);
        if (host == nullptr) {
          throw Error(
              ErrorKind::denied,
              "new session: this host is not registered: POST /v1/hosts");
        }
        if (!sessions_.use_challenge(wanted.challenge)) throw stale_challenge();
        reply.token = sessions_.open({host->id, host->key});
        return no_store(json_response(200, protocol::write(reply)));
      });
}

void NativeDoor::post_work(const Request& request, Responder responder) {
  ask_scheduler(request, std::move(responder), &Scheduler::request_work);
}

void NativeDoor::post_heartbeat(const Request& request, Responder responder) {
  ask_scheduler(request, std::move(responder), &Scheduler::heartbeat);
}

void NativeDoor::ask_scheduler(const Request& request, Responder responder,
                               void (Scheduler::*question)(HostId,
                                                           const WorkWish&,
                                                           Scheduler::Send)) {
  std::optional<Session> session = session_of(request);
  if (!session) return responder.send(new_session_response());
  auto wanted = protocol::parse_work_request(request.body);
  auto shared = std::make_shared<Responder>(std::move(responder));
  project_.daemons().post([this, session, wanted, shared, question,
                           address = request.remote_address] {
    Daemons& daemons = project_.daemons();
    if (state_.is_banned(session->host)) {
      return shared->send(banned_response(*state_.hosts.host(session->host)));
    }
    if (auto wait = state_.asks.join(std::to_string(session->host))) {
      return shared->send(error_response(
          429, ErrorKind::unavailable,
          "this host asks too often: wait before it asks again", *wait));
    }
    state_.known_clients.note(address);
    state_.hosts.note_block(session->host, block_of(address),
                            state_.clock.now());
    for (const protocol::Failure& failure : wanted.failed) {
      daemons.transitioner.on_failed(session->host, failure.result,
                                     failure.why);
    }
    std::vector<std::string> mates =
        join_site(state_, session->host, wanted.site);
    (daemons.scheduler.*question)(
        session->host, wish_of(wanted),
        [&state = state_, shared,
         mates = std::move(mates)](WorkAnswer answer) mutable {
          protocol::WorkReply reply = reply_of(std::move(answer));
          reply.mates = std::move(mates);
          reply.is_finished = state.is_finished();
          shared->send_made([reply = std::move(reply)] {
            return json_response(200, protocol::write(reply));
          });
        });
  });
}

void NativeDoor::get_object(const Request& request, Responder responder) {
  if (!session_of(request)) return responder.send(new_session_response());
  Hash hash = parse_hex<Hash>(request.path_value("hash"), "object hash");
  send_needed_object(
      project_, hash, std::move(responder),
      [hash](NoObject why) { return no_object_response(hash, why); });
}

void NativeDoor::head_update(const Request& request, Responder responder) {
  std::optional<Session> session = session_of(request);
  if (!session) return responder.send(new_session_response());
  std::optional<OpenResult> open = open_result(request, *session);
  if (!open) return responder.send(not_open_response(request, *session));
  Response response;
  response.headers.emplace_back("Upload-Offset",
                                std::to_string(uploads_.offset(*open)));
  responder.send(std::move(response));
}

std::variant<std::unique_ptr<BodySink>, Response> NativeDoor::put_update(
    Request& request) {
  std::optional<Session> session = session_of(request);
  if (!session) return new_session_response();
  std::optional<OpenResult> open = open_result(request, *session);
  if (!open) return not_open_response(request, *session);
  return open_native_upload(uploads_, *open, request);
}

void NativeDoor::post_result(const Request& request, Responder responder) {
  std::optional<Session> session = session_of(request);
  if (!session) return responder.send(new_session_response());
  std::optional<ResultId> id = result_id(request);
  if (!id) return responder.send(closed_response());
  SignedHeader header = protocol::parse_signed_header(request.body);
  screening_.post([this, session, id, header,
                   responder = std::move(responder)]() mutable {
    try {
      screen_report(*session, *id, header, std::move(responder));
    } catch (const std::exception& error) {
      log_error("screening_failed", {{"result", *id}, {"error", error.what()}});
    }
  });
}

void NativeDoor::screen_report(const Session& session, ResultId id,
                               const SignedHeader& header,
                               Responder responder) {
  HostId host = session.host;
  // Looked up here: of reports that repeat, those that came late cost little.
  std::optional<OpenResult> open = state_.open_results.find(id);
  if (!open || open->host != host) {
    return answer_from_writer(
        project_, std::move(responder), [this, host, id, header] {
          return report_response(
              project_.daemons().reports.repeat(host, id, header));
        });
  }
  ScreenedReport report;
  try {
    report = project_.daemons().reports.screen(*open, header);
  } catch (const Error& error) {
    // Of the server's own failures only the log tells more than that.
    if (error.kind() == ErrorKind::io) throw;
    return responder.send(error_response(error.kind(), error.what()));
  }
  answer_from_writer(project_, std::move(responder),
                     [this, host, id, report = std::move(report)] {
                       return report_response(
                           project_.daemons().reports.store(host, id, report));
                     });
}

}  // namespace quorate
