// The routes of the native door as functions: one request, one reply, in the
// types of protocol/native. Keeps the session: a token that the server no
// longer knows is replaced, unseen by the caller.
//
// The room client/exchange is all that speaks to a project: requests,
// downloads, uploads, signing, and the cache of objects that were checked. It
// owns the session's token (memory) and objects/ of a project's folder. It may
// include client/folder and what stands before it.
//
// Errors of all of them: unavailable when the server cannot be reached, is
// overloaded or gave up (asked_delay() says when to return), denied, corrupt
// and unsupported in the server's words otherwise. All block until the answer
// is here or `stop` was asked for; then they throw unavailable.
#pragma once

#include <stop_token>
#include <string>

#include "client/exchange/session.h"
#include "protocol/native/messages.h"
#include "protocol/transfer/transfer.h"
#include "workunits/workunit.h"

namespace quorate::client {

// What became of a report.
struct ReportAnswer {
  enum class Kind {
    accepted,
    rejected,
    unknown,       // the project knows no such result
    upload_first,  // the session of the upload is over
  };
  Kind kind = Kind::accepted;
  std::string reason;  // unless accepted
};

// Used by one thread; borrows everything it is given.
class ProjectApi {
 public:
  ProjectApi(Transfer& transfer, const Identity& identity, Session& session,
             std::stop_token stop)
      : transfer_(transfer),
        identity_(identity),
        session_(session),
        stop_(std::move(stop)) {}

  // Waits as long as the request says, if the server has nothing.
  protocol::WorkReply ask_for_work(const protocol::WorkRequest& request);
  // Renews leases; never brings work.
  protocol::WorkReply heartbeat(const protocol::WorkRequest& request);
  // What became of this host's results.
  protocol::StandingReply standing();
  // Has the project delete this account, with all its hosts: what they did
  // stays, under their keys alone. Cannot be undone.
  void delete_account();
  // The sealed receipt of this host, unchecked: workunits/receipt.
  Bytes receipt();
  // upload_session: the token under which the payload went up, empty if there
  // is none. A server that was restarted knows neither the session nor that
  // the upload was complete, and would reject the report for want of a payload:
  // so a report stays within the session of its upload.
  ReportAnswer report(ResultId result, const SignedHeader& header,
                      const std::string& upload_session);

  // Sends within the session. Returns replies below 500 other than 401, 408
  // and 429.
  HttpReply exchange(HttpRequest request);
  // The token under which the last exchange went.
  const std::string& last_session() const { return last_session_; }

  // What the last reply asked for; 0: nothing.
  Seconds asked_delay() const { return asked_delay_; }
  bool is_stopping() const { return stop_.stop_requested(); }
  const std::stop_token& stop() const { return stop_; }

 private:
  // Registers account and host (again and again: it changes nothing) and opens
  // a session.
  protocol::SessionReply enrol();
  // As enrol(); throws unavailable whatever goes wrong, but denied where the
  // server refuses us for a time that it names.
  protocol::SessionReply open_session();
  HttpReply post(const char* path, ByteView body, const char* content_type);
  HttpReply send(const HttpRequest& request);
  protocol::WorkReply work_exchange(const char* path,
                                    const protocol::WorkRequest& request);

  Transfer& transfer_;
  const Identity& identity_;
  Session& session_;
  std::stop_token stop_;
  std::string last_session_;
  Seconds asked_delay_{0};
};

}  // namespace quorate::client
