#include "server/web/web_routes.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json_fields.h"
#include "base/log.h"
#include "server/http/clients/places.h"
#include "server/http/text.h"
#include "server/orders/result_orders.h"
#include "server/page/assets.h"
#include "server/web/embedded.h"

namespace quorate {
namespace {

using nlohmann::json;

constexpr std::uint64_t kMostLoginBytes = 1 << 10;
// A password takes some 50 ms: the last in the queue waits half a second.
constexpr int kMostLogins = 8;
constexpr int kMostOrders = 8;
constexpr int kNobody = 401;
constexpr int kOff = 404;
constexpr int kNotConfirmed = 409;
constexpr int kTooMany = 429;

// No Unix user: nobody whom the settings could name.
constexpr std::uint32_t kNoUser = UINT32_MAX;

constexpr Asset kFiles[] = {
    {"/admin", "text/html; charset=utf-8", embedded::admin_html},
    {"/admin/", "text/html; charset=utf-8", embedded::admin_html},
    {"/admin/admin.js", "text/javascript; charset=utf-8", embedded::admin_js},
    {"/admin/lists.js", "text/javascript; charset=utf-8", embedded::lists_js},
    {"/admin/orders.js", "text/javascript; charset=utf-8", embedded::orders_js},
    {"/admin/unit.js", "text/javascript; charset=utf-8", embedded::unit_js},
    {"/admin/admin.css", "text/css; charset=utf-8", embedded::admin_css},
};

Response nobody() {
  return no_store(
      error_response(kNobody, ErrorKind::denied, "log in at /admin"));
}

Response told(const WebSession& session, const WebOperator& who,
              const ServerSettings& settings) {
  return no_store(
      json_response(200, dump_json({{"name", who.name},
                                    {"guest", who.is_guest},
                                    {"project", settings.name},
                                    {"token", session.csrf.hex()}})));
}

Response refused(const LoginAnswer& answer) {
  if (answer.wait > Seconds(0)) {
    return error_response(
        kTooMany, ErrorKind::denied,
        fmt::format("too many logins failed: wait {:.0f} seconds",
                    answer.wait.count() + 1),
        answer.wait);
  }
  return error_response(
      kNobody, ErrorKind::denied,
      "name, password or code is wrong, or the code was used or shown before "
      "the server started: wait for the next code, and try again");
}

}  // namespace

WebRoutes::WebRoutes(Project& project, AdminService& orders,
                     const WebListener& listener)
    : project_(project),
      orders_(orders),
      listener_(listener),
      file_(project.folder().web_operators()),
      logins_(file_, clock_) {}

void WebRoutes::add(Router& router, Method method, const char* path,
                    Answer answer, std::uint64_t most_bytes) {
  router.add(
      method, path,
      [this, answer](Request& request, Responder responder) {
        if (!is_on()) {
          responder.send(error_response(
              kOff, ErrorKind::usage,
              "administration in a browser is off: `quorate operators web "
              "NAME` makes an account"));
          return;
        }
        (this->*answer)(request, expect_private_way(request),
                        std::move(responder));
      },
      most_bytes);
}

// What is wrong with the accounts is for the log, not for whoever asks.
bool WebRoutes::is_on() const {
  try {
    return !load_web_operators(file_).empty();
  } catch (const Error& error) {
    log_error("web_operators", {{"why", error.what()}});
    return false;
  }
}

WebWay WebRoutes::expect_private_way(const Request& request) const {
  const WebWay way = way_of(request, listener_.is_tls, listener_.is_loopback);
  if (way != WebWay::open) return way;
  throw Error(ErrorKind::denied,
              "administration in a browser is done over TLS, or on the "
              "server's own machine: use https, or reach it by `ssh -L`");
}

std::optional<WebRoutes::Visitor> WebRoutes::visitor(const Request& request,
                                                     WebWay way) {
  const auto token = session_token(request.header("Cookie"), cookie_name(way));
  if (!token) return std::nullopt;
  const auto session = sessions_.find(*token);
  if (!session) return std::nullopt;
  const std::vector<WebOperator> operators = load_web_operators(file_);
  const WebOperator* who = find_web_operator(operators, session->name);
  if (who == nullptr || who->made != session->made) {
    sessions_.close(*token);
    return std::nullopt;
  }
  return Visitor{*token, *session, *who};
}

WebRoutes::Slot WebRoutes::take_slot(std::atomic<int>& count, int most,
                                     const char* what) {
  Slot slot(&count,
            [](void* held) { --*static_cast<std::atomic<int>*>(held); });
  if (++count <= most) return slot;
  throw Error(
      ErrorKind::unavailable,
      fmt::format("{} {} are under way: try again in a moment", most, what));
}

void WebRoutes::expect_token(const Request& request, const Visitor& visitor) {
  expect_own_page(request);
  const std::string_view said = request.header("X-Quorate-Token");
  const std::string mine = visitor.session.csrf.hex();
  // Their hashes: as secret as they are, and of one length.
  if (is_equal_secret(sha256(as_bytes(said)), sha256(as_bytes(mine)))) return;
  throw Error(ErrorKind::denied,
              "administration: X-Quorate-Token is not this session's: load the "
              "page again");
}

void WebRoutes::log_in(Request& request, WebWay way, Responder responder) {
  expect_own_page(request);
  Login login = parse_login(as_text(request.body));
  Slot slot = take_slot(logins_waiting_, kMostLogins, "logins");
  thread_.post([this, way, slot, login = std::move(login),
                from = request.remote_address,
                responder = std::move(responder)]() mutable {
    const LoginAnswer answer = logins_.check(login, places_of(from));
    if (answer.who) {
      log_info("web_login", {{"name", answer.who->name}, {"from", from}});
      responder.send(begin_session(*answer.who, way));
      return;
    }
    // Not the name: somebody may have typed the password there.
    if (answer.wait == Seconds(0)) {
      log_warning("web_login_failed", {{"from", from}});
    }
    responder.send(no_store(refused(answer)));
  });
}

Response WebRoutes::begin_session(const WebOperator& who, WebWay way) {
  const std::string token = sessions_.open(who.name, who.made);
  Response response =
      told(*sessions_.find(token), who, project_.state().settings);
  response.headers.emplace_back(
      "Set-Cookie",
      session_cookie(way, token,
                     static_cast<std::int64_t>(WebSessions::kLife.count())));
  return response;
}

void WebRoutes::show_session(Request& request, WebWay way,
                             Responder responder) {
  const auto found = visitor(request, way);
  responder.send(
      found ? told(found->session, found->who, project_.state().settings)
            : nobody());
}

void WebRoutes::log_out(Request& request, WebWay way, Responder responder) {
  if (const auto found = visitor(request, way)) {
    expect_token(request, *found);
    sessions_.close(found->token);
  }
  Response response = no_store(json_response(200, "{}"));
  response.headers.emplace_back("Set-Cookie", session_cookie(way, "", 0));
  responder.send(std::move(response));
}

void WebRoutes::order(Request& request, WebWay way, Responder responder) {
  const auto found = visitor(request, way);
  if (!found) {
    responder.send(nobody());
    return;
  }
  expect_token(request, *found);
  const WebOperator& who = found->who;
  WebOrder order = parse_web_order(as_text(request.body));
  const std::string command(request.path_value("command"));
  expect_may_order(who_of(who), who.is_guest,
                   only_asks(command, order.arguments));
  const std::string warning = warning_of(command, order.arguments);
  if (!warning.empty() && !order.is_confirmed) {
    responder.send(
        no_store(error_response(kNotConfirmed, ErrorKind::usage, warning)));
    return;
  }
  Slot slot = take_slot(orders_waiting_, kMostOrders, "orders");
  auto waits = std::make_shared<Responder>(std::move(responder));
  orders_.post(command, std::move(order.arguments), {kNoUser, who_of(who)},
               [slot, waits](Response response) {
                 waits->send(no_store(std::move(response)));
               });
}

void WebRoutes::show_file(Request& request, WebWay, Responder responder) {
  for (const Asset& file : kFiles) {
    if (request.path == file.path) {
      responder.send(asset_response(file));
      return;
    }
  }
}

void WebRoutes::add_routes(Router& router) {
  for (const Asset& file : kFiles) {
    add(router, Method::get, file.path, &WebRoutes::show_file, 0);
  }
  add(router, Method::post, "/admin/login", &WebRoutes::log_in,
      kMostLoginBytes);
  add(router, Method::get, "/admin/session", &WebRoutes::show_session, 0);
  add(router, Method::post, "/admin/logout", &WebRoutes::log_out,
      kMostLoginBytes);
  add(router, Method::post, "/admin/orders/{command}", &WebRoutes::order,
      kMostOrderBytes);
}

}  // namespace quorate
