// Routes for people and monitors: the page, its live data, health, metrics.
// Read-only.
#pragma once

#include "server/http/router.h"
#include "server/project.h"

namespace quorate {

class PageRoutes {
 public:
  explicit PageRoutes(Project& project) : project_(project) {}
  // Ends the event streams.
  ~PageRoutes();

  void add_routes(Router& router);
  // Begins sending the page's data to open streams, once a second while there
  // are any.
  void start();

 private:
  void send_from_writer(Responder responder, std::string_view content_type,
                        std::function<std::string()> job);
  void push_status();

  Project& project_;
  std::mutex mutex_;
  std::vector<EventStream> streams_;
};

}  // namespace quorate
