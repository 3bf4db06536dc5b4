#include "server/page_routes.h"

#include <nlohmann/json.hpp>

#include "server/assets.h"
#include "server/status.h"

namespace quorate {
namespace {

constexpr Seconds kPushEvery{1};
// Each costs a connection and a copy of the status every second.
constexpr std::size_t kMaxStreams = 1000;

void add_asset(Router& router, const std::string& path, const Asset& asset) {
  router.add(Method::get, path, [&asset](Request&, Responder responder) {
    Response response;
    response.content_type = asset.content_type;
    response.etag = asset.etag();
    // What the page may do: nothing but its own files and data.
    response.headers.emplace_back(
        "Content-Security-Policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; "
        "img-src 'self' data:; connect-src 'self'; base-uri 'none'; "
        "form-action 'none'; frame-ancestors 'none'");
    response.headers.emplace_back("X-Content-Type-Options", "nosniff");
    response.headers.emplace_back("Cache-Control", "no-cache");
    response.body = std::string(asset.bytes);
    responder.send(std::move(response));
  });
}

}  // namespace

PageRoutes::~PageRoutes() {
  std::lock_guard lock(mutex_);
  streams_.clear();
}

void PageRoutes::send_from_writer(Responder responder,
                                  std::string_view content_type,
                                  std::function<std::string()> job) {
  project_.writer().post([this, responder = std::move(responder), content_type,
                          job = std::move(job)]() mutable {
    std::string text = job();
    project_.writer().after_commit([responder = std::move(responder),
                                    content_type,
                                    text = std::move(text)]() mutable {
      responder.send(text_response(200, content_type, std::move(text)));
    });
  });
}

void PageRoutes::add_routes(Router& router) {
  ProjectState& state = project_.state();
  for (const Asset& asset : assets()) {
    add_asset(router, asset.path, asset);
  }
  router.add(Method::get, "/healthz", [this](Request&, Responder responder) {
    // Through the writer: an answer means that the store takes changes.
    send_from_writer(std::move(responder), "text/plain",
                     [] { return std::string("ok\n"); });
  });
  router.add(
      Method::get, "/metrics", [this, &state](Request&, Responder responder) {
        send_from_writer(std::move(responder), "text/plain; version=0.0.4",
                         [&state] { return status::metrics(state); });
      });
  router.add(
      Method::get, "/v1/status", [this, &state](Request&, Responder responder) {
        send_from_writer(std::move(responder), "application/json",
                         [&state] { return status::everything(state).dump(); });
      });
  router.add(
      Method::get, "/v1/runs", [this, &state](Request&, Responder responder) {
        send_from_writer(std::move(responder), "application/json", [&state] {
          nlohmann::json rows = nlohmann::json::array();
          for (const auto& [key, training] : state.runs) {
            rows.push_back(status::run(state, training));
          }
          return rows.dump();
        });
      });
  router.add(Method::get, "/v1/events", [this](Request&, Responder responder) {
    std::lock_guard lock(mutex_);
    if (streams_.size() >= kMaxStreams) {
      responder.send(error_response(
          ErrorKind::unavailable, "too many open event streams", Seconds(30)));
      return;
    }
    streams_.push_back(responder.start_events());
  });
}

void PageRoutes::start() {
  project_.writer().post([this] { push_status(); });
}

void PageRoutes::push_status() {
  {
    std::lock_guard lock(mutex_);
    std::erase_if(streams_, [](const EventStream& s) { return !s.is_open(); });
    if (!streams_.empty()) {
      std::string event =
          format_event("status", status::everything(project_.state()).dump());
      for (EventStream& stream : streams_) stream.push(event);
    }
  }
  project_.writer().post_at(project_.state().clock.now() + kPushEvery,
                            [this] { push_status(); });
}

}  // namespace quorate
