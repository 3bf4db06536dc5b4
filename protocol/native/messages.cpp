// Accounts, hosts, sessions, the project statement and errors. The messages
// about work are in work_messages.cpp.
#include "protocol/native/messages.h"

#include <nlohmann/json.hpp>

#include "protocol/json_reader.h"
#include "protocol/limits.h"
#include "protocol/text.h"

namespace quorate::protocol {

using Json = nlohmann::ordered_json;

std::string write(const ProjectStatement& statement) {
  Json json{{"name", plain_text(statement.name, kMaxName)},
            {"url", plain_text(statement.url, kMaxUrl)},
            {"key", statement.keys.current().key.hex()},
            {"tls_pin", plain_text(statement.tls_pin, kMaxPin)},
            {"arithmetic", statement.arithmetic}};
  if (statement.issued != 0) json["issued"] = statement.issued;
  if (statement.expires != 0) json["expires"] = statement.expires;
  if (statement.keys.number != 0) {
    json["keyring"] = to_hex(statement.keys.sealed);
  }
  return json.dump();
}

ProjectStatement parse_project_statement(ByteView bytes) {
  JsonDocument document(bytes, "project statement");
  JsonValue root = document.root();
  ProjectStatement statement;
  statement.name = root.at("name").text(kMaxName);
  if (auto url = root.find("url")) statement.url = url->text(kMaxUrl);
  auto list = root.find("keyring");
  statement.keys = keyring_named(root.at("key").hex<PublicKey>(),
                                 list ? list->text(kMaxKeyringHex) : "",
                                 "project statement");
  if (auto issued = root.find("issued")) {
    statement.issued = static_cast<Millis>(issued->integer(kMaxTime));
  }
  if (auto expires = root.find("expires")) {
    statement.expires = static_cast<Millis>(expires->integer(kMaxTime));
  }
  if (auto pin = root.find("tls_pin")) statement.tls_pin = pin->text(kMaxPin);
  statement.arithmetic = root.at("arithmetic").integer32();
  return statement;
}

std::string write(const AccountRequest& request) {
  return Json{{"account", request.account.hex()},
              {"name", plain_text(request.name, kMaxName)},
              {"signature", request.signature.hex()}}
      .dump();
}

AccountRequest parse_account_request(ByteView bytes) {
  JsonDocument document(bytes, "account request");
  JsonValue root = document.root();
  AccountRequest request;
  request.account = root.at("account").hex<PublicKey>();
  request.name = root.at("name").text(kMaxName);
  request.signature = root.at("signature").hex<Signature>();
  return request;
}

std::string write(const HostRequest& request) {
  Json json = {{"account", request.account.hex()},
               {"host", request.host.hex()},
               {"name", plain_text(request.name, kMaxName)},
               {"platform", plain_text(request.platform, kMaxPlatform)},
               {"account_signature", request.account_signature.hex()},
               {"host_signature", request.host_signature.hex()}};
  if (request.is_name_chosen) json["name_chosen"] = true;
  return json.dump();
}

HostRequest parse_host_request(ByteView bytes) {
  JsonDocument document(bytes, "host request");
  JsonValue root = document.root();
  HostRequest request;
  request.account = root.at("account").hex<PublicKey>();
  request.host = root.at("host").hex<PublicKey>();
  request.name = root.at("name").text(kMaxName);
  request.platform = root.at("platform").text(kMaxPlatform);
  if (auto chosen = root.find("name_chosen")) {
    request.is_name_chosen = chosen->boolean();
  }
  request.account_signature = root.at("account_signature").hex<Signature>();
  request.host_signature = root.at("host_signature").hex<Signature>();
  return request;
}

std::string write(const HostReply& reply) {
  return Json{{"host", reply.host}}.dump();
}

HostReply parse_host_reply(ByteView bytes) {
  JsonDocument document(bytes, "host reply");
  return {document.root().at("host").id()};
}

std::string write(const SessionRequest& request) {
  Json json{{"host", request.host.hex()}};
  if (request.is_signed) {
    json["challenge"] = request.challenge;
    json["signature"] = request.signature.hex();
  }
  return json.dump();
}

SessionRequest parse_session_request(ByteView bytes) {
  JsonDocument document(bytes, "session request");
  JsonValue root = document.root();
  SessionRequest request;
  request.host = root.at("host").hex<PublicKey>();
  if (auto signature = root.find("signature")) {
    request.is_signed = true;
    request.signature = signature->hex<Signature>();
    request.challenge = root.at("challenge").hex<Hash>().hex();
  }
  return request;
}

std::string write(const SessionReply& reply) {
  if (reply.token.empty()) return Json{{"challenge", reply.challenge}}.dump();
  Json json{{"token", reply.token}, {"heartbeat", reply.heartbeat.count()}};
  if (reply.keys != 0) json["keys"] = reply.keys;
  return json.dump();
}

SessionReply parse_session_reply(ByteView bytes) {
  JsonDocument document(bytes, "session reply");
  JsonValue root = document.root();
  SessionReply reply;
  if (auto token = root.find("token")) {
    reply.token = token->hex<Hash>().hex();
    reply.heartbeat = root.at("heartbeat").seconds(kMaxSeconds);
    if (auto keys = root.find("keys")) reply.keys = keys->integer(kMaxCount);
  } else {
    reply.challenge = root.at("challenge").hex<Hash>().hex();
  }
  return reply;
}

std::string write(const ErrorReply& reply) {
  return Json{{"kind", plain_text(reply.kind, kMaxName)},
              {"message", plain_text(reply.message, kMaxReason)},
              {"retry_after", reply.retry_after.count()}}
      .dump();
}

ErrorReply parse_error_reply(ByteView bytes) {
  JsonDocument document(bytes, "error reply");
  JsonValue root = document.root();
  ErrorReply reply;
  reply.kind = root.at("kind").text(kMaxName);
  reply.message = root.at("message").text(kMaxReason);
  if (auto after = root.find("retry_after")) {
    reply.retry_after = after->seconds(kMaxSeconds);
  }
  return reply;
}

}  // namespace quorate::protocol
