#include "client/exchange/project_api.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/error.h"
#include "protocol/transfer/refusal.h"

namespace quorate::client {
namespace {

// For a small request and its reply; a long poll adds its wait.
constexpr Seconds kRequestTime{20};

constexpr const char* kJson = "application/json";
constexpr const char* kBinary = "application/octet-stream";

// A network's login page, a proxy, another server. The project answers with a
// JSON object, but for HEAD, what goes to a sink (and is checked by its hash),
// and a range that it does not have.
bool is_foreign(const HttpRequest& request, const HttpReply& reply) {
  if (reply.status >= 300 && reply.status < 400) return true;
  bool has_json = request.method != HttpMethod::head && reply.status != 416 &&
                  (!request.sink || reply.status >= 300);
  return has_json && (reply.body.empty() || reply.body.front() != '{');
}

}  // namespace

HttpReply ProjectApi::send(const HttpRequest& request) {
  asked_delay_ = Seconds(0);
  HttpReply reply = transfer_.send(request, stop_);
  if (is_temporary(reply.status)) {
    asked_delay_ = read_refusal(reply).retry_after;
    throw_refusal(reply, request.path);
  }
  if (is_foreign(request, reply)) {
    throw Error(ErrorKind::unavailable,
                fmt::format("{}: something other than the project answers "
                            "(HTTP status {}): does this network ask for a "
                            "login?",
                            request.path, reply.status));
  }
  // Who is banned is told when to come back, too.
  if (reply.status >= 400) asked_delay_ = read_refusal(reply).retry_after;
  return reply;
}

HttpReply ProjectApi::post(const char* path, ByteView body,
                           const char* content_type) {
  HttpRequest request;
  request.method = HttpMethod::post;
  request.path = path;
  request.content_type = content_type;
  request.body = body;
  request.timeout = kRequestTime;
  HttpReply reply = send(request);
  if (reply.status >= 300) throw_refusal(reply, path);
  return reply;
}

protocol::SessionReply ProjectApi::enrol() {
  protocol::AccountRequest account;
  account.account = identity_.account.public_key();
  account.name = identity_.user_name;
  account.signature = identity_.account.sign(
      protocol::account_message(identity_.project, account));
  post("/v1/accounts", as_bytes(protocol::write(account)), kJson);

  protocol::HostRequest host;
  host.account = account.account;
  host.host = identity_.host.public_key();
  host.name = identity_.host_name;
  host.platform = identity_.platform;
  host.is_name_chosen = identity_.is_name_chosen;
  Bytes message = protocol::host_message(identity_.project, host);
  host.account_signature = identity_.account.sign(message);
  host.host_signature = identity_.host.sign(message);
  post("/v1/hosts", as_bytes(protocol::write(host)), kJson);

