// Administration in a browser: the page /admin, logins, and orders of those who
// are logged in. Off (404) unless `quorate operators web` has made an account;
// refused in clear to other machines.
//
// The room server/web has accounts, sessions and the page's files. An order
// goes through AdminService like one of the admin socket: it is carried out,
// noted and refused there. It may include server/orders. It owns the open
// sessions, and the thread that checks passwords.
#pragma once

#include <atomic>
#include <memory>

#include "server/http/router.h"
#include "server/orders/service.h"
#include "server/web/logins.h"
#include "server/web/web_request.h"
#include "server/web/web_sessions.h"
#include "server/writer/job_thread.h"

namespace quorate {

struct WebListener {
  bool is_tls = false;
  bool is_loopback = false;  // reached from this machine alone
};

class WebRoutes {
 public:
  WebRoutes(Project& project, AdminService& orders,
            const WebListener& listener);

  //   GET  /admin, /admin/...         the page's files
  //   POST /admin/login               {"name", "password", "code"}
  //   GET  /admin/session             who is logged in; 401: nobody
  //   POST /admin/logout
  //   POST /admin/orders/{command}    {"arguments", "confirmed"}; 409: it
  //                                   cannot be undone and is not confirmed
  // The last two want the header X-Quorate-Token, which login and session tell.
  void add_routes(Router& router);
  // Drops logins that wait. Call before the HTTP server stops.
  void stop() { thread_.stop(); }

 private:
  // Somebody who is logged in.
  struct Visitor {
    std::string token;
    WebSession session;
    WebOperator who;
  };
  // Counts what waits, for as long as a copy of it lives.
  using Slot = std::shared_ptr<void>;

  using Answer = void (WebRoutes::*)(Request&, WebWay, Responder);

  // Answers 404 where administration is off, and denied in clear.
  void add(Router& router, Method method, const char* path, Answer answer,
           std::uint64_t most_bytes);
  void show_file(Request& request, WebWay way, Responder responder);
  void log_in(Request& request, WebWay way, Responder responder);
  void show_session(Request& request, WebWay way, Responder responder);
  void log_out(Request& request, WebWay way, Responder responder);
  void order(Request& request, WebWay way, Responder responder);

  bool is_on() const;
  WebWay expect_private_way(const Request& request) const;
  Response begin_session(const WebOperator& who, WebWay way);
  std::optional<Visitor> visitor(const Request& request, WebWay way);
  // Throws denied unless the request comes from our page: it names the
  // session's token.
  static void expect_token(const Request& request, const Visitor& visitor);
  static Slot take_slot(std::atomic<int>& count, int most, const char* what);

  Project& project_;
  AdminService& orders_;
  WebListener listener_;
  fs::path file_;
  SystemClock clock_;
  WebSessions sessions_{clock_};
  std::atomic<int> logins_waiting_ = 0;
  std::atomic<int> orders_waiting_ = 0;
  Logins logins_;
  JobThread thread_;  // last: its jobs use the others
};

}  // namespace quorate
