// The BOINC door: stock BOINC clients take part through it, with the same
// queue, trust and credit as volunteers with the project's own client. Follow
// one task: account_routes (attach), scheduler_route (work, and later its
// report), download_route, upload_route.
//
// The room server/doors/boinc wires the three rooms below it, and owns them
// with the door's key and the published apps. It includes protocol/boinc;
// BOINC's words end here, the daemons never see them.
#pragma once

#include "server/doors/boinc/accounts/account_routes.h"
#include "server/doors/boinc/files/upload_route.h"
#include "server/doors/boinc/scheduling/scheduler_route.h"

namespace quorate::boinc {

class BoincDoor {
 public:
  // Makes the key of upload permissions if there is none.
  BoincDoor(Project& project, bool is_tls);

  void add_routes(Router& router);
  // Publishes the worker that was built with this server, by its hash: once it
  // is sure that the server starts.
  void start(const Hash& worker);

 private:
  Project& project_;
  UploadKey key_;
  PublishedApps apps_;
  BoincAccounts accounts_;
  AccountRoutes account_routes_;
  SchedulerRoute scheduler_;
  UploadRoute upload_;
};

}  // namespace quorate::boinc