  protocol::SessionRequest session;
  session.host = host.host;
  HttpReply asked =
      post("/v1/sessions", as_bytes(protocol::write(session)), kJson);
  session.challenge =
      protocol::parse_session_reply(as_bytes(asked.body)).challenge;
  session.signature = identity_.host.sign(
      protocol::session_message(identity_.project, session));
  session.is_signed = true;
  HttpReply given =
      post("/v1/sessions", as_bytes(protocol::write(session)), kJson);
  protocol::SessionReply reply =
      protocol::parse_session_reply(as_bytes(given.body));
  if (reply.token.empty()) {
    throw Error(ErrorKind::corrupt, "open a session: the server gave no token");
  }
  return reply;
}

// A server that opens no session says nothing about any one task, and may be
// another at the project's address: whatever it says, we come back later. One
// that refuses and says when to come back means us: our account is banned.
protocol::SessionReply ProjectApi::open_session() {
  try {
    return enrol();
  } catch (const Error& e) {
    if (e.kind() == ErrorKind::unavailable) throw;
    if (e.kind() == ErrorKind::denied && asked_delay_ > Seconds(0)) throw;
    throw Error(ErrorKind::unavailable,
                fmt::format("open a session: {}: is another project served at "
                            "this address?",
                            e.what()));
  }
}

HttpReply ProjectApi::exchange(HttpRequest request) {
  auto open = [this] { return open_session(); };
  last_session_ = session_.token();
  if (last_session_.empty()) last_session_ = session_.renew("", open);
  request.bearer = last_session_;
  HttpReply reply = send(request);
  if (reply.status != 401) return reply;
  last_session_ = session_.renew(last_session_, open);
  request.bearer = last_session_;
  reply = send(request);
  if (reply.status == 401) {
    throw Error(ErrorKind::unavailable,
                request.path + ": the server refuses a session just opened");
  }
  return reply;
}

protocol::WorkReply ProjectApi::work_exchange(
    const char* path, const protocol::WorkRequest& work) {
  std::string body = protocol::write(work);
  HttpRequest request;
  request.method = HttpMethod::post;
  request.path = path;
  request.content_type = kJson;
  request.body = as_bytes(body);
  request.timeout = kRequestTime + work.wait;
  HttpReply reply = exchange(std::move(request));
  if (reply.status >= 300) throw_refusal(reply, path);
  protocol::WorkReply parsed = protocol::parse_work_reply(as_bytes(reply.body));
  asked_delay_ = parsed.retry_after;
  return parsed;
}

protocol::WorkReply ProjectApi::ask_for_work(
    const protocol::WorkRequest& request) {
  return work_exchange("/v1/work", request);
}

protocol::WorkReply ProjectApi::heartbeat(
    const protocol::WorkRequest& request) {
  return work_exchange("/v1/heartbeat", request);
}

protocol::StandingReply ProjectApi::standing() {
  HttpRequest request;
  request.path = "/v1/hosts/me";
  request.timeout = kRequestTime;
  HttpReply reply = exchange(std::move(request));
  if (reply.status >= 300) throw_refusal(reply, "ask for the host's standing");
  return protocol::parse_standing_reply(as_bytes(reply.body));
}

void ProjectApi::delete_account() {
  standing();  // which opens a session, if there is none that is good
  const std::string token = session_.token();
  protocol::AccountRequest account;
  account.account = identity_.account.public_key();
  account.signature = identity_.account.sign(
      protocol::deletion_message(identity_.project, account.account, token));
  const std::string body = protocol::write(account);
  HttpRequest request;
  request.method = HttpMethod::post;
  request.path = "/v1/accounts/deletion";
  request.content_type = kJson;
  request.body = as_bytes(body);
  request.timeout = kRequestTime;
  const HttpReply reply = exchange(std::move(request));
  if (reply.status == 404 || reply.status == 405) {
    throw Error(ErrorKind::unsupported,
                "delete the account: the project's server is too old for "
                "this: ask its operator, who has `quorate user delete` for it");
  }
  if (reply.status >= 300) throw_refusal(reply, "delete the account");
}

Bytes ProjectApi::receipt() {
  HttpRequest request;
  request.path = "/v1/hosts/me/receipt";
  request.timeout = kRequestTime;
  const HttpReply reply = exchange(std::move(request));
  if (reply.status >= 300) throw_refusal(reply, "ask for a receipt");
  const ByteView body = as_bytes(reply.body);
  return {body.begin(), body.end()};
}

ReportAnswer ProjectApi::report(ResultId result, const SignedHeader& header,
                                const std::string& upload_session) {
  using Kind = ReportAnswer::Kind;
  Bytes body = protocol::write_signed_header(header);
  HttpRequest request;
  request.method = HttpMethod::post;
  request.path = fmt::format("/v1/results/{}", result);
  request.content_type = kBinary;
  request.body = body;
  request.timeout = kRequestTime;
  request.bearer = upload_session;
  HttpReply reply =
      upload_session.empty() ? exchange(std::move(request)) : send(request);
  if (reply.status == 401) {
    return {Kind::upload_first, "the session of the upload is over"};
  }
  if (reply.status == 404 || reply.status == 410) {
    return {Kind::unknown, read_refusal(reply).message};
  }
  if (reply.status >= 300) {
    throw_refusal(reply, fmt::format("report result {}", result));
  }
  protocol::ReportReply parsed =
      protocol::parse_report_reply(as_bytes(reply.body));
  if (parsed.accepted) return {Kind::accepted, ""};
  return {Kind::rejected, parsed.reason};
}

}  // namespace quorate::client
