// Routes for people and monitors: the page, its live data, health, metrics.
// Read-only.
//
// The room server/page shows a project: JSON for page and CLI, made on the
// writer's thread, and the page's files, which are part of the program. It owns
// the texts of the last second and the open event streams. It may include
// server/project.
#pragma once

#include "server/http/router.h"
#include "server/http/server.h"
#include "server/page/page_data.h"
#include "server/project/project.h"

namespace quorate {

class PageRoutes {
 public:
  explicit PageRoutes(Project& project)
      : project_(project), data_(project.state()) {}
  // Ends the event streams.
  ~PageRoutes();

  void add_routes(Router& router);
  // Begins counting the server's traffic, and sending the page's data to open
  // streams, about once a second while there are any. counters: of the HTTP
  // server, called until the writer stops.
  void start(std::function<HttpCounters()> counters);

 private:
  // One open event stream; at most a thousand, under mutex_.
  struct Viewer {
    EventStream stream;
    std::string run;       // that it wants to see, or ""
    std::size_t seen = 0;  // hash of what it was sent last; 0: nothing yet
  };
  // Makes an answer's text on the writer's thread, of the request's run; or
  // nullopt when there is no such run.
  using Make = std::function<std::optional<std::string>(const std::string&)>;

  void add_data(Router& router, std::string_view path,
                std::string_view content_type, Make make);
  void add_events(Router& router);
  void tick();
  void count_traffic();
  void push();

  Project& project_;
  PageData data_;
  std::function<HttpCounters()> counters_;
  HttpCounters counted_;
  std::uint64_t ticks_ = 0;
  std::mutex mutex_;
  std::vector<Viewer> viewers_;
};

}  // namespace quorate
