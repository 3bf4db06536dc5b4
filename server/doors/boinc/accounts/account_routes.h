// What a BOINC client or manager reads before it attaches, and how a volunteer
// gets an account: the master page, get_project_config.php, create_account.php
// and lookup_account.php.
//
// The room server/doors/boinc/accounts owns the accounts' index in memory
// (BoincAccounts, the writer's thread) and a thread that hashes passwords. It
// may include what doors may.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "protocol/boinc/account.h"
#include "server/doors/boinc/accounts/accounts.h"
#include "server/hosts/join_limit.h"
#include "server/http/router.h"
#include "server/project/project.h"
#include "server/writer/job_thread.h"

namespace quorate::boinc {

// Handlers run on I/O threads; both references outlive it.
class AccountRoutes {
 public:
  // platforms: names those for which a program is published now.
  AccountRoutes(Project& project, BoincAccounts& accounts, bool is_tls,
                std::function<std::vector<std::string>()> platforms);

  void add_routes(Router& router);

 private:
  void get_page(const Request& request, Responder responder) const;
  void get_config(const Request& request, Responder responder) const;
  // Limits how often one place may guess, then checks the password beside the
  // writer and answers with the authenticator.
  void lookup(const Request& request, Responder responder);
  // A second request with the same address and password finds the account.
  void create(const Request& request, Responder responder);
  // On the passwords' thread: hashing takes 50 ms.
  void check_password(BoincAccount account, const AccountQuery& query,
                      AccountError wrong, Responder responder);
  void make(const std::string& name, const BoincAccount& account,
            const Places& places, Responder responder);
  // On the writer's thread.
  Response add(const std::string& name, const BoincAccount& account,
               const Places& places);

  Project& project_;
  ProjectState& state_;
  BoincAccounts& accounts_;
  bool is_tls_;
  std::function<std::vector<std::string>()> platforms_;
  JoinLimit lookups_;
  JobThread passwords_;  // last: its jobs use the others
};

}  // namespace quorate::boinc
