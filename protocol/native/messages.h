// The JSON control messages of the native door, both directions. Parsing checks
// everything once, at the border: bounded sizes and depth, unknown keys are
// skipped (newer clients), anything else throws corrupt, naming the field.
// Routes and examples: docs/protocol.md; openapi.json is served by the server.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/crypto.h"
#include "workunits/assignment.h"
#include "workunits/keyring.h"
#include "workunits/workunit.h"

namespace quorate::protocol {

// The payload of the sealed project statement, GET /v1/project. It is signed by
// the last key of the keyring that it carries. Of two, the one that was issued
// later holds, so that nobody can show an old one again; both times are 0 in
// what servers wrote before there were any.
struct ProjectStatement {
  std::string name;
  std::string url;  // where clients should reach it; may be empty
  Keyring keys;
  Millis issued = 0;
  Millis expires = 0;
  std::string tls_pin;  // "sha256//..." of the server's own certificate, or ""
  std::uint32_t arithmetic = 0;
};

// POST /v1/accounts: registers an account key (again: no change but the name).
struct AccountRequest {
  PublicKey account;
  std::string name;     // shown on the page; up to 64 bytes
  Signature signature;  // by the account key over account_message()
};
Bytes account_message(const ProjectId& project, const AccountRequest& request);
// POST /v1/accounts/deletion: the same request, in the session of a host of the
// account; its name says nothing. Signed over this, so that it cannot be sent
// again in another session. Cannot be undone.
Bytes deletion_message(const ProjectId& project, const PublicKey& account,
                       std::string_view token);

// POST /v1/hosts: registers a host of an account. Reply: HostReply.
struct HostRequest {
  PublicKey account;
  PublicKey host;
  std::string name;
  std::string platform;
  Signature account_signature;  // both over host_message()
  Signature host_signature;
  // Its owner chose the name, which may be shown to everybody. Not signed, for
  // servers that do not know it: who changes it on the way shows or hides a
  // name that he sees there anyhow.
  bool is_name_chosen = false;
};
Bytes host_message(const ProjectId& project, const HostRequest& request);
struct HostReply {
  HostId host = 0;
};

// POST /v1/sessions without `signature` asks for a challenge; with it, for a
// token, to be sent as "Authorization: Bearer TOKEN".
struct SessionRequest {
  PublicKey host;
  std::string challenge;  // 64 hexadecimal digits, as given
  Signature signature;    // by the host key over session_message()
  bool is_signed = false;
};
Bytes session_message(const ProjectId& project, const SessionRequest& request);
struct SessionReply {
  std::string challenge;  // or
  std::string token;
  Seconds heartbeat{30};
  std::uint64_t keys = 0;  // number of the project's keyring
};

struct Progress {
  ResultId result = 0;
  std::uint32_t step = 0;
  std::uint32_t steps = 0;
};
// A result that the host gives up, with the reason for the project's log.
struct Failure {
  ResultId result = 0;
  std::string why;
};

// That a host is one of a site's: machines of one owner, who gave each the same
// secret. The project knows neither the secret nor what the contact says.
struct SiteMember {
  Hash site;
  std::string contact;  // sealed, for its mates; up to kMaxContact bytes
};

// POST /v1/work (waits up to `wait` for work) and POST /v1/heartbeat.
struct WorkRequest {
  std::uint32_t want = 0;  // results that the host would take now, 0 to 64
  Seconds wait{0};         // at most 25 s
  std::string device;      // that will compute them
  double speed_flops = 0;  // measured; 0: unknown
  std::vector<Progress> holding;  // every result that the host has
  std::vector<Failure> failed;
  // That the host has, the last used first: a hint, for which units to make.
  std::vector<Hash> shards;
  std::optional<SiteMember> site = {};
};
struct WorkReply {
  std::vector<Assignment> assignments;
  std::vector<ResultId> cancel;  // stop these, their results are not needed
  std::vector<ResultId> closed;  // payloads that may be forgotten
  Seconds retry_after{0};        // ask again after this
  // Contacts of the other hosts of its site, if it named one.
  std::vector<std::string> mates = {};
  // No work will come: every run of the project is over.
  bool is_finished = false;
};

// POST /v1/results/ID carries SignedHeader: the header's bytes followed by the
// 64 bytes of the signature, as application/octet-stream. Reply:
struct ReportReply {
  bool accepted = false;  // stored durably; what it is worth shows later
  std::string reason;     // when not accepted
};

// GET /v1/hosts/me: what became of the results of the host that asks.
struct RunShare {
  std::string run;
  std::uint64_t results = 0;        // valid ones that are part of its model
  std::uint64_t first_version = 0;  // the first that has one of them
  std::uint64_t last_version = 0;   // the version that the last came with
};
struct StandingReply {
  HostId host = 0;
  std::uint64_t valid = 0;
  std::uint64_t invalid = 0;
  std::uint64_t errors = 0;       // given up, or never heard of again
  std::uint64_t pending = 0;      // reported, not yet judged
  std::uint64_t in_progress = 0;  // sent, not yet reported
  double credit = 0;              // of the host
  double user_credit = 0;         // of all hosts of its user
  std::vector<RunShare> runs;
};

// The payload statement is JSON too; seal it with SealKind::project.
std::string write(const ProjectStatement&);
std::string write(const AccountRequest&);
std::string write(const HostRequest&);
std::string write(const HostReply&);
std::string write(const SessionRequest&);
std::string write(const SessionReply&);
std::string write(const WorkRequest&);
std::string write(const WorkReply&);
std::string write(const ReportReply&);
std::string write(const StandingReply&);

ProjectStatement parse_project_statement(ByteView);
AccountRequest parse_account_request(ByteView);
HostRequest parse_host_request(ByteView);
HostReply parse_host_reply(ByteView);
SessionRequest parse_session_request(ByteView);
SessionReply parse_session_reply(ByteView);
WorkRequest parse_work_request(ByteView);
WorkReply parse_work_reply(ByteView);
ReportReply parse_report_reply(ByteView);
StandingReply parse_standing_reply(ByteView);

// Errors of every route: {"kind", "message", "retry_after"}.
struct ErrorReply {
  std::string kind;  // name_of(ErrorKind), or "new session"
  std::string message;
  Seconds retry_after{0};
};
std::string write(const ErrorReply&);
ErrorReply parse_error_reply(ByteView);

inline constexpr std::size_t kMaxSignedHeader = 4096;  // bytes
Bytes write_signed_header(const SignedHeader& header);
SignedHeader parse_signed_header(ByteView bytes);

}  // namespace quorate::protocol
