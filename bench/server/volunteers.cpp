#include "bench/server/volunteers.h"

#include "base/arithmetic.h"
#include "base/error.h"
#include "workunits/objects/safetensors.h"

namespace quorate::bench {
namespace {

std::string post(HttpClient& http, std::size_t connection, const char* path,
                 const std::string& body) {
  HttpReply reply =
      http.exchange(connection, http_request("POST", path, "", as_bytes(body)));
  if (reply.status != 200) {
    throw Error(ErrorKind::denied, std::string(path) + ": " + reply.body);
  }
  return reply.body;
}

}  // namespace

protocol::ProjectStatement fetch_statement(HttpClient& http,
                                           std::size_t connection) {
  HttpReply reply =
      http.exchange(connection, http_request("GET", "/v1/project", "", {}));
  ByteView sealed = as_bytes(reply.body);
  if (sealed.size() < kSealBytes) {
    throw Error(ErrorKind::corrupt, "/v1/project: no sealed statement");
  }
  return protocol::parse_project_statement(
      sealed.first(sealed.size() - kSealBytes));
}

ProjectId fetch_project(HttpClient& http, std::size_t connection) {
  return fetch_statement(http, connection).keys.project;
}

Volunteer enrol(HttpClient& http, std::size_t connection,
                const ProjectId& project, const std::string& name) {
  Volunteer who;
  protocol::AccountRequest account;
  account.account = who.account.public_key();
  account.name = name;
  account.signature =
      who.account.sign(protocol::account_message(project, account));
  post(http, connection, "/v1/accounts", protocol::write(account));

  protocol::HostRequest host;
  host.account = account.account;
  host.host = who.host.public_key();
  host.name = name;
  host.platform = "benchmark";
  Bytes message = protocol::host_message(project, host);
  host.account_signature = who.account.sign(message);
  host.host_signature = who.host.sign(message);
  std::string known =
      post(http, connection, "/v1/hosts", protocol::write(host));
  who.id = protocol::parse_host_reply(as_bytes(known)).host;

  protocol::SessionRequest session;
  session.host = host.host;
  std::string asked =
      post(http, connection, "/v1/sessions", protocol::write(session));
  session.challenge = protocol::parse_session_reply(as_bytes(asked)).challenge;
  session.signature =
      who.host.sign(protocol::session_message(project, session));
  session.is_signed = true;
  std::string given =
      post(http, connection, "/v1/sessions", protocol::write(session));
  who.token = protocol::parse_session_reply(as_bytes(given)).token;
  return who;
}

Bytes zero_update(const ModelSpec& model) {
  return write_parameters(model,
                          std::vector<float>(parameter_count(model), 0.0F));
}

Bytes signed_report(const Assignment& assignment, const PrivateKey& host,
                    const ProjectId& project, ByteView update,
                    std::uint64_t samples) {
  ResultHeader header;
  header.result_id = static_cast<std::uint64_t>(assignment.result);
  header.nonce = assignment.nonce;
  header.workunit = assignment.objects.at(0).hash;
  header.host = host.public_key();
  header.claim.update = sha256(update);
  header.claim.digests = {sha256({})};
  header.claim.samples = samples;
  header.device = "benchmark";
  header.arithmetic = kArithmeticVersion;
  header.proof =
      update_proof(header.nonce, header.host, update, header.claim.digests);
  return protocol::write_signed_header(sign_header(header, project, host));
}

}  // namespace quorate::bench
