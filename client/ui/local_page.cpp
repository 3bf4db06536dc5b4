#include "client/ui/local_page.h"

#include <fmt/format.h>

#include "base/crypto.h"
#include "base/json_fields.h"
#include "client/exchange/session.h"
#include "client/folder/choose_project.h"
#include "client/status/status.h"
#include "client/ui/embedded.h"

namespace quorate::client {
namespace {

constexpr std::uint64_t kMostBody = 4096;
constexpr JsonLimits kLimits{kMostBody, 2};

// As long for a wrong guess as for a nearly right one.
bool is_same_secret(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference |= static_cast<unsigned char>(a[i] ^ b[i]);
  }
  return difference == 0;
}

Response refused() {
  return error_response(403, ErrorKind::denied,
                        "open the page: this address is not valid: use the one "
                        "that quorate-client ui printed");
}

void protect(Response& response) {
  response.headers.emplace_back(
      "Content-Security-Policy",
      "default-src 'none'; script-src 'self'; style-src 'self'; "
      "connect-src 'self'; base-uri 'none'; form-action 'none'; "
      "frame-ancestors 'none'");
  response.headers.emplace_back("X-Content-Type-Options", "nosniff");
  response.headers.emplace_back("Referrer-Policy", "no-referrer");
  response.headers.emplace_back("Cache-Control", "no-store");
}

std::string pattern_of(const char* name) {
  return std::string("/{token}/") + name;
}

}  // namespace

LocalPage::LocalPage(const DataFolder& folder, const Clock& clock,
                     TransferMaker make)
    : folder_(folder),
      clock_(clock),
      make_(std::move(make)),
      last_seen_(clock.now()) {
  Hash random;
  fill_secret_random(random.bytes);
  token_ = random.hex().substr(0, 32);
}

std::string LocalPage::url() const {
  return fmt::format("http://127.0.0.1:{}/{}/page", port_.load(), token_);
}

Router LocalPage::router() {
  Router router;
  add_asset(router, "page", "text/html; charset=utf-8", embedded::index_html);
  add_asset(router, "app.js", "text/javascript; charset=utf-8",
            embedded::app_js);
  add_asset(router, "style.css", "text/css; charset=utf-8",
            embedded::style_css);
  router.add(Method::get, pattern_of("status"),
             [this](Request& request, Responder responder) {
               if (!is_for_us(request)) return responder.send(refused());
               Response response = json_response(200, status_now());
               protect(response);
               responder.send(std::move(response));
             });
  add_change(router, "pause", &LocalPage::pause);
  add_change(router, "finish", &LocalPage::finish);
  add_change(router, "resume", &LocalPage::resume);
  add_change(router, "prefs", &LocalPage::set_pref);
  add_change(router, "attach", &LocalPage::attach);
  add_change(router, "detach", &LocalPage::detach);
  return router;
}

void LocalPage::add_asset(Router& router, const char* name,
                          const char* content_type, std::string_view bytes) {
  router.add(
      Method::get, pattern_of(name),
      [this, content_type, bytes](Request& request, Responder responder) {
        if (!is_for_us(request)) return responder.send(refused());
        Response response =
            text_response(200, content_type, std::string(bytes));
        protect(response);
        responder.send(std::move(response));
      });
}

void LocalPage::add_change(Router& router, const char* name,
                           std::string (LocalPage::*change)(ByteView body)) {
  router.add(
      Method::post, pattern_of(name),
      [this, change](Request& request, Responder responder) {
        if (!may_change(request)) return responder.send(refused());
        Response response = json_response(200, (this->*change)(request.body));
        protect(response);
        responder.send(std::move(response));
      },
      kMostBody);
}

bool LocalPage::is_for_us(const Request& request) {
  std::string_view host = request.header("host");
  bool is_here = host == fmt::format("127.0.0.1:{}", port_.load()) ||
                 host == fmt::format("localhost:{}", port_.load());
  if (!is_here || !is_same_secret(request.path_value("token"), token_)) {
    return false;
  }
  last_seen_ = clock_.now();
  return true;
}

bool LocalPage::may_change(const Request& request) {
  std::string_view origin = request.header("origin");
  bool is_own_page = origin.empty() ||
                     origin == fmt::format("http://{}", request.header("host"));
  return is_for_us(request) && is_own_page &&
         is_same_secret(request.header("x-quorate-token"), token_);
}

std::string LocalPage::status_now() const {
  return status_json(read_status(folder_, clock_.unix_ms()));
}

// {"seconds": 0} pauses until `resume`.
std::string LocalPage::pause(ByteView body) {
  nlohmann::json json = parse_json(as_text(body), kLimits, "pause");
  auto most = static_cast<std::uint64_t>(kLongestPause.count());
  std::uint64_t seconds = JsonFields(json, "pause").integer("seconds", 0, most);
  std::int64_t now = clock_.unix_ms();
  Pause pause;
  if (seconds > 0) {
    pause = {now, now + static_cast<std::int64_t>(seconds) * 1000};
  }
  folder_.set_pause(pause);
  return status_now();
}

std::string LocalPage::finish(ByteView) {
  folder_.set_pause(Pause{.finishes = true});
  return status_now();
}

std::string LocalPage::resume(ByteView) {
  folder_.set_pause(std::nullopt);
  return status_now();
}

// {"key": "cores", "value": "2"}: as `prefs set` takes it.
std::string LocalPage::set_pref(ByteView body) {
  nlohmann::json json = parse_json(as_text(body), kLimits, "preference");
  JsonFields fields(json, "preference");
  const PrefInfo& info = pref_info(fields.text("key", 64));
  Prefs prefs = load_prefs(folder_.prefs_file());
  set(prefs, info, fields.text("value", 1000));
  save_prefs(folder_.prefs_file(), prefs);
  return status_now();
}

// {"address": "URL#FINGERPRINT", "name": ""}: as `attach` takes them. What the
// project is told is what `attach` says it is.
std::string LocalPage::attach(ByteView body) {
  nlohmann::json json = parse_json(as_text(body), kLimits, "attach");
  JsonFields fields(json, "attach");
  AttachOptions options;
  options.address = fields.text("address", 1000);
  options.name = fields.text("name", 64);
  const Attached attached =
      attach_project(folder_, options, make_, clock_.unix_ms());
  identity_of(folder_, attached.project);  // makes the keys
  return status_now();
}

// {"fingerprint": "..."}. An agent that computes for it lets go of it first.
std::string LocalPage::detach(ByteView body) {
  nlohmann::json json = parse_json(as_text(body), kLimits, "detach");
  const std::string wanted = JsonFields(json, "detach").text("fingerprint", 64);
  folder_.detach(choose_project(folder_.projects(), wanted, "a fingerprint"));
  return status_now();
}

}  // namespace quorate::client
