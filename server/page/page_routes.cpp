#include "server/page/page_routes.h"

#include "server/page/assets.h"

namespace quorate {
namespace {

constexpr Seconds kTick{1};
// Each costs a connection, and tens of kilobytes whenever it is told something.
constexpr std::size_t kMaxStreams = 1000;
// With more of them, each is told less often: a thousand every five seconds.
constexpr std::size_t kViewersPerTick = 250;

void add_asset(Router& router, const std::string& path, const Asset& asset) {
  router.add(Method::get, path, [&asset](Request&, Responder responder) {
    responder.send(asset_response(asset));
  });
}

}  // namespace

PageRoutes::~PageRoutes() {
  std::lock_guard lock(mutex_);
  viewers_.clear();
}

void PageRoutes::add_data(Router& router, std::string_view path,
                          std::string_view content_type, Make make) {
  router.add(
      Method::get, path,
      [this, content_type, make = std::move(make)](Request& request,
                                                   Responder responder) {
        std::string run(request.path_value("run"));
        if (run.empty()) run = request.query_value("run");
        project_.writer().post([this, content_type, make, run = std::move(run),
                                responder = std::move(responder)]() mutable {
          std::optional<std::string> text = make(run);
          Response response =
              text ? text_response(200, content_type, std::move(*text))
                   : error_response(404, ErrorKind::usage,
                                    "there is no run of this name: GET "
                                    "/v1/runs lists them");
          project_.writer().after_commit(
              [responder = std::move(responder),
               response = std::move(response)]() mutable {
                responder.send(std::move(response));
              });
        });
      });
}

void PageRoutes::add_events(Router& router) {
  router.add(Method::get, "/v1/events",
             [this](Request& request, Responder responder) {
               std::lock_guard lock(mutex_);
               if (viewers_.size() >= kMaxStreams) {
                 responder.send(error_response(ErrorKind::unavailable,
                                               "too many open event streams",
                                               Seconds(30)));
                 return;
               }
               viewers_.push_back({responder.start_events(),
                                   std::string(request.query_value("run"))});
             });
}

void PageRoutes::add_routes(Router& router) {
  constexpr const char* kJson = "application/json";
  for (const Asset& asset : assets()) {
    add_asset(router, asset.path, asset);
  }
  // Through the writer: an answer means that the store takes changes.
  add_data(router, "/healthz", "text/plain",
           [](const std::string&) { return "ok\n"; });
  add_data(router, "/metrics", "text/plain; version=0.0.4",
           [this](const std::string&) { return data_.metrics(); });
  add_data(router, "/v1/status", kJson, [this](const std::string& run) {
    return data_.status(data_.choose(run));
  });
  add_data(router, "/v1/activity", kJson,
           [this](const std::string&) { return data_.activity(); });
  add_data(router, "/v1/runs", kJson,
           [this](const std::string&) { return data_.runs(); });
  add_data(router, "/v1/runs/{run}/curve", kJson,
           [this](const std::string& run) -> std::optional<std::string> {
             const TrainingRun* known = project_.state().run_by_name(run);
             if (known == nullptr) return std::nullopt;
             return data_.curve(known->run.key);
           });
  add_events(router);
}

void PageRoutes::start(std::function<HttpCounters()> counters) {
  counters_ = std::move(counters);
  project_.writer().post([this] { tick(); });
}

void PageRoutes::tick() {
  count_traffic();
  push();
  project_.writer().post_at(project_.state().clock.now() + kTick,
                            [this] { tick(); });
}

void PageRoutes::count_traffic() {
  HttpCounters now = counters_();
  project_.state().activity.count_bytes(now.bytes_in - counted_.bytes_in,
                                        now.bytes_out - counted_.bytes_out);
  counted_ = now;
}

void PageRoutes::push() {
  std::lock_guard lock(mutex_);
  std::erase_if(viewers_, [](const Viewer& v) { return !v.stream.is_open(); });
  std::uint64_t every = 1 + viewers_.size() / kViewersPerTick;
  bool is_due = ++ticks_ % every == 0;
  struct News {
    std::string event;
    std::size_t hash = 0;
  };
  std::map<RunKey, News> news;
  std::string time = format_event("time", data_.time());
  for (Viewer& viewer : viewers_) {
    bool is_new = viewer.seen == 0;
    if (!is_due && !is_new) continue;
    RunKey run = data_.choose(viewer.run);
    News& now = news[run];
    if (now.hash == 0) {
      now.event = format_event("status", data_.status(run));
      now.hash = std::hash<std::string>()(data_.members(run)) | 1;
    }
    viewer.stream.push(now.hash == viewer.seen ? time : now.event);
    viewer.seen = now.hash;
  }
}

}  // namespace quorate
