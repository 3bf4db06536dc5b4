// POST /boinc/cgi: the scheduler as BOINC clients call it. One request reports
// results, renews leases, asks for work and is answered with all of that:
//   I/O thread       reads the request, unless it is large: then a thread for
//                    those does
//   writer's thread  who is it; the headers of what it reports
//   screening thread reads the payloads, if it reports any
//   writer's thread  stores the reports, sends work (durable from here on)
//   reply thread     writes the reply
//
// The room server/doors/boinc/scheduling owns what is known of BOINC hosts in
// memory (BoincHosts, the writer's thread) and three threads. It asks the
// daemons the same questions as the native door.
//
// If screening fails, the request is dropped: the client hears status 500 and
// asks again with the same content, which is safe to take twice.
#pragma once

#include <memory>

#include "server/apps/app_versions.h"
#include "server/doors/boinc/accounts/accounts.h"
#include "server/doors/boinc/scheduling/hosts.h"
#include "server/doors/boinc/scheduling/reply_maker.h"
#include "server/doors/boinc/scheduling/report_intake.h"
#include "server/http/router.h"
#include "server/project/project.h"
#include "server/writer/job_thread.h"

namespace quorate::boinc {

struct Rpc;  // one request on its way
using RpcPtr = std::shared_ptr<Rpc>;

class SchedulerRoute {
 public:
  SchedulerRoute(Project& project, BoincAccounts& accounts, PublishedApps& apps,
                 const UploadKey& upload_key, bool is_tls);

  void add_routes(Router& router);

 private:
  void post(Request request, Responder responder);
  void read(const RpcPtr& rpc, ByteView body);
  // From here to reply_later(): the writer's thread.
  // Finds account and host; a stranger is refused in the reply's messages.
  void identify(const RpcPtr& rpc);
  // Stores the reports, then says which to forget, and offers work.
  void finish(const RpcPtr& rpc);
  void send_work(const RpcPtr& rpc);
  void add_shipments(Rpc& rpc, const Host& host) const;
  // One question for each kind of processor.
  void ask_scheduler(const RpcPtr& rpc, Shipment& shipment);
  Host* host_of(const RpcPtr& rpc, UserId user);
  bool may_work(Rpc& rpc, const Host& host) const;
  void describe(Rpc& rpc, const Host& host) const;
  void look_at_files(Rpc& rpc) const;
  void take_answer(const RpcPtr& rpc, Shipment& shipment,
                   const WorkAnswer& answer);
  // When the scheduler has answered all of them.
  void reply_if_complete(const RpcPtr& rpc);
  // After the commit, by the reply thread.
  void reply_later(const RpcPtr& rpc);
  void reply(Rpc& rpc);

  Project& project_;
  ProjectState& state_;
  BoincAccounts& accounts_;
  PublishedApps& apps_;
  bool is_tls_;
  BoincHosts hosts_;
  ReportIntake intake_;
  ReplyMaker maker_;
  JobThread large_;  // last: their jobs use the others
  JobThread screening_;
  JobThread replies_;
};

}  // namespace quorate::boinc
