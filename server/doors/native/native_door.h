// The native door: routes under /v1/, JSON and binary objects. Thin: parses
// with protocol/native, checks who is talking, hands over to the daemons.
// docs/protocol.md; the OpenAPI document is served at /v1/openapi.json.
//
// The room server/doors/native owns the sessions of native hosts and a
// screening thread. It may include protocol/native and what doors may. Handlers
// run on I/O threads and change nothing themselves: they post to the writer.
#pragma once

#include <mutex>
#include <string>

#include "server/doors/native/ledger_route.h"
#include "server/doors/sessions.h"
#include "server/http/router.h"
#include "server/objects/upload.h"
#include "server/project/project.h"
#include "server/writer/job_thread.h"

namespace quorate {

class NativeDoor {
 public:
  // tls_pin: of the certificate in use, or "".
  NativeDoor(Project& project, std::string tls_pin);

  void add_routes(Router& router);

 private:
  // These two check signatures on the I/O thread, and join limits on the
  // writer's. Registering again is safe: it gives the same ids.
  void post_account(const Request& request, Responder responder);
  // For an account key's owner; see Consequences::delete_user.
  void post_deletion(const Request& request, Responder responder);
  void post_host(const Request& request, Responder responder);
  void get_standing(const Request& request, Responder responder);
  void get_receipt(const Request& request, Responder responder);
  // First without signature: answers a challenge. Then with it: a token.
  void post_session(const Request& request, Responder responder);
  // Failures that the request names are noted before it is answered; the answer
  // may wait up to the request's `wait`.
  void post_work(const Request& request, Responder responder);
  void post_heartbeat(const Request& request, Responder responder);
  void ask_scheduler(const Request& request, Responder responder,
                     void (Scheduler::*question)(HostId, const WorkWish&,
                                                 Scheduler::Send));
  // Only what a result in progress needs; see needed_objects.h.
  void get_object(const Request& request, Responder responder);
  void head_update(const Request& request, Responder responder);
  std::variant<std::unique_ptr<BodySink>, Response> put_update(
      Request& request);
  // The signed header; answered when it is durable. Reporting again is safe.
  void post_result(const Request& request, Responder responder);
  // On the screening thread: it reads a whole update.
  void screen_report(const Session& session, ResultId id,
                     const SignedHeader& header, Responder responder);

  // nullopt if the token is missing, unknown or too old.
  std::optional<Session> session_of(const Request& request) const;
  // The result that the path names, if this session's host has it in progress.
  std::optional<OpenResult> open_result(const Request& request,
                                        const Session& session) const;
  // Why it has not.
  Response not_open_response(const Request& request,
                             const Session& session) const;

  Project& project_;
  ProjectState& state_;
  // Issued anew each day.
  Bytes statement();
  std::string tls_pin_;
  std::mutex statement_mutex_;
  Bytes statement_;
  Instant statement_issued_{};
  Sessions sessions_;
  LedgerRoute ledger_;
  Uploads& uploads_;
  JobThread screening_;  // last: its jobs use the others
};

}  // namespace quorate
